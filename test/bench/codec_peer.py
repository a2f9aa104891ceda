"""Encodes and decodes with os-ken what codec.ts asks for, one JSON line in, one out: {op, seconds, hex?}."""

import json
import sys
import time

from os_ken.ofproto import ofproto_parser, ofproto_protocol
from os_ken.ofproto import ofproto_v1_3_parser as of

COUNT = 1000
ANY = 0xFFFFFFFF
dp = ofproto_protocol.ProtocolDesc(version=4)


def flow_mod(xid, **fields):
    m = of.OFPFlowMod(dp, buffer_id=ANY, out_port=ANY, out_group=ANY, **fields)
    m.set_xid(xid)
    return m


def slot(i):
    load = of.NXActionRegLoad(ofs_nbits=31, dst="reg2", value=i + 1)
    return flow_mod(
        i, cookie=0x4C42070500000001, table_id=11, priority=100, match=of.OFPMatch(reg1=i, reg3=1),
        instructions=[of.OFPInstructionActions(4, [load]), of.OFPInstructionGotoTable(12)])


def dnat(i):
    nat = of.NXActionNAT(flags=2, range_ipv4_min="10.20.%d.%d" % (i >> 8, i & 255), range_proto_min=8080)
    ct = of.NXActionCT(flags=1, zone_src="", zone_ofs_nbits=1, recirc_table=20, alg=0, actions=[nat])
    return flow_mod(
        i, cookie=0x4C42080600000001, table_id=12, priority=100, match=of.OFPMatch(eth_type=0x800, reg2=i),
        instructions=[of.OFPInstructionActions(4, [ct])])


def decode(frame):
    version, kind, length, xid = ofproto_parser.header(frame)
    return ofproto_parser.msg(dp, version, kind, length, xid, frame)


def work(request):
    """A function that does COUNT messages (or one, decoding), and how many things that is."""
    op = request["op"]
    if op in ("slot", "dnat"):
        messages = [(slot if op == "slot" else dnat)(i) for i in range(COUNT)]

        def encode():
            for m in messages:
                m.serialize()

        encode()
        return encode, COUNT, b"".join(bytes(m.buf) for m in messages).hex()
    frame = bytes.fromhex(request["hex"])
    m = decode(frame)
    things = len(m.body) if op == "flow_stats" else 1
    if op == "flow_stats":
        seen = [[f.priority, f.cookie % 65536, f.match["reg1"]] for f in m.body]
    elif op == "packet_in":
        seen = [m.total_len, m.table_id, m.match["in_port"], bytes(m.data).hex()]
    else:
        seen = type(m).__name__
    return lambda: decode(frame), things, seen


for line in sys.stdin:
    request = json.loads(line)
    run, things, seen = work(request)
    done, begin, end = 0, time.process_time(), time.process_time() + request["seconds"]
    while time.process_time() < end:
        run()
        done += things
    print(json.dumps({"perSecond": done / (time.process_time() - begin), "seen": seen}), flush=True)
