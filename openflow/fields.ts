/**
 * The one table of match fields: ovs-fields(7) of Open vSwitch 3.1, in the order of its field numbers, without the
 * handful that have no code point (skb_priority, tun_ttl, tun_tos, dl_vlan, dl_vlan_pcp): those exist in text only.
 */
import {
  basic,
  basic15,
  defineField,
  ericsson,
  type FieldDef,
  type FieldOptions,
  nicira,
  nsh,
  nxm0,
  nxm1,
  onf,
  packetReg,
  row,
} from "./field-def.ts";

export type { FieldDef, FieldValue } from "./field-def.ts";

/** The numbers below N, as literals. */
type Below<N extends number, A extends number[] = []> = A["length"] extends N
  ? A[number]
  : Below<N, [...A, A["length"]]>;

/** `count` fields of one kind, numbered from 0. */
const family = <const P extends string, N extends number, R>(
  prefix: P,
  count: N,
  make: (name: `${P}${Below<N>}`, i: number) => R,
): readonly R[] => Array.from({ length: count }, (_, i) => make(`${prefix}${i}` as `${P}${Below<N>}`, i));

const EXACT: FieldOptions = { exactOnly: true };
const READ: FieldOptions = { readOnly: true };
const EXACT_READ: FieldOptions = { exactOnly: true, readOnly: true };
// Switches check these values no closer than their bytes.
const ANY_VALUE: FieldOptions = { valid: 0xff };
const eth: FieldOptions = { prerequisite: "ethernet" };
const mpls: FieldOptions = { prerequisite: "mpls", exactOnly: true };
const ip: FieldOptions = { prerequisite: "ip", exactOnly: true };
const ct: FieldOptions = { prerequisite: "ct", readOnly: true };
const nshRow: FieldOptions = { prerequisite: "nsh" };
const l4 = (prerequisite: "tcp" | "udp" | "sctp", alias?: string): FieldOptions =>
  alias ? { prerequisite, aliases: [alias] } : { prerequisite };

const rows = [
  row("dp_hash", 32, "hex", [nxm1(35, "NXM_NX_DP_HASH"), { ...nicira(0, "NXOXM_ET_DP_HASH"), since15: true }], READ),
  row("recirc_id", 32, "decimal", [nxm1(36, "NXM_NX_RECIRC_ID")], EXACT_READ),
  row("packet_type", 32, "packet_type", [basic15(44, "OXM_OF_PACKET_TYPE")], EXACT_READ),
  row("conj_id", 32, "decimal", [nxm1(37, "NXM_NX_CONJ_ID")], EXACT_READ),
  row("tun_id", 64, "hex", [nxm1(16, "NXM_NX_TUN_ID"), basic(38, "OXM_OF_TUNNEL_ID")], { aliases: ["tunnel_id"] }),
  row("tun_src", 32, "ipv4", [nxm1(31, "NXM_NX_TUN_IPV4_SRC")]),
  row("tun_dst", 32, "ipv4", [nxm1(32, "NXM_NX_TUN_IPV4_DST")]),
  row("tun_ipv6_src", 128, "ipv6", [nxm1(109, "NXM_NX_TUN_IPV6_SRC")]),
  row("tun_ipv6_dst", 128, "ipv6", [nxm1(110, "NXM_NX_TUN_IPV6_DST")]),
  row("tun_flags", 1, "tun_flags", [nxm1(104, "NXM_NX_TUN_FLAGS")], { bytes: 2 }),
  row("tun_gbp_id", 16, "decimal", [nxm1(38, "NXM_NX_TUN_GBP_ID")]),
  row("tun_gbp_flags", 8, "hex", [nxm1(39, "NXM_NX_TUN_GBP_FLAGS")]),
  row("tun_erspan_idx", 20, "hex", [nicira(11, "NXOXM_ET_ERSPAN_IDX")], { bytes: 4, valid: 0xffff_ffff }),
  row("tun_erspan_ver", 4, "decimal", [nicira(12, "NXOXM_ET_ERSPAN_VER")], ANY_VALUE),
  row("tun_erspan_dir", 1, "decimal", [nicira(13, "NXOXM_ET_ERSPAN_DIR")], ANY_VALUE),
  row("tun_erspan_hwid", 6, "hex", [nicira(14, "NXOXM_ET_ERSPAN_HWID")], ANY_VALUE),
  row("tun_gtpu_flags", 8, "hex", [nicira(15, "NXOXM_ET_GTPU_FLAGS")], READ),
  row("tun_gtpu_msgtype", 8, "decimal", [nicira(16, "NXOXM_ET_GTPU_MSGTYPE")], READ),
  ...family("tun_metadata", 64, (name, i) =>
    row(name, 992, "hex", [nxm1(40 + i, `NXM_NX_TUN_METADATA${i}`)], { variable: true }),
  ),
  row("metadata", 64, "hex", [basic(2, "OXM_OF_METADATA")]),
  // OpenFlow 1.0's 16-bit view of the port. Matches carry the 32-bit one under this name too: see match.ts.
  row("in_port", 16, "port", [nxm0(0, "NXM_OF_IN_PORT")], EXACT),
  row("in_port_oxm", 32, "port", [basic(0, "OXM_OF_IN_PORT")], EXACT),
  row(
    "actset_output",
    32,
    "port",
    [onf(43, "ONFOXM_ET_ACTSET_OUTPUT"), basic15(43, "OXM_OF_ACTSET_OUTPUT")],
    EXACT_READ,
  ),
  row("pkt_mark", 32, "hex", [nxm1(33, "NXM_NX_PKT_MARK")]),
  row("ct_state", 32, "ct_state", [nxm1(105, "NXM_NX_CT_STATE")], { readOnly: true, valid: 0xff }),
  row("ct_zone", 16, "hex", [nxm1(106, "NXM_NX_CT_ZONE")], EXACT_READ),
  row("ct_mark", 32, "hex", [nxm1(107, "NXM_NX_CT_MARK")]),
  row("ct_label", 128, "hex", [nxm1(108, "NXM_NX_CT_LABEL")]),
  row("ct_nw_proto", 8, "decimal", [nxm1(119, "NXM_NX_CT_NW_PROTO")], { ...ct, exactOnly: true }),
  row("ct_nw_src", 32, "ipv4", [nxm1(120, "NXM_NX_CT_NW_SRC")], ct),
  row("ct_nw_dst", 32, "ipv4", [nxm1(121, "NXM_NX_CT_NW_DST")], ct),
  row("ct_ipv6_src", 128, "ipv6", [nxm1(122, "NXM_NX_CT_IPV6_SRC")], ct),
  row("ct_ipv6_dst", 128, "ipv6", [nxm1(123, "NXM_NX_CT_IPV6_DST")], ct),
  row("ct_tp_src", 16, "decimal", [nxm1(124, "NXM_NX_CT_TP_SRC")], ct),
  row("ct_tp_dst", 16, "decimal", [nxm1(125, "NXM_NX_CT_TP_DST")], ct),
  ...family("reg", 16, (name, i) => row(name, 32, "hex", [nxm1(i, `NXM_NX_REG${i}`)])),
  ...family("xreg", 8, (name, i) => row(name, 64, "hex", [packetReg(i, `OXM_OF_PKT_REG${i}`)])),
  ...family("xxreg", 4, (name, i) => row(name, 128, "hex", [nxm1(111 + i, `NXM_NX_XXREG${i}`)])),
  row("eth_src", 48, "mac", [nxm0(2, "NXM_OF_ETH_SRC"), basic(4, "OXM_OF_ETH_SRC")], { ...eth, aliases: ["dl_src"] }),
  row("eth_dst", 48, "mac", [nxm0(1, "NXM_OF_ETH_DST"), basic(3, "OXM_OF_ETH_DST")], { ...eth, aliases: ["dl_dst"] }),
  row("eth_type", 16, "hex", [nxm0(3, "NXM_OF_ETH_TYPE"), basic(5, "OXM_OF_ETH_TYPE")], {
    ...eth,
    ...EXACT_READ,
    aliases: ["dl_type"],
  }),
  row("vlan_tci", 16, "hex", [nxm0(4, "NXM_OF_VLAN_TCI")], eth),
  // Twelve bits as a subfield; the thirteenth on the wire says that there is a tag at all.
  row("vlan_vid", 12, "decimal", [basic(6, "OXM_OF_VLAN_VID")], { ...eth, valid: 0x1fff }),
  row("vlan_pcp", 3, "decimal", [basic(7, "OXM_OF_VLAN_PCP")], { prerequisite: "vlan_vid", exactOnly: true }),
  row("mpls_label", 20, "decimal", [basic(34, "OXM_OF_MPLS_LABEL")], { ...mpls, bytes: 4 }),
  row("mpls_tc", 3, "decimal", [basic(35, "OXM_OF_MPLS_TC")], mpls),
  row("mpls_bos", 1, "decimal", [basic(36, "OXM_OF_MPLS_BOS")], { ...mpls, readOnly: true }),
  row("mpls_ttl", 8, "decimal", [nxm1(30, "NXM_NX_MPLS_TTL")], mpls),
  row("ip_src", 32, "ipv4", [nxm0(7, "NXM_OF_IP_SRC"), basic(11, "OXM_OF_IPV4_SRC")], {
    prerequisite: "ipv4",
    aliases: ["nw_src"],
  }),
  row("ip_dst", 32, "ipv4", [nxm0(8, "NXM_OF_IP_DST"), basic(12, "OXM_OF_IPV4_DST")], {
    prerequisite: "ipv4",
    aliases: ["nw_dst"],
  }),
  row("ipv6_src", 128, "ipv6", [nxm1(19, "NXM_NX_IPV6_SRC"), basic(26, "OXM_OF_IPV6_SRC")], { prerequisite: "ipv6" }),
  row("ipv6_dst", 128, "ipv6", [nxm1(20, "NXM_NX_IPV6_DST"), basic(27, "OXM_OF_IPV6_DST")], { prerequisite: "ipv6" }),
  row("ipv6_label", 20, "hex", [nxm1(27, "NXM_NX_IPV6_LABEL"), basic(28, "OXM_OF_IPV6_FLABEL")], {
    prerequisite: "ipv6",
    bytes: 4,
  }),
  row("nw_proto", 8, "decimal", [nxm0(6, "NXM_OF_IP_PROTO"), basic(10, "OXM_OF_IP_PROTO")], {
    ...ip,
    readOnly: true,
    aliases: ["ip_proto"],
  }),
  row("nw_tos", 8, "decimal", [nxm0(5, "NXM_OF_IP_TOS")], { ...ip, valid: 0xfc }),
  row("ip_dscp", 6, "decimal", [basic(8, "OXM_OF_IP_DSCP")], ip),
  row("nw_ecn", 2, "decimal", [nxm1(28, "NXM_NX_IP_ECN"), basic(9, "OXM_OF_IP_ECN")], { ...ip, aliases: ["ip_ecn"] }),
  row("nw_ttl", 8, "decimal", [nxm1(29, "NXM_NX_IP_TTL")], ip),
  row("ip_frag", 2, "frag", [nxm1(26, "NXM_NX_IP_FRAG")], {
    prerequisite: "ip",
    readOnly: true,
    aliases: ["nw_frag"],
  }),
  row("arp_op", 16, "decimal", [nxm0(15, "NXM_OF_ARP_OP"), basic(21, "OXM_OF_ARP_OP")], {
    prerequisite: "arp",
    exactOnly: true,
    valid: 0xff,
  }),
  row("arp_spa", 32, "ipv4", [nxm0(16, "NXM_OF_ARP_SPA"), basic(22, "OXM_OF_ARP_SPA")], { prerequisite: "arp" }),
  row("arp_tpa", 32, "ipv4", [nxm0(17, "NXM_OF_ARP_TPA"), basic(23, "OXM_OF_ARP_TPA")], { prerequisite: "arp" }),
  row("arp_sha", 48, "mac", [nxm1(17, "NXM_NX_ARP_SHA"), basic(24, "OXM_OF_ARP_SHA")], { prerequisite: "arp" }),
  row("arp_tha", 48, "mac", [nxm1(18, "NXM_NX_ARP_THA"), basic(25, "OXM_OF_ARP_THA")], { prerequisite: "arp" }),
  row("tcp_src", 16, "decimal", [nxm0(9, "NXM_OF_TCP_SRC"), basic(13, "OXM_OF_TCP_SRC")], l4("tcp", "tp_src")),
  row("tcp_dst", 16, "decimal", [nxm0(10, "NXM_OF_TCP_DST"), basic(14, "OXM_OF_TCP_DST")], l4("tcp", "tp_dst")),
  row(
    "tcp_flags",
    12,
    "tcp_flags",
    [nxm1(34, "NXM_NX_TCP_FLAGS"), onf(42, "ONFOXM_ET_TCP_FLAGS"), basic15(42, "OXM_OF_TCP_FLAGS")],
    { prerequisite: "tcp", readOnly: true },
  ),
  row("udp_src", 16, "decimal", [nxm0(11, "NXM_OF_UDP_SRC"), basic(15, "OXM_OF_UDP_SRC")], l4("udp")),
  row("udp_dst", 16, "decimal", [nxm0(12, "NXM_OF_UDP_DST"), basic(16, "OXM_OF_UDP_DST")], l4("udp")),
  row("sctp_src", 16, "decimal", [basic(17, "OXM_OF_SCTP_SRC")], l4("sctp")),
  row("sctp_dst", 16, "decimal", [basic(18, "OXM_OF_SCTP_DST")], l4("sctp")),
  row("icmp_type", 8, "decimal", [nxm0(13, "NXM_OF_ICMP_TYPE"), basic(19, "OXM_OF_ICMPV4_TYPE")], {
    prerequisite: "icmpv4",
    exactOnly: true,
  }),
  row("icmp_code", 8, "decimal", [nxm0(14, "NXM_OF_ICMP_CODE"), basic(20, "OXM_OF_ICMPV4_CODE")], {
    prerequisite: "icmpv4",
    exactOnly: true,
  }),
  row("icmpv6_type", 8, "decimal", [nxm1(21, "NXM_NX_ICMPV6_TYPE"), basic(29, "OXM_OF_ICMPV6_TYPE")], {
    prerequisite: "icmpv6",
    exactOnly: true,
  }),
  row("icmpv6_code", 8, "decimal", [nxm1(22, "NXM_NX_ICMPV6_CODE"), basic(30, "OXM_OF_ICMPV6_CODE")], {
    prerequisite: "icmpv6",
    exactOnly: true,
  }),
  row("nd_target", 128, "ipv6", [nxm1(23, "NXM_NX_ND_TARGET"), basic(31, "OXM_OF_IPV6_ND_TARGET")], {
    prerequisite: "nd",
  }),
  row("nd_sll", 48, "mac", [nxm1(24, "NXM_NX_ND_SLL"), basic(32, "OXM_OF_IPV6_ND_SLL")], {
    prerequisite: "nd_solicit",
  }),
  row("nd_tll", 48, "mac", [nxm1(25, "NXM_NX_ND_TLL"), basic(33, "OXM_OF_IPV6_ND_TLL")], { prerequisite: "nd_advert" }),
  row("nd_reserved", 32, "decimal", [ericsson(1, "ERICOXM_OF_ICMPV6_ND_RESERVED")], { ...EXACT, prerequisite: "nd" }),
  row("nd_options_type", 8, "decimal", [ericsson(2, "ERICOXM_OF_ICMPV6_ND_OPTIONS_TYPE")], {
    ...EXACT,
    prerequisite: "nd",
  }),
  row("nsh_flags", 8, "decimal", [nsh(1, "NXOXM_NSH_FLAGS")], nshRow),
  row("nsh_ttl", 8, "decimal", [nsh(10, "NXOXM_NSH_TTL")], { ...nshRow, exactOnly: true, valid: 0x3f }),
  row("nsh_mdtype", 8, "decimal", [nsh(2, "NXOXM_NSH_MDTYPE")], { ...nshRow, ...EXACT_READ }),
  row("nsh_np", 8, "decimal", [nsh(3, "NXOXM_NSH_NP")], { ...nshRow, ...EXACT_READ }),
  row("nsh_spi", 24, "hex", [nsh(4, "NXOXM_NSH_SPI")], { ...nshRow, ...EXACT, bytes: 4, aliases: ["nsp"] }),
  row("nsh_si", 8, "decimal", [nsh(5, "NXOXM_NSH_SI")], { ...nshRow, ...EXACT, aliases: ["nsi"] }),
  row("nsh_c1", 32, "hex", [nsh(6, "NXOXM_NSH_C1")], { ...nshRow, aliases: ["nshc1"] }),
  row("nsh_c2", 32, "hex", [nsh(7, "NXOXM_NSH_C2")], { ...nshRow, aliases: ["nshc2"] }),
  row("nsh_c3", 32, "hex", [nsh(8, "NXOXM_NSH_C3")], { ...nshRow, aliases: ["nshc3"] }),
  row("nsh_c4", 32, "hex", [nsh(9, "NXOXM_NSH_C4")], { ...nshRow, aliases: ["nshc4"] }),
] as const;

/** The primary name of a field. */
export type FieldName = (typeof rows)[number]["name"];

/** All fields, in table order. */
export const fields: readonly FieldDef<FieldName>[] = rows.map((r, i) => defineField<FieldName>(r, i));

const byName = new Map<string, FieldDef<FieldName>>(fields.flatMap((f) => [f.name, ...f.aliases].map((n) => [n, f])));

/** What a code point's name or number leads to. */
export interface CodePoint {
  readonly field: FieldDef<FieldName>;
  readonly header: FieldDef["nxm"];
}

const points: readonly CodePoint[] = fields.flatMap((field) => field.headers.map((header) => ({ field, header })));
const byText = new Map(points.map((p) => [p.header.text, p]));
const byNumber = new Map(points.map((p) => [keyOf(p.header.oxmClass, p.header.number, p.header.experimenter), p]));

/** Exact in a double: class and field take 23 bits, an experimenter id 32. */
function keyOf(oxmClass: number, number: number, experimenter: number | undefined): number {
  const key = oxmClass * 0x80 + number;
  return experimenter === undefined ? key : key + (experimenter + 1) * 0x80_0000;
}

/** A field by its name or an alias of ovs-fields(7): `ip_src`, `nw_src`. */
export const fieldByName = (name: string): FieldDef<FieldName> | undefined => byName.get(name);

/** A field by a code point: class and number, and the experimenter in class 0xffff. */
export const fieldByNumber = (
  oxmClass: number,
  number: number,
  experimenter?: number,
): FieldDef<FieldName> | undefined => byNumber.get(keyOf(oxmClass, number, experimenter))?.field;

/** A code point by the name it has in subfields and OXM text, for instance `NXM_NX_REG0`. */
export const codePointByText = (text: string): CodePoint | undefined => byText.get(text);
