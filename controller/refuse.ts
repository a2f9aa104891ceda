import { buildTcpFrame } from "../openflow/packet/build.ts";
import { IP_PROTO } from "../openflow/packet/checksum.ts";
import { ETH_TYPE, parseEthernet } from "../openflow/packet/ethernet.ts";
import { ICMP_TYPE } from "../openflow/packet/icmp.ts";
import { icmpErrorFrame } from "../openflow/packet/icmp-error.ts";
import { parseIpv4 } from "../openflow/packet/ipv4.ts";
import { parseTcp, TCP_FLAG } from "../openflow/packet/tcp.ts";

const PORT_UNREACHABLE = 3;
const NOTHING = new Uint8Array(0);

/**
 * What a host with a closed port answers to a frame: a reset for TCP (RFC 9293 §3.10.7.1), ICMP port unreachable for UDP (RFC 1122
 * §4.1.3.1), both from the address that was called. Undefined where silence is right: resets are never answered, nor
 * are fragments without a transport header.
 */
export function refusalOf(frame: Buffer): Buffer | undefined {
  const link = parseEthernet(frame);
  const ip = link && link.type === ETH_TYPE.ipv4 ? parseIpv4(link.payload) : undefined;
  if (!link || !ip || ip.fragmentOffset > 0) return undefined;
  if (ip.protocol === IP_PROTO.udp) {
    const error = icmpErrorFrame(
      frame,
      { type: ICMP_TYPE.destUnreachable, code: PORT_UNREACHABLE },
      { ip: ip.dst, mac: link.dst },
    );
    return error.ok ? error.bytes : undefined;
  }
  const tcp = ip.protocol === IP_PROTO.tcp ? parseTcp(ip.payload) : undefined;
  if (!tcp || (tcp.flags & TCP_FLAG.rst) !== 0) return undefined;
  const answersAck = (tcp.flags & TCP_FLAG.ack) !== 0;
  const length =
    tcp.payload.length + ((tcp.flags & TCP_FLAG.syn) !== 0 ? 1 : 0) + ((tcp.flags & TCP_FLAG.fin) !== 0 ? 1 : 0);
  return buildTcpFrame(
    { srcMac: link.dst, dstMac: link.src, src: ip.dst, dst: ip.src },
    {
      srcPort: tcp.dstPort,
      dstPort: tcp.srcPort,
      seq: answersAck ? tcp.ack : 0,
      ack: answersAck ? 0 : (tcp.seq + length) >>> 0,
      flags: answersAck ? TCP_FLAG.rst : TCP_FLAG.rst | TCP_FLAG.ack,
      window: 0,
      urgent: 0,
      options: NOTHING,
      payload: NOTHING,
    },
  );
}
