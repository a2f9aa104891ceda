import { formatIpv4, formatMac } from "./address.ts";
import { parseArp } from "./arp.ts";
import { IP_PROTO, ipv4ChecksumOk, l4ChecksumOk } from "./checksum.ts";
import { ETH_TYPE, parseEthernet } from "./ethernet.ts";
import { type Ipv4Repr, parseIpv4, transportPorts } from "./ipv4.ts";
import { parseTcp } from "./tcp.ts";
import { parseUdp } from "./udp.ts";

/** What a frame says, flat; a field is absent when the frame has no such header. Addresses are canonical text. */
export interface PacketDescription {
  readonly ethSrc: string;
  readonly ethDst: string;
  readonly ethType: number;
  /** VLAN ids, outermost first. */
  readonly vlanIds: readonly number[];
  readonly arpOp?: number;
  readonly arpSha?: string;
  readonly arpSpa?: string;
  readonly arpTha?: string;
  readonly arpTpa?: string;
  readonly ipSrc?: string;
  readonly ipDst?: string;
  readonly ipTtl?: number;
  readonly ipProto?: number;
  readonly ipId?: number;
  readonly ipTos?: number;
  readonly ipDontFragment?: boolean;
  readonly ipMoreFragments?: boolean;
  /** In bytes. */
  readonly ipFragmentOffset?: number;
  readonly ipPayloadLength?: number;
  readonly ipChecksumOk?: boolean;
  /** Absent when there is nothing to check: see `l4ChecksumOk`. */
  readonly l4ChecksumOk?: boolean;
  readonly tcpSrc?: number;
  readonly tcpDst?: number;
  /** 12 bits */
  readonly tcpFlags?: number;
  readonly tcpSeq?: number;
  readonly tcpAck?: number;
  readonly tcpPayloadLength?: number;
  readonly udpSrc?: number;
  readonly udpDst?: number;
  readonly udpPayloadLength?: number;
  readonly icmpType?: number;
  readonly icmpCode?: number;
}

const describeArp = (payload: Uint8Array): Partial<PacketDescription> => {
  const arp = parseArp(payload);
  if (arp === undefined) return {};
  return {
    arpOp: arp.op,
    arpSha: formatMac(arp.sha),
    arpSpa: formatIpv4(arp.spa),
    arpTha: formatMac(arp.tha),
    arpTpa: formatIpv4(arp.tpa),
  };
};

const describeTransport = (ip: Ipv4Repr): Partial<PacketDescription> => {
  // Only the first fragment has a transport header.
  if (ip.fragmentOffset > 0) return {};
  const ports = transportPorts(ip);
  if (ip.protocol === IP_PROTO.tcp && ports !== undefined) {
    const tcp = parseTcp(ip.payload);
    if (tcp === undefined) return { tcpSrc: ports.src, tcpDst: ports.dst };
    return {
      tcpSrc: ports.src,
      tcpDst: ports.dst,
      tcpFlags: tcp.flags,
      tcpSeq: tcp.seq,
      tcpAck: tcp.ack,
      tcpPayloadLength: tcp.payload.length,
    };
  }
  if (ip.protocol === IP_PROTO.udp && ports !== undefined) {
    const udp = parseUdp(ip.payload);
    const length = udp === undefined ? {} : { udpPayloadLength: udp.payload.length };
    return { udpSrc: ports.src, udpDst: ports.dst, ...length };
  }
  if (ip.protocol === IP_PROTO.icmp && ip.payload.length >= 8) {
    return { icmpType: ip.payload[0]!, icmpCode: ip.payload[1]! };
  }
  return {};
};

const describeIpv4 = (payload: Uint8Array): Partial<PacketDescription> => {
  const ip = parseIpv4(payload);
  if (ip === undefined) return {};
  const l4 = l4ChecksumOk(payload);
  return {
    ipSrc: formatIpv4(ip.src),
    ipDst: formatIpv4(ip.dst),
    ipTtl: ip.ttl,
    ipProto: ip.protocol,
    ipId: ip.id,
    ipTos: ip.tos,
    ipDontFragment: ip.dontFragment,
    ipMoreFragments: ip.moreFragments,
    ipFragmentOffset: ip.fragmentOffset,
    ipPayloadLength: ip.payload.length,
    ipChecksumOk: ipv4ChecksumOk(payload),
    ...(l4 === undefined ? {} : { l4ChecksumOk: l4 }),
    ...describeTransport(ip),
  };
};

/**
 * Decodes a frame for people and for tests of captures.
 * @returns undefined when it is shorter than an Ethernet header.
 */
export const describePacket = (frame: Uint8Array): PacketDescription | undefined => {
  const link = parseEthernet(frame);
  if (link === undefined) return undefined;
  const inner =
    link.type === ETH_TYPE.arp
      ? describeArp(link.payload)
      : link.type === ETH_TYPE.ipv4
        ? describeIpv4(link.payload)
        : {};
  return {
    ethSrc: formatMac(link.src),
    ethDst: formatMac(link.dst),
    ethType: link.type,
    vlanIds: link.vlans.map(({ tci }) => tci & 0x0fff),
    ...inner,
  };
};
