"""Datagrams in fragments, for tests; run on a host of the lab.

  fragments.py ask IP PORT SOURCE_PORT SIZE [SIZE ...]
      sends datagrams of these sizes over one socket; the kernel cuts them
  fragments.py cut IP PORT SOURCE_PORT SIZE MAC ORDER [PIECE]
      sends one datagram as frames to MAC, its pieces of PIECE bytes (1480 unless told) in the ORDER told, e.g. 2,1,0
  fragments.py flood IP PORT MAC COUNT
      sends the first fragment of COUNT datagrams and nothing more of them
  fragments.py tcp SOURCE_IP IP PORT SOURCE_PORT MAC
      opens a connection and sends a request of 2,000 bytes in two fragments, as a host with SOURCE_IP of its own

Prints what comes back, one line each: length, address, port and the words of the answer; "silence" when nothing does in 2 s.
"""
import socket
import struct
import sys
import time

WAIT = 2


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def own_address(ip):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.connect((ip, 9))
        return s.getsockname()[0]


def wire():
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
    s.bind(("eth0", 0x0800))
    return s


def ip_frame(s, mac, src, dst, proto, ident, payload, offset=0, more=False):
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), ident, offset // 8 | (0x2000 if more else 0), 64, proto, 0,
                       socket.inet_aton(src), socket.inet_aton(dst))
    head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
    own = s.getsockname()[4]
    return bytes.fromhex(mac.replace(":", "")) + own + b"\x08\x00" + head + payload


def pieces(s, mac, src, dst, proto, ident, payload, size):
    starts = range(0, len(payload), size)
    return [ip_frame(s, mac, src, dst, proto, ident, payload[at:at + size], at, at + size < len(payload)) for at in starts]


def with_checksum(src, dst, proto, segment, at):
    pseudo = socket.inet_aton(src) + socket.inet_aton(dst) + struct.pack("!BBH", 0, proto, len(segment))
    return segment[:at] + struct.pack("!H", checksum(pseudo + segment)) + segment[at + 2:]


def udp_segment(src, dst, sport, dport, payload):
    head = struct.pack("!HHHH", sport, dport, 8 + len(payload), 0)
    return with_checksum(src, dst, 17, head + payload, 6)


def show(data, peer):
    print(len(data), peer[0], peer[1], data.decode().strip(), flush=True)


def listener(sport):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("0.0.0.0", sport))
    s.settimeout(WAIT)
    return s


def hear(s):
    try:
        show(*s.recvfrom(65536))
    except socket.timeout:
        print("silence", flush=True)


def ask(ip, port, sport, *sizes):
    s = listener(int(sport))
    for size in sizes:
        s.sendto(b"x" * int(size), (ip, int(port)))
        hear(s)


def cut(ip, port, sport, size, mac, order, piece="1480"):
    s = listener(int(sport))
    w = wire()
    src = own_address(ip)
    payload = udp_segment(src, ip, int(sport), int(port), b"x" * int(size))
    frames = pieces(w, mac, src, ip, 17, int(sport), payload, int(piece))
    for n in order.split(","):
        w.send(frames[int(n)])
        time.sleep(0.01)
    hear(s)
    # Nothing may come twice.
    s.settimeout(0.3)
    hear(s)


def flood(ip, port, mac, count):
    w = wire()
    src = own_address(ip)
    for n in range(int(count)):
        w.send(ip_frame(w, mac, src, ip, 17, n, udp_segment(src, ip, 1024 + n % 60000, int(port), b"x" * 1472), 0, True))


def tcp_segment(src, dst, sport, dport, seq, ack, flags, payload=b""):
    head = struct.pack("!HHIIBBHHH", sport, dport, seq, ack, 0x50, flags, 64000, 0, 0)
    return with_checksum(src, dst, 6, head + payload, 16)


def tcp(src, ip, port, sport, mac):
    w = wire()
    sport, port = int(sport), int(port)
    send = lambda seq, ack, flags: w.send(ip_frame(w, mac, src, ip, 6, 0, tcp_segment(src, ip, sport, port, seq, ack, flags)))

    def answer():
        """The next segment to us that has data or a SYN: (seq, data, address, port)."""
        w.settimeout(WAIT)
        while True:
            frame = w.recv(65536)
            packet = frame[14:]
            if packet[9] != 6 or packet[16:20] != socket.inet_aton(src) or frame[:6] != w.getsockname()[4]:
                continue
            segment = packet[20:struct.unpack("!H", packet[2:4])[0]]
            from_port, to_port, seq = struct.unpack("!HHI", segment[:8])
            data = segment[(segment[12] >> 4) * 4:]
            if to_port == sport and (data or segment[13] & 2):
                return seq, data, socket.inet_ntoa(packet[12:16]), from_port

    send(1000, 0, 2)
    try:
        seq, *_ = answer()
        send(1001, seq + 1, 16)
        request = b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"y" * 1900 + b"\r\n\r\n"
        segment = tcp_segment(src, ip, sport, port, 1001, seq + 1, 24, request)
        for frame in pieces(w, mac, src, ip, 6, 77, segment, 1480):
            w.send(frame)
        seq, data, address, from_port = answer()
        show(data.split(b"\r\n\r\n")[-1], (address, from_port))
        send(1001 + len(request), seq + len(data), 4)
    except socket.timeout:
        print("silence", flush=True)


{"ask": ask, "cut": cut, "flood": flood, "tcp": tcp}[sys.argv[1]](*sys.argv[2:])
