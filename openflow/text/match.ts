import type { FieldDef, FieldName } from "../fields.ts";
import { fieldByName } from "../fields.ts";
import { type FlowKey, flowKey, maskAt, type Place, valueAt } from "../flow-key.ts";
import type { Match } from "../match.ts";
import { neededBytes, type RawOxm } from "../oxm.ts";
import { EtherType, etherType, IpProto } from "../prerequisites.ts";
import { formatFlags, formatSignedFlags, TCP_FLAGS } from "./flags.ts";
import { formatPort } from "./ports.ts";
import { protocol } from "./protocol.ts";
import { formatFragment, formatPacketType, formatValue, hex } from "./value.ts";

/** What a field of integers looks like in a match, which for some is not what set_field prints. */
type Style = "hex" | "decimal";

/** A word of a match, or undefined when the match does not say it. */
type Line = (key: FlowKey) => string | undefined;
/** A word with the place without which it is never said. */
type Entry = readonly [slot: FieldName, line: Line];

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

const isType =
  (...types: number[]) =>
  (key: FlowKey): boolean =>
    types.includes(etherType(key));
const isArp = isType(EtherType.arp, EtherType.rarp);
const isV6 = isType(EtherType.ipv6);

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

/**
 * Tunnel options are as long as their value and mask need; a mask of ones over that length is no mask, and under a mask
 * of zeros the option must only be there.
 */
const tunnelOption =
  (slot: FieldName): Line =>
  (key) => {
    const p = place(key, slot);
    if (!p) return undefined;
    if (p.mask === 0n) return slot;
    const exact = p.mask === fieldOf(slot).full || p.mask === (1n << BigInt(8 * neededBytes(p.value, p.mask))) - 1n;
    return `${slot}=${hex(p.value)}${exact ? "" : `/${hex(p.mask)}`}`;
  };

/** Ports and the like: decimal, in hexadecimal under a mask, even for 0. */
const l4 =
  (name: string, slot: FieldName, full = 0xffff): Line =>
  (key) => {
    const p = place(key, slot);
    if (!p) return undefined;
    const mask = Number(p.mask);
    return (mask & full) === full ? `${name}=${p.value}` : `${name}=0x${p.value.toString(16)}/0x${mask.toString(16)}`;
  };

const isL4 =
  (proto: number, ...types: number[]) =>
  (key: FlowKey): boolean =>
    types.includes(etherType(key)) && valueAt(key, "nw_proto") === proto;
const isIcmp = isL4(IpProto.icmp, EtherType.ipv4);
const isIcmp6 = isL4(IpProto.icmpv6, EtherType.ipv6);
const isTcp = isL4(IpProto.tcp, EtherType.ipv4, EtherType.ipv6);
const isAnyIcmp = (key: FlowKey): boolean => isIcmp(key) || isIcmp6(key);
const hasPorts = (key: FlowKey): boolean => !isAnyIcmp(key);
const hasV4 = (key: FlowKey): boolean => !isArp(key) && !isV6(key);

const hasCtProto = (key: FlowKey): boolean => place(key, "ct_nw_proto") !== undefined;
/** NSH's metadata type 1 has the four context headers. */
const hasContext = (key: FlowKey): boolean => valueAt(key, "nsh_mdtype") === 1;
const erspan =
  (version: number) =>
  (key: FlowKey): boolean =>
    valueAt(key, "tun_erspan_ver") === version;

/** Lines of fields that differ in their number only. */
const numbered = (prefix: string, first: number, count: number, line: (slot: FieldName) => Line): Entry[] =>
  Array.from({ length: count }, (_, i) => {
    const slot = `${prefix}${first + i}` as FieldName;
    return [slot, line(slot)];
  });

/** A match in the order of ovs-ofctl. */
const LINES: readonly Entry[] = [
  ["pkt_mark", integer("pkt_mark", "pkt_mark", "hex")],
  ["recirc_id", integer("recirc_id", "recirc_id", "hex")],
  ["dp_hash", integer("dp_hash", "dp_hash", "hex")],
  ["conj_id", bare("conj_id", "conj_id")],
  ["actset_output", own("actset_output")],
  ["ct_state", own("ct_state")],
  ["ct_zone", integer("ct_zone", "ct_zone", "decimal")],
  ["ct_mark", integer("ct_mark", "ct_mark", "hex")],
  ["ct_label", integer("ct_label", "ct_label", "hex")],
  ["ct_nw_src", own("ct_nw_src")],
  ["ct_ipv6_src", own("ct_ipv6_src")],
  ["ct_nw_dst", own("ct_nw_dst")],
  ["ct_ipv6_dst", own("ct_ipv6_dst")],
  ["ct_nw_proto", bare("ct_nw_proto", "ct_nw_proto")],
  ["ct_tp_src", when(hasCtProto, l4("ct_tp_src", "ct_tp_src"))],
  ["ct_tp_dst", when(hasCtProto, l4("ct_tp_dst", "ct_tp_dst"))],
  ["packet_type", packetType],
  ["eth_type", protocolWord],
  ...numbered("reg", 0, 16, (slot) => integer(slot, slot, "hex")),
  ["tun_id", integer("tun_id", "tun_id", "hex")],
  ["tun_src", own("tun_src")],
  ["tun_dst", own("tun_dst")],
  ["tun_ipv6_src", own("tun_ipv6_src")],
  ["tun_ipv6_dst", own("tun_ipv6_dst")],
  ["tun_gbp_id", l4("tun_gbp_id", "tun_gbp_id")],
  ["tun_gbp_flags", bare("tun_gbp_flags", "tun_gbp_flags", "hex")],
  ["tun_erspan_ver", bare("tun_erspan_ver", "tun_erspan_ver")],
  ["tun_erspan_idx", when(erspan(1), bare("tun_erspan_idx", "tun_erspan_idx", "hex"))],
  ["tun_erspan_dir", when(erspan(2), bare("tun_erspan_dir", "tun_erspan_dir"))],
  ["tun_erspan_hwid", when(erspan(2), bare("tun_erspan_hwid", "tun_erspan_hwid", "hex"))],
  ["tun_gtpu_flags", bare("gtpu_flags", "tun_gtpu_flags", "hex")],
  ["tun_gtpu_msgtype", bare("gtpu_msgtype", "tun_gtpu_msgtype")],
  ["tun_flags", own("tun_flags")],
  ...numbered("tun_metadata", 0, 64, tunnelOption),
  ["metadata", integer("metadata", "metadata", "hex")],
  ["in_port", (key) => `in_port=${formatPort(valueAt(key, "in_port"))}`],
  ["vlan_tci", vlan],
  ["eth_src", own("dl_src", "eth_src")],
  ["eth_dst", own("dl_dst", "eth_dst")],
  ["eth_type", ethType],
  ["ipv6_src", when(isV6, own("ipv6_src"))],
  ["ipv6_dst", when(isV6, own("ipv6_dst"))],
  ["ipv6_label", when(isV6, flowLabel)],
  ["ip_src", when(isArp, own("arp_spa", "ip_src"))],
  ["ip_dst", when(isArp, own("arp_tpa", "ip_dst"))],
  ["nsh_flags", byte],
  ["nsh_ttl", bare("nsh_ttl", "nsh_ttl")],
  ["nsh_mdtype", bare("nsh_mdtype", "nsh_mdtype")],
  ["nsh_np", bare("nsh_np", "nsh_np")],
  ["nsh_spi", (key) => `nsh_spi=0x${valueAt(key, "nsh_spi").toString(16)}`],
  ["nsh_si", bare("nsh_si", "nsh_si")],
  ...numbered("nsh_c", 1, 4, (slot) => when(hasContext, context(slot))),
  ["ip_src", when(hasV4, own("nw_src", "ip_src"))],
  ["ip_dst", when(hasV4, own("nw_dst", "ip_dst"))],
  ["nw_proto", ipProto],
  ["arp_sha", when(isArp, own("arp_sha"))],
  ["arp_tha", when(isArp, own("arp_tha"))],
  ...tos.map((line) => ["nw_tos", line] as const),
  ["nw_ttl", bare("nw_ttl", "nw_ttl")],
  ["mpls_label", bare("mpls_label", "mpls_label")],
  ["mpls_tc", bare("mpls_tc", "mpls_tc")],
  ["mpls_ttl", bare("mpls_ttl", "mpls_ttl")],
  ["mpls_bos", bare("mpls_bos", "mpls_bos")],
  ["ip_frag", fragment],
  ["tcp_src", when(isAnyIcmp, l4("icmp_type", "tcp_src", 0xff))],
  ["tcp_dst", when(isAnyIcmp, l4("icmp_code", "tcp_dst", 0xff))],
  ["tcp_src", when(hasPorts, l4("tp_src", "tcp_src"))],
  ["tcp_dst", when(hasPorts, l4("tp_dst", "tcp_dst"))],
  ["nd_target", when(isIcmp6, own("nd_target"))],
  ["arp_sha", when(isIcmp6, own("nd_sll", "arp_sha"))],
  ["arp_tha", when(isIcmp6, own("nd_tll", "arp_tha"))],
  ["nd_reserved", when(isIcmp6, bare("nd_reserved", "nd_reserved"))],
  ["tcp_flags", when(isIcmp6, bare("nd_options_type", "tcp_flags"))],
  ["tcp_flags", when(isTcp, tcpFlags)],
];

/** Lines by the place they print, so that a match costs what it says and not what it could say. */
const linesOf = new Map<FieldName, number[]>();
LINES.forEach(([slot], i) => {
  linesOf.set(slot, [...(linesOf.get(slot) ?? []), i]);
});

/** A field without a name: its header and payload, which ovs-ofctl would leave out. */
const rawText = ({ header, body }: RawOxm): string =>
  `raw=0x${header.toString(16).padStart(8, "0")}${body.toString("hex")}`;

/**
 * A match as ovs-ofctl prints it inside a flow: `tcp,reg0=0x1,nw_dst=10.0.0.0/24,tp_dst=80`. Empty for a match of
 * everything. Unknown fields follow as `raw=`.
 */
export function formatMatch(match: Match): string {
  const key = flowKey(match);
  const present: number[] = [];
  for (const slot of key.places.keys()) present.push(...(linesOf.get(slot) ?? []));
  present.sort((a, b) => a - b);
  const words: string[] = [];
  for (const i of present) {
    const word = (LINES[i] as Entry)[1](key);
    if (word !== undefined) words.push(word);
  }
  for (const raw of key.raws) words.push(rawText(raw));
  return words.join(",");
}
