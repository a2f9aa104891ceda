import type { FieldDef, FieldName } from "../fields.ts";
import { fieldByName } from "../fields.ts";
import { type FlowKey, flowKey, maskAt, type Place, valueAt } from "../flow-key.ts";
import type { Match } from "../match.ts";
import { neededBytes, type RawOxm } from "../oxm.ts";
import { EtherType, IpProto } from "../prerequisites.ts";
import { formatFlags, formatSignedFlags, TCP_FLAGS } from "./flags.ts";
import { formatPort } from "./ports.ts";
import { formatFragment, formatPacketType, formatValue, hex } from "./value.ts";

/** What a field of integers looks like in a match, which for some is not what set_field prints. */
type Style = "hex" | "decimal";

/** A line of a match: names a place, or a run of them that print by their own rules. */
type Line = (key: FlowKey) => string | undefined;

const place = (key: FlowKey, slot: FieldName): Place | undefined => key.places.get(slot);
const fieldOf = (name: FieldName): FieldDef<FieldName> => fieldByName(name) as FieldDef<FieldName>;

/** A place in the notation of its field; `name` is what ovs-ofctl calls it here, which may be an older alias. */
const own = (name: string, slot = name as FieldName): Line => {
  const def = fieldOf(slot);
  return (key) => {
    const p = place(key, slot);
    return p && `${name}=${formatValue(def, p.value, p.mask)}`;
  };
};

/** An integer: exact in `style`, masked always in hexadecimal. */
const integer =
  (name: string, slot: FieldName, style: Style): Line =>
  (key) => {
    const p = place(key, slot);
    if (!p) return undefined;
    if (p.mask !== fieldOf(slot).full) return `${name}=${hex(p.value)}/${hex(p.mask)}`;
    return `${name}=${style === "hex" ? hex(p.value) : p.value}`;
  };

/** An integer that prints the same with and without a mask. */
const bare =
  (name: string, slot: FieldName, style: Style = "decimal"): Line =>
  (key) => {
    const p = place(key, slot);
    return p && `${name}=${style === "hex" ? hex(p.value) : p.value}`;
  };

const when =
  (test: (key: FlowKey) => boolean, line: Line): Line =>
  (key) =>
    test(key) ? line(key) : undefined;

const hex4 = (n: number): string => `0x${n.toString(16).padStart(4, "0")}`;
const hex5 = (n: number): string => `0x${n.toString(16).padStart(5, "0")}`;

/** The EtherType for the purposes of names: that of the packet type when it has one, else the frame's. */
function typeOf(key: FlowKey): number {
  const packet = valueAt(key, "packet_type");
  return packet >>> 16 === 1 ? packet & 0xffff : valueAt(key, "eth_type");
}
const isType =
  (...types: number[]) =>
  (key: FlowKey): boolean =>
    types.includes(typeOf(key));
const isArp = isType(EtherType.arp, EtherType.rarp);
const isV6 = isType(EtherType.ipv6);

const SHORT: Readonly<Record<number, string>> = {
  [EtherType.arp]: "arp",
  [EtherType.rarp]: "rarp",
  [EtherType.mpls]: "mpls",
  [EtherType.mplsMcast]: "mplsm",
};
const SHORT_V4: Readonly<Record<number, string>> = {
  [IpProto.icmp]: "icmp",
  [IpProto.tcp]: "tcp",
  [IpProto.udp]: "udp",
  [IpProto.sctp]: "sctp",
};
const SHORT_V6: Readonly<Record<number, string>> = {
  [IpProto.icmpv6]: "icmp6",
  [IpProto.tcp]: "tcp6",
  [IpProto.udp]: "udp6",
  [IpProto.sctp]: "sctp6",
};

/** The protocol word, and what it has said already: the type, the IP protocol. */
function protocol(key: FlowKey): { readonly word: string | undefined; readonly saysProto: boolean } {
  if (!place(key, "eth_type")) return { word: undefined, saysProto: false };
  const type = typeOf(key);
  const proto = place(key, "nw_proto");
  const table = type === EtherType.ipv4 ? SHORT_V4 : type === EtherType.ipv6 ? SHORT_V6 : undefined;
  if (!table) return { word: SHORT[type], saysProto: false };
  const word = proto && table[Number(proto.value)];
  return word ? { word, saysProto: true } : { word: type === EtherType.ipv4 ? "ip" : "ipv6", saysProto: false };
}

const protocolWord: Line = (key) => protocol(key).word;
const ethType: Line = (key) =>
  place(key, "eth_type") && protocol(key).word === undefined ? `dl_type=${hex4(valueAt(key, "eth_type"))}` : undefined;
const ipProto: Line = (key) => {
  const p = place(key, "nw_proto");
  if (!p || protocol(key).saysProto) return undefined;
  return isArp(key) ? `arp_op=${p.value}` : `nw_proto=${p.value}`;
};

/** Ethernet goes without saying, except beside recirc_id, where ovs-ofctl takes the match for a datapath's. */
const packetType: Line = (key) => {
  const p = place(key, "packet_type");
  if (p && p.value !== 0) return `packet_type=${formatPacketType(Number(p.value))}`;
  return p && place(key, "recirc_id") ? "eth" : undefined;
};

const VLAN = { vid: 0x0fff, tag: 0x1000, pcp: 0xe000 } as const;

/** VLAN in the short forms where the mask allows, else as the whole tag. */
const vlan: Line = (key) => {
  const p = place(key, "vlan_tci");
  if (!p) return undefined;
  const value = Number(p.value);
  const mask = Number(p.mask);
  const vid = mask & VLAN.vid;
  const pcp = mask & VLAN.pcp;
  const tagged = (mask & value & VLAN.tag) !== 0;
  const whole = (part: number, all: number): boolean => part === 0 || part === all;
  if (tagged && whole(vid, VLAN.vid) && whole(pcp, VLAN.pcp) && (vid | pcp) !== 0) {
    const words = [vid ? `dl_vlan=${value & VLAN.vid}` : "", pcp ? `dl_vlan_pcp=${value >> 13}` : ""];
    return words.filter((w) => w !== "").join(",");
  }
  return mask === 0xffff ? `vlan_tci=${hex4(value)}` : `vlan_tci=${hex4(value)}/${hex4(mask)}`;
};

const flowLabel: Line = (key) => {
  const p = place(key, "ipv6_label");
  if (!p) return undefined;
  const exact = p.mask === fieldOf("ipv6_label").full;
  return `ipv6_label=${hex5(Number(p.value))}${exact ? "" : `/${hex5(Number(p.mask))}`}`;
};

const tos: readonly Line[] = [
  (key) => ((maskAt(key, "nw_tos") & 0xfc) === 0 ? undefined : `nw_tos=${valueAt(key, "nw_tos") & 0xfc}`),
  (key) => ((maskAt(key, "nw_tos") & 0x03) === 0 ? undefined : `nw_ecn=${valueAt(key, "nw_tos") & 0x03}`),
];

const fragment: Line = (key) => {
  const p = place(key, "ip_frag");
  return p && `nw_frag=${formatFragment(Number(p.value), Number(p.mask))}`;
};

const tcpFlags: Line = (key) => {
  const p = place(key, "tcp_flags");
  if (!p) return undefined;
  const mask = Number(p.mask) & 0xfff;
  return `tcp_flags=${mask === 0xfff ? formatFlags(Number(p.value), TCP_FLAGS) : formatSignedFlags(Number(p.value), mask, TCP_FLAGS)}`;
};

/** NSH's bytes pad their masked form to two digits. */
const byte: Line = (key) => {
  const p = place(key, "nsh_flags");
  if (!p) return undefined;
  const two = (n: number): string => `0x${n.toString(16).padStart(2, "0")}`;
  return `nsh_flags=${p.mask === 0xff ? p.value : `${two(Number(p.value))}/${two(Number(p.mask))}`}`;
};

const context =
  (slot: FieldName): Line =>
  (key) => {
    const p = place(key, slot);
    const exact = p?.mask === fieldOf(slot).full;
    return p && `${slot}=${exact ? hex(p.value) : `0x${p.value.toString(16)}/0x${p.mask.toString(16)}`}`;
  };

/** Tunnel options are as long as their value and mask need; a mask of ones over that length is no mask. */
const tunnelOption =
  (slot: FieldName): Line =>
  (key) => {
    const p = place(key, slot);
    if (!p) return undefined;
    const exact = p.mask === fieldOf(slot).full || p.mask === (1n << BigInt(8 * neededBytes(p.value, p.mask))) - 1n;
    return `${slot}=${hex(p.value)}${exact ? "" : `/${hex(p.mask)}`}`;
  };

/** Ports print in decimal, in hexadecimal under a mask: 16 bits whatever the protocol's own width. */
const l4 =
  (name: string, slot: FieldName): Line =>
  (key) => {
    const p = place(key, slot);
    if (!p) return undefined;
    const mask = Number(p.mask);
    return mask === 0xffff || mask === 0xff
      ? `${name}=${p.value}`
      : `${name}=0x${p.value.toString(16)}/0x${mask.toString(16)}`;
  };

const isL4 =
  (proto: number, ...types: number[]) =>
  (key: FlowKey): boolean =>
    types.includes(typeOf(key)) && valueAt(key, "nw_proto") === proto;
const isIcmp = isL4(IpProto.icmp, EtherType.ipv4);
const isIcmp6 = isL4(IpProto.icmpv6, EtherType.ipv6);
const isTcp = isL4(IpProto.tcp, EtherType.ipv4, EtherType.ipv6);
const isAnyIcmp = (key: FlowKey): boolean => isIcmp(key) || isIcmp6(key);
const hasPorts = (key: FlowKey): boolean => !isAnyIcmp(key);
const hasV4 = (key: FlowKey): boolean => !isArp(key) && !isV6(key);

const hasCtProto = (key: FlowKey): boolean => valueAt(key, "ct_nw_proto") !== 0;
/** NSH's metadata type 1 has the four context headers. */
const hasContext = (key: FlowKey): boolean => valueAt(key, "nsh_mdtype") === 1;
const erspan =
  (version: number) =>
  (key: FlowKey): boolean =>
    valueAt(key, "tun_erspan_ver") === version;

const numbers = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** A match in the order of ovs-ofctl. */
const LINES: readonly Line[] = [
  integer("pkt_mark", "pkt_mark", "hex"),
  integer("recirc_id", "recirc_id", "hex"),
  integer("dp_hash", "dp_hash", "hex"),
  bare("conj_id", "conj_id"),
  own("actset_output"),
  own("ct_state"),
  integer("ct_zone", "ct_zone", "decimal"),
  integer("ct_mark", "ct_mark", "hex"),
  integer("ct_label", "ct_label", "hex"),
  own("ct_nw_src"),
  own("ct_ipv6_src"),
  own("ct_nw_dst"),
  own("ct_ipv6_dst"),
  bare("ct_nw_proto", "ct_nw_proto"),
  when(hasCtProto, l4("ct_tp_src", "ct_tp_src")),
  when(hasCtProto, l4("ct_tp_dst", "ct_tp_dst")),
  packetType,
  protocolWord,
  ...numbers(16).map((i) => integer(`reg${i}`, `reg${i}` as FieldName, "hex")),
  integer("tun_id", "tun_id", "hex"),
  own("tun_src"),
  own("tun_dst"),
  own("tun_ipv6_src"),
  own("tun_ipv6_dst"),
  integer("tun_gbp_id", "tun_gbp_id", "decimal"),
  bare("tun_gbp_flags", "tun_gbp_flags", "hex"),
  bare("tun_erspan_ver", "tun_erspan_ver"),
  when(erspan(1), integer("tun_erspan_idx", "tun_erspan_idx", "hex")),
  when(erspan(2), bare("tun_erspan_dir", "tun_erspan_dir")),
  when(erspan(2), bare("tun_erspan_hwid", "tun_erspan_hwid", "hex")),
  bare("gtpu_flags", "tun_gtpu_flags", "hex"),
  bare("gtpu_msgtype", "tun_gtpu_msgtype"),
  own("tun_flags"),
  ...numbers(64).map((i) => tunnelOption(`tun_metadata${i}` as FieldName)),
  integer("metadata", "metadata", "hex"),
  (key) => place(key, "in_port") && `in_port=${formatPort(valueAt(key, "in_port"))}`,
  vlan,
  own("dl_src", "eth_src"),
  own("dl_dst", "eth_dst"),
  ethType,
  when(isV6, own("ipv6_src")),
  when(isV6, own("ipv6_dst")),
  when(isV6, flowLabel),
  when(isArp, own("arp_spa", "ip_src")),
  when(isArp, own("arp_tpa", "ip_dst")),
  byte,
  bare("nsh_ttl", "nsh_ttl"),
  bare("nsh_mdtype", "nsh_mdtype"),
  bare("nsh_np", "nsh_np"),
  bare("nsh_spi", "nsh_spi", "hex"),
  bare("nsh_si", "nsh_si"),
  ...numbers(4).map((i) => when(hasContext, context(`nsh_c${i + 1}` as FieldName))),
  when(hasV4, own("nw_src", "ip_src")),
  when(hasV4, own("nw_dst", "ip_dst")),
  ipProto,
  when(isArp, own("arp_sha")),
  when(isArp, own("arp_tha")),
  ...tos,
  bare("nw_ttl", "nw_ttl"),
  bare("mpls_label", "mpls_label"),
  bare("mpls_tc", "mpls_tc"),
  bare("mpls_ttl", "mpls_ttl"),
  bare("mpls_bos", "mpls_bos"),
  fragment,
  when(isAnyIcmp, l4("icmp_type", "tcp_src")),
  when(isAnyIcmp, l4("icmp_code", "tcp_dst")),
  when(hasPorts, l4("tp_src", "tcp_src")),
  when(hasPorts, l4("tp_dst", "tcp_dst")),
  when(isIcmp6, own("nd_target")),
  when(isIcmp6, own("nd_sll", "arp_sha")),
  when(isIcmp6, own("nd_tll", "arp_tha")),
  when(isIcmp6, bare("nd_reserved", "nd_reserved")),
  when(isIcmp6, bare("nd_options_type", "tcp_flags")),
  when(isTcp, tcpFlags),
];

/** A field without a name: its header and payload, which ovs-ofctl would leave out. */
const rawText = ({ header, body }: RawOxm): string =>
  `raw=0x${header.toString(16).padStart(8, "0")}${body.toString("hex")}`;

/**
 * A match as ovs-ofctl prints it inside a flow: `tcp,reg0=0x1,nw_dst=10.0.0.0/24,tp_dst=80`. Empty for a match of
 * everything. Unknown fields follow as `raw=`.
 */
export function formatMatch(match: Match): string {
  const key = flowKey(match);
  const words: string[] = [];
  for (const line of LINES) {
    const word = line(key);
    if (word !== undefined) words.push(word);
  }
  return [...words, ...key.raws.map(rawText)].join(",");
}
