/** Probes as frames, and frames as answers to probes. Pure. */
import { formatIpv4 } from "../../openflow/packet/address.ts";
import { buildEchoFrame, buildTcpFrame, buildUdpFrame, type Path } from "../../openflow/packet/build.ts";
import { IP_PROTO } from "../../openflow/packet/checksum.ts";
import { ETH_TYPE, parseEthernet } from "../../openflow/packet/ethernet.ts";
import { parseIcmp } from "../../openflow/packet/icmp.ts";
import { type Ipv4Repr, isFragment, parseIpv4, parseQuotedIpv4, transportPorts } from "../../openflow/packet/ipv4.ts";
import { mssOption, parseTcp, TCP_FLAG } from "../../openflow/packet/tcp.ts";
import { parseUdp } from "../../openflow/packet/udp.ts";
import type { ProbeTarget } from "../../pipeline/probe-target.ts";
import type { Answer, Send } from "./probe.ts";
import { RECEIVE_WINDOW, resetFor, type SegmentOut } from "./tcp-client.ts";

/** Largest segment the prober takes: fits every link of 1500 bytes. */
const OUR_MSS = mssOption(1460);
const NOTHING = new Uint8Array(0);

const tcpFrame = (path: Path, srcPort: number, dstPort: number, { flags, seq, ack, payload }: SegmentOut): Buffer =>
  buildTcpFrame(path, {
    srcPort,
    dstPort,
    seq,
    ack,
    flags,
    window: (flags & TCP_FLAG.rst) !== 0 ? 0 : RECEIVE_WINDOW,
    urgent: 0,
    options: (flags & TCP_FLAG.syn) !== 0 ? OUR_MSS : NOTHING,
    payload,
  });

/**
 * The frame for something a probe sends.
 * @param number source port, or id of a ping
 * @param dstMac of the next hop
 */
export const probeFrame = (target: ProbeTarget, dstMac: number, number: number, send: Send): Buffer => {
  const path = { srcMac: target.segment.gateway.mac, dstMac, src: target.source, dst: target.ip };
  switch (send.kind) {
    case "tcp":
      return tcpFrame(path, number, target.port, send.segment);
    case "udp":
      return buildUdpFrame(path, { srcPort: number, dstPort: target.port, payload: NOTHING });
    case "echo":
      return buildEchoFrame(path, { kind: "echo", id: number, sequence: send.sequence, data: NOTHING });
  }
};

/** An answer, with what tells which probe it belongs to. */
export interface ReadAnswer {
  /** Address that was probed. */
  readonly from: number;
  /** Port that was probed; absent for pings. */
  readonly port?: number;
  /** Source port or ping id of the probe. */
  readonly number: number;
  readonly answer: Answer;
}

/** An ICMP error quotes the packet it is about: ours. */
const aboutProbe = (code: number, quote: Uint8Array): ReadAnswer | undefined => {
  const ip = parseQuotedIpv4(quote);
  if (ip === undefined) return undefined;
  const answer = { kind: "unreachable", code } as const;
  const ports = transportPorts(ip);
  if (ports !== undefined) return { from: ip.dst, port: ports.dst, number: ports.src, answer };
  const echo = ip.protocol === IP_PROTO.icmp ? parseIcmp(ip.payload) : undefined;
  return echo?.kind === "echo" ? { from: ip.dst, number: echo.id, answer } : undefined;
};

const readIcmp = (ip: Ipv4Repr): ReadAnswer | undefined => {
  const icmp = parseIcmp(ip.payload);
  switch (icmp?.kind) {
    case "echo_reply":
      return { from: ip.src, number: icmp.id, answer: { kind: "echo_reply" } };
    case "dest_unreachable":
      return aboutProbe(icmp.code, icmp.quote);
    default:
      return undefined;
  }
};

/** Reads a frame; undefined when it cannot be an answer to any probe. */
export const readAnswer = (frame: Uint8Array): ReadAnswer | undefined => {
  const link = parseEthernet(frame);
  const ip = link?.type === ETH_TYPE.ipv4 ? parseIpv4(link.payload) : undefined;
  if (ip === undefined || isFragment(ip)) return undefined;
  switch (ip.protocol) {
    case IP_PROTO.tcp: {
      const segment = parseTcp(ip.payload);
      if (segment === undefined) return undefined;
      return { from: ip.src, port: segment.srcPort, number: segment.dstPort, answer: { kind: "tcp", segment } };
    }
    case IP_PROTO.udp: {
      const datagram = parseUdp(ip.payload);
      if (datagram === undefined) return undefined;
      return { from: ip.src, port: datagram.srcPort, number: datagram.dstPort, answer: { kind: "udp" } };
    }
    case IP_PROTO.icmp:
      return readIcmp(ip);
    default:
      return undefined;
  }
};

/**
 * The reset for a TCP segment of a probe that is over, back to where it came from; undefined when there is nothing to
 * answer. A member whose reset was lost would otherwise keep the connection and repeat itself.
 */
export const resetFrame = (frame: Uint8Array): Buffer | undefined => {
  const link = parseEthernet(frame);
  const ip = link?.type === ETH_TYPE.ipv4 ? parseIpv4(link.payload) : undefined;
  if (link === undefined || ip?.protocol !== IP_PROTO.tcp || isFragment(ip)) return undefined;
  const segment = parseTcp(ip.payload);
  if (segment === undefined || (segment.flags & TCP_FLAG.rst) !== 0) return undefined;
  const path = { srcMac: link.dst, dstMac: link.src, src: ip.dst, dst: ip.src };
  return tcpFrame(path, segment.dstPort, segment.srcPort, resetFor(segment));
};

/** For the Host header: the port is left out where it is the protocol's own (RFC 9110 §7.2). */
export const authorityOf = ({ ip, port }: ProbeTarget): string =>
  port === 80 ? formatIpv4(ip) : `${formatIpv4(ip)}:${port}`;
