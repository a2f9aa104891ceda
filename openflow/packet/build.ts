import { Buffer } from "node:buffer";
import { IP_PROTO } from "./checksum.ts";
import { ETH_TYPE, ethernetFrame } from "./ethernet.ts";
import { emitIcmp, type IcmpEcho, icmpLength } from "./icmp.ts";
import { ipv4Datagram } from "./ipv4.ts";
import { emitTcp, type TcpRepr, tcpLength } from "./tcp.ts";
import { emitUdp, type UdpRepr, udpLength } from "./udp.ts";

/** Both ends of a packet on the link and network layer. */
export interface Path {
  /** MAC, 48 bits */
  readonly srcMac: number;
  /** MAC, 48 bits */
  readonly dstMac: number;
  /** u32 */
  readonly src: number;
  /** u32 */
  readonly dst: number;
  /** 64 unless given. */
  readonly ttl?: number;
  /** IPv4 identification; 0 unless given, which is right for datagrams that may not be fragmented (RFC 6864). */
  readonly id?: number;
}

const NOTHING = new Uint8Array(0);

const ipv4Frame = (path: Path, protocol: number, payload: Uint8Array): Buffer =>
  ethernetFrame({
    dst: path.dstMac,
    src: path.srcMac,
    vlans: [],
    type: ETH_TYPE.ipv4,
    payload: ipv4Datagram({
      tos: 0,
      id: path.id ?? 0,
      dontFragment: true,
      moreFragments: false,
      fragmentOffset: 0,
      ttl: path.ttl ?? 64,
      protocol,
      src: path.src,
      dst: path.dst,
      options: NOTHING,
      payload,
    }),
  });

/** A whole frame with a TCP segment. */
export const buildTcpFrame = (path: Path, segment: TcpRepr): Buffer => {
  const payload = Buffer.alloc(tcpLength(segment));
  emitTcp(segment, path, payload);
  return ipv4Frame(path, IP_PROTO.tcp, payload);
};

/** A whole frame with a UDP datagram. */
export const buildUdpFrame = (path: Path, datagram: UdpRepr): Buffer => {
  const payload = Buffer.alloc(udpLength(datagram));
  emitUdp(datagram, path, payload);
  return ipv4Frame(path, IP_PROTO.udp, payload);
};

/** A whole frame with an echo request or reply. */
export const buildEchoFrame = (path: Path, echo: IcmpEcho): Buffer => {
  const payload = Buffer.alloc(icmpLength(echo));
  emitIcmp(echo, payload);
  return ipv4Frame(path, IP_PROTO.icmp, payload);
};
