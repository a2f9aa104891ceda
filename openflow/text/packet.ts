import { formatIpv4, formatIpv6, formatMac } from "./address.ts";

/*
 * A packet as ovs-ofctl prints it: the fields Open vSwitch finds in it, in the order of a flow. What is cut off or
 * inconsistent counts as zero, so that hostile bytes give text too.
 */

const ETHERNET = 14;
const MAX_VLANS = 2;
const MAX_LABELS = 3;
/** Ethertype of frames that have none: plain 802.2. */
const NO_TYPE = 0x05ff;
const FIRST_TYPE = 0x0600;
/** Bytes after the end of an IP packet that are taken for Ethernet padding. */
const MAX_PADDING = 255;

const Type = { ipv4: 0x0800, arp: 0x0806, rarp: 0x8035, ipv6: 0x86dd, mpls: 0x8847, mplsMulticast: 0x8848 } as const;
const Proto = { icmp: 1, igmp: 2, tcp: 6, udp: 17, icmp6: 58, sctp: 132 } as const;

const tag = (n: number, digits: number): string => `0x${n.toString(16).padStart(digits, "0")}`;

/** Bytes from `at` on. */
interface Cursor {
  readonly b: Buffer;
  readonly at: number;
}

/** The text of an Ethernet frame, without a newline. */
export function formatPacket(b: Buffer): string {
  if (b.length < ETHERNET) return link("", "vlan_tci=0x0000", 0, 0, ["dl_type=0x0000"]);
  const vlans: number[] = [];
  let at = 12;
  while (vlans.length < MAX_VLANS && isVlan(b, at)) {
    vlans.push(b.readUInt16BE(at + 2) | 0x1000);
    at += 4;
  }
  const { type, next } = etherType(b, at);
  const vlan = vlans.length === 0 ? "vlan_tci=0x0000" : vlans.map(vlanText).join(",");
  const inner = vlans.length === 1 ? `${vlan},vlan_tci1=0x0000` : vlan;
  const body = network(type, { b, at: next });
  return link(body.keyword, inner, b.readUIntBE(6, 6), b.readUIntBE(0, 6), body.words) + body.checksum;
}

function link(keyword: string, vlan: string, src: number, dst: number, words: readonly string[]): string {
  const first = keyword === "" ? [] : [keyword];
  return [...first, vlan, `dl_src=${formatMac(src)}`, `dl_dst=${formatMac(dst)}`, ...words].join(",");
}

function isVlan(b: Buffer, at: number): boolean {
  if (b.length - at < 6) return false;
  const tpid = b.readUInt16BE(at);
  return tpid === 0x8100 || tpid === 0x88a8;
}

const vlanText = (tci: number, i: number): string => {
  const n = i === 0 ? "" : String(i);
  return `dl_vlan${n}=${tci & 0xfff},dl_vlan_pcp${n}=${tci >> 13}`;
};

/** Ethertype at `at`, or the one in the SNAP header behind a length. */
function etherType(b: Buffer, at: number): { type: number; next: number } {
  if (b.length - at < 2) return { type: 0, next: b.length };
  const type = b.readUInt16BE(at);
  if (type >= FIRST_TYPE) return { type, next: at + 2 };
  const snap = at + 2;
  if (b.length - snap >= 8 && b.readUIntBE(snap, 6) === 0xaaaa03000000) {
    const inner = b.readUInt16BE(snap + 6);
    if (inner >= FIRST_TYPE) return { type: inner, next: snap + 8 };
  }
  return { type: NO_TYPE, next: at + 2 };
}

interface Part {
  readonly keyword: string;
  readonly words: readonly string[];
  readonly checksum: string;
}

function network(type: number, c: Cursor): Part {
  switch (type) {
    case Type.ipv4:
      return ipv4(c);
    case Type.ipv6:
      return ipv6(c);
    case Type.arp:
      return arp("arp", c);
    case Type.rarp:
      return arp("rarp", c);
    case Type.mpls:
      return mpls("mpls", c);
    case Type.mplsMulticast:
      return mpls("mplsm", c);
    default:
      return { keyword: "", words: [`dl_type=${tag(type, 4)}`], checksum: "" };
  }
}

function arp(keyword: string, { b, at }: Cursor): Part {
  // Ethernet and IPv4 only (RFC 826).
  const valid = b.length - at >= 28 && b.readUIntBE(at, 6) === 0x000108000604;
  const op = valid ? b.readUInt16BE(at + 6) : 0;
  const words = [
    `arp_spa=${formatIpv4(valid ? b.readUInt32BE(at + 14) : 0)}`,
    `arp_tpa=${formatIpv4(valid ? b.readUInt32BE(at + 24) : 0)}`,
    `arp_op=${op > 0xff ? 0 : op}`,
    `arp_sha=${formatMac(valid ? b.readUIntBE(at + 8, 6) : 0)}`,
    `arp_tha=${formatMac(valid ? b.readUIntBE(at + 18, 6) : 0)}`,
  ];
  return { keyword, words, checksum: "" };
}

function mpls(keyword: string, { b, at }: Cursor): Part {
  const entries: number[] = [];
  for (let i = at; entries.length < MAX_LABELS && b.length - i >= 4; i += 4) {
    const entry = b.readUInt32BE(i);
    entries.push(entry);
    if ((entry & 0x100) !== 0) break;
  }
  const [top = 0, ...others] = entries;
  const words = [
    `mpls_label=${top >>> 12}`,
    `mpls_tc=${(top >>> 9) & 7}`,
    `mpls_ttl=${top & 0xff}`,
    `mpls_bos=${(top >>> 8) & 1}`,
    ...others.map((entry, i) => `mpls_lse${i + 1}=${entry}`),
  ];
  return { keyword, words, checksum: "" };
}

/** What an IP header says about the packet after it. */
interface Ip {
  readonly version: 4 | 6;
  readonly addresses: readonly string[];
  readonly proto: number;
  readonly tos: number;
  readonly ttl: number;
  readonly fragment: "no" | "first" | "later";
  readonly payload: Buffer;
}

const NOTHING = Buffer.alloc(0);

function ipv4({ b, at }: Cursor): Part {
  const left = b.length - at;
  const header = left < 20 ? 0 : ((b[at] as number) & 15) * 4;
  const total = left < 20 ? 0 : b.readUInt16BE(at + 2);
  if (header < 20 || header > total || total > left || left - total > MAX_PADDING) {
    const addresses = ["nw_src=0.0.0.0", "nw_dst=0.0.0.0"];
    return ip({ version: 4, addresses, proto: 0, tos: 0, ttl: 0, fragment: "no", payload: NOTHING });
  }
  const offset = b.readUInt16BE(at + 6);
  return ip({
    version: 4,
    addresses: [`nw_src=${formatIpv4(b.readUInt32BE(at + 12))}`, `nw_dst=${formatIpv4(b.readUInt32BE(at + 16))}`],
    proto: b[at + 9] as number,
    tos: b[at + 1] as number,
    ttl: b[at + 8] as number,
    fragment: (offset & 0x1fff) !== 0 ? "later" : (offset & 0x2000) !== 0 ? "first" : "no",
    payload: b.subarray(at + header, at + total),
  });
}

function ipv6({ b, at }: Cursor): Part {
  const left = b.length - at;
  const address = (from: number): bigint => (b.readBigUInt64BE(from) << 64n) | b.readBigUInt64BE(from + 8);
  const length = left < 40 ? 0 : b.readUInt16BE(at + 4) + 40;
  const sound = left >= 40 && length <= left && left - length <= MAX_PADDING;
  const addresses = [
    `ipv6_src=${formatIpv6(sound ? address(at + 8) : 0n)}`,
    `ipv6_dst=${formatIpv6(sound ? address(at + 24) : 0n)}`,
  ];
  const chain = sound ? extensions(b.subarray(at + 40, at + length), b[at + 6] as number) : undefined;
  if (!chain) {
    addresses.push("ipv6_label=0x00000");
    return ip({ version: 6, addresses, proto: 0, tos: 0, ttl: 0, fragment: "no", payload: NOTHING });
  }
  const first = b.readUInt32BE(at);
  addresses.push(`ipv6_label=${tag(first & 0xfffff, 5)}`);
  return ip({ version: 6, addresses, tos: (first >>> 20) & 0xff, ttl: b[at + 7] as number, ...chain });
}

const HOP_BY_HOP = 0;
const ROUTING = 43;
const FRAGMENT = 44;
const AUTHENTICATION = 51;
const DESTINATION = 60;

/** Follows the extension headers (RFC 8200 §4); absent when one is cut off. */
function extensions(b: Buffer, next: number): Pick<Ip, "proto" | "fragment" | "payload"> | undefined {
  let proto = next;
  let at = 0;
  let fragment: Ip["fragment"] = "no";
  while ([HOP_BY_HOP, ROUTING, FRAGMENT, AUTHENTICATION, DESTINATION].includes(proto)) {
    if (b.length - at < 8) return undefined;
    if (proto === FRAGMENT) {
      const offset = b.readUInt16BE(at + 2);
      if ((offset & 0xfff8) !== 0) return { proto, fragment: "later", payload: b.subarray(at + 8) };
      if ((offset & 1) !== 0) fragment = "first";
      proto = b[at] as number;
      at += 8;
    } else {
      const size = proto === AUTHENTICATION ? ((b[at + 1] as number) + 2) * 4 : ((b[at + 1] as number) + 1) * 8;
      proto = b[at] as number;
      at += size;
      if (at > b.length) return undefined;
    }
  }
  return { proto, fragment, payload: b.subarray(at) };
}

const keywords: Readonly<Record<4 | 6, ReadonlyMap<number, string>>> = {
  4: new Map([
    [Proto.icmp, "icmp"],
    [Proto.tcp, "tcp"],
    [Proto.udp, "udp"],
    [Proto.sctp, "sctp"],
  ]),
  6: new Map([
    [Proto.icmp6, "icmp6"],
    [Proto.tcp, "tcp6"],
    [Proto.udp, "udp6"],
    [Proto.sctp, "sctp6"],
  ]),
};

function ip(p: Ip): Part {
  const keyword = keywords[p.version].get(p.proto);
  const words = [
    ...p.addresses,
    ...(keyword === undefined ? [`nw_proto=${p.proto}`] : []),
    `nw_tos=${p.tos & 0xfc}`,
    `nw_ecn=${p.tos & 3}`,
    `nw_ttl=${p.ttl}`,
    `nw_frag=${p.fragment}`,
    ...(p.fragment === "later" ? [] : transport(p)),
  ];
  return { keyword: keyword ?? (p.version === 4 ? "ip" : "ipv6"), words, checksum: checksum(p) };
}

const TCP_FLAGS = ["fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr", "ns", "[200]", "[400]", "[800]"];

function transport({ version, proto, payload: b }: Ip): string[] {
  const ports = (size: number): string[] => {
    const whole = b.length >= size;
    return [`tp_src=${whole ? b.readUInt16BE(0) : 0}`, `tp_dst=${whole ? b.readUInt16BE(2) : 0}`];
  };
  if (proto === Proto.tcp) {
    const header = b.length < 20 ? 0 : ((b[12] as number) >> 4) * 4;
    const sound = header >= 20 && header <= b.length;
    const flags = sound ? b.readUInt16BE(12) & 0xfff : 0;
    const names = TCP_FLAGS.filter((_, i) => (flags & (1 << i)) !== 0);
    return [...ports(sound ? 20 : Number.POSITIVE_INFINITY), `tcp_flags=${names.length === 0 ? "0" : names.join("|")}`];
  }
  if (proto === Proto.udp) return ports(8);
  if (proto === Proto.sctp) return ports(12);
  if (version === 4 && proto === Proto.icmp) return icmp(b, 8);
  if (version === 4 && proto === Proto.igmp) {
    return b.length < 8 ? ["tp_src=0", "tp_dst=0"] : [`tp_src=${b[0]}`, `tp_dst=${b[1]}`];
  }
  return version === 6 && proto === Proto.icmp6 ? icmp6(b) : [];
}

function icmp(b: Buffer, size: number): string[] {
  return b.length < size ? ["icmp_type=0", "icmp_code=0"] : [`icmp_type=${b[0]}`, `icmp_code=${b[1]}`];
}

const SOLICITATION = 135;
const ADVERTISEMENT = 136;

/** ICMPv6 and the fields of neighbour discovery (RFC 4861 §4.3, §4.4). */
function icmp6(b: Buffer): string[] {
  const type = b[0] as number;
  if (b.length < 4 || b[1] !== 0 || (type !== SOLICITATION && type !== ADVERTISEMENT)) return icmp(b, 4);
  if (b.length < 8) return ["icmp_type=0", "icmp_code=0"];
  const target = b.length < 24 ? 0n : (b.readBigUInt64BE(8) << 64n) | b.readBigUInt64BE(16);
  const { source, destination } = linkOptions(b.length < 24 ? NOTHING : b.subarray(24));
  return [
    ...icmp(b, 4),
    `nd_target=${formatIpv6(target)}`,
    `nd_sll=${formatMac(type === SOLICITATION ? source : 0)}`,
    `nd_tll=${formatMac(type === ADVERTISEMENT ? destination : 0)}`,
  ];
}

function linkOptions(b: Buffer): { source: number; destination: number } {
  let source = 0;
  let destination = 0;
  for (let at = 0; b.length - at >= 8; ) {
    const length = (b[at + 1] as number) * 8;
    if (length === 0 || at + length > b.length) break;
    if (length === 8 && b[at] === 1) source = b.readUIntBE(at + 2, 6);
    if (length === 8 && b[at] === 2) destination = b.readUIntBE(at + 2, 6);
    at += length;
  }
  return { source, destination };
}

/** The checksum of the transport header, when that is whole. */
function checksum({ version, proto, payload: b }: Ip): string {
  const sum = (name: string, at: number, size: number): string =>
    b.length < size ? "" : ` ${name}_csum:${(size === 12 ? b.readUInt32BE(at) : b.readUInt16BE(at)).toString(16)}`;
  if (proto === Proto.tcp) return sum("tcp", 16, 20);
  if (proto === Proto.udp) return sum("udp", 6, 8);
  if (proto === Proto.sctp) return sum("sctp", 8, 12);
  if (version === 4 && proto === Proto.icmp) return sum("icmp", 2, 8);
  if (version === 6 && proto === Proto.icmp6) return sum("icmp6", 2, 4);
  return "";
}
