import { type FieldDef, type FieldName, type FieldValue, fieldByName, fields } from "./fields.ts";
import { and, type FlowKey, flowKey, type Place, partsOf, valueAt } from "./flow-key.ts";
import type { Match } from "./match.ts";
import type { OxmField } from "./oxm.ts";
import { EtherType, etherType, IpProto, isArp, isIp } from "./prerequisites.ts";

const numbered = (prefix: string, count: number): FieldName[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}` as FieldName);

/** The order in which Open vSwitch writes fields. */
const WIRE_ORDER: readonly FieldName[] = [
  ...(["packet_type", "dp_hash", "recirc_id", "conj_id", "in_port", "actset_output"] as const),
  ...(["eth_src", "eth_dst", "eth_type", "vlan_tci", "vlan_vid", "vlan_pcp"] as const),
  ...(["mpls_tc", "mpls_bos", "mpls_ttl", "mpls_label"] as const),
  ...(["arp_op", "ip_src", "arp_spa", "ip_dst", "arp_tpa", "ipv6_src", "ipv6_dst", "ip_frag"] as const),
  ...(["nw_tos", "ip_dscp", "nw_ecn", "nw_ttl", "ipv6_label", "nw_proto"] as const),
  ...(["tcp_src", "tcp_dst", "tcp_flags", "udp_src", "udp_dst", "sctp_src", "sctp_dst"] as const),
  ...(["icmp_type", "icmp_code", "icmpv6_type", "icmpv6_code"] as const),
  ...(["nd_reserved", "nd_target", "nd_options_type", "nd_sll", "nd_tll", "arp_sha", "arp_tha"] as const),
  ...(["tun_id", "tun_flags", "tun_src", "tun_dst", "tun_ipv6_src", "tun_ipv6_dst"] as const),
  ...(["tun_gbp_id", "tun_gbp_flags"] as const),
  ...numbered("tun_metadata", 64),
  ...(["tun_erspan_idx", "tun_erspan_ver", "tun_erspan_dir", "tun_erspan_hwid"] as const),
  ...(["tun_gtpu_flags", "tun_gtpu_msgtype"] as const),
  ...(["nsh_flags", "nsh_ttl", "nsh_mdtype", "nsh_np", "nsh_spi", "nsh_si"] as const),
  ...(["nsh_c1", "nsh_c2", "nsh_c3", "nsh_c4"] as const),
  ...numbered("reg", 16),
  ...(["pkt_mark", "ct_state", "ct_zone", "ct_mark", "ct_label"] as const),
  ...(["ct_nw_src", "ct_ipv6_src", "ct_nw_dst", "ct_ipv6_dst", "ct_nw_proto", "ct_tp_src", "ct_tp_dst"] as const),
  "metadata",
];

const rank = new Array<number>(fields.length).fill(0);
WIRE_ORDER.forEach((name, i) => {
  const def = fieldByName(name);
  if (def) rank[def.index] = i;
});

const def = (name: FieldName): FieldDef<FieldName> => fieldByName(name) as FieldDef<FieldName>;

/** The field a place is written as, given the protocols the match names. */
export function fieldAt(key: FlowKey, place: Place): FieldDef<FieldName> {
  switch (place.slot) {
    case "in_port":
      return def("in_port");
    case "ip_src":
      return isArp(key) ? def("arp_spa") : isIp(key) ? def("ip_src") : place.def;
    case "ip_dst":
      return isArp(key) ? def("arp_tpa") : isIp(key) ? def("ip_dst") : place.def;
    case "nw_proto":
      return isArp(key) ? def("arp_op") : isIp(key) ? def("nw_proto") : place.def;
    case "arp_sha":
      return isArp(key) ? def("arp_sha") : isIp(key) ? def("nd_sll") : place.def;
    case "arp_tha":
      return isArp(key) ? def("arp_tha") : isIp(key) ? def("nd_tll") : place.def;
    case "tcp_src":
      return def(portFields(key)?.[0] ?? place.def.name);
    case "tcp_dst":
      return def(portFields(key)?.[1] ?? place.def.name);
    case "tcp_flags":
      return isIp(key) && valueAt(key, "nw_proto") === IpProto.icmpv6 ? def("nd_options_type") : place.def;
    default:
      return place.def;
  }
}

/** What a layer-4 protocol's first two numbers are called. */
function portFields(key: FlowKey): readonly [FieldName, FieldName] | undefined {
  if (!isIp(key)) return undefined;
  switch (valueAt(key, "nw_proto")) {
    case IpProto.tcp:
      return ["tcp_src", "tcp_dst"];
    case IpProto.udp:
      return ["udp_src", "udp_dst"];
    case IpProto.sctp:
      return ["sctp_src", "sctp_dst"];
    case IpProto.icmp:
      return etherType(key) === EtherType.ipv4 ? ["icmp_type", "icmp_code"] : undefined;
    case IpProto.icmpv6:
      return etherType(key) === EtherType.ipv6 ? ["icmpv6_type", "icmpv6_code"] : undefined;
    default:
      return undefined;
  }
}

/** Fields that go with a mask even when every bit with a meaning is known. */
const ALWAYS_MASKED: ReadonlySet<FieldName> = new Set(["ct_state", "tun_flags"]);

function plain(field: FieldDef<FieldName>, value: FieldValue, mask: FieldValue): OxmField {
  // ICMP's numbers are bytes in a place made for ports.
  if (!field.maskable) return { field: field.name, value: and(value, field.full) };
  const covers = mask === (partsOf(field)[0]?.keep ?? field.full);
  const exact = covers && !ALWAYS_MASKED.has(field.name);
  return exact ? { field: field.name, value } : { field: field.name, value, mask };
}

/** VLANs in NXM are one field; in OXM the priority is one of its own, and needs a tag to be known. */
function vlan(place: Place, form: OxmForm, out: OxmField[]): void {
  const value = Number(place.value);
  const mask = Number(place.mask);
  if (form === "nxm") {
    out.push(plain(def("vlan_tci"), value, mask));
    return;
  }
  const vid = value & VID_BITS;
  const vidMask = mask & VID_BITS;
  if (vidMask === VID_BITS) out.push({ field: "vlan_vid", value: vid });
  else if (vidMask !== 0) out.push({ field: "vlan_vid", value: vid, mask: vidMask });
  if (vid !== 0 && mask >> PCP_SHIFT !== 0) out.push({ field: "vlan_pcp", value: value >> PCP_SHIFT });
}

/** VID and the bit that says there is a tag. */
const VID_BITS = 0x1fff;
const PCP_SHIFT = 13;

function tos(place: Place, form: OxmForm, out: OxmField[]): void {
  const value = Number(place.value);
  const mask = Number(place.mask);
  if ((mask & 0xfc) !== 0) {
    out.push(form === "nxm" ? { field: "nw_tos", value: value & 0xfc } : { field: "ip_dscp", value: value >> 2 });
  }
  if ((mask & 0x03) !== 0) out.push({ field: "nw_ecn", value: value & 0x03 });
}

/** OXM as OpenFlow 1.3 has it, or Nicira's NXM. */
export type OxmForm = "oxm" | "nxm";

/**
 * The match as Open vSwitch writes it back: its order of fields, values without the bits outside their masks, no mask
 * where it covers the whole field, no field where it covers nothing, wide registers as 32-bit ones, VLAN and ToS in the
 * form's own fields. Two matches that mean the same have one canonical form. Unknown fields stay, at the end.
 */
export function canonicalMatch(match: Match, form: OxmForm = "oxm"): Match {
  return matchOfKey(flowKey(match), form);
}

/** The canonical match that says what `key` says. */
export function matchOfKey(key: FlowKey, form: OxmForm = "oxm"): Match {
  const found: { readonly at: number; readonly place: Place; readonly field: FieldDef<FieldName> }[] = [];
  for (const place of key.places.values()) {
    if (place.slot === "packet_type" && place.value === 0) continue;
    // Ports of a connection mean nothing without its protocol, and neither does protocol 0.
    if (CT_L4.has(place.slot) && valueAt(key, "ct_nw_proto") === 0) continue;
    const field = fieldAt(key, place);
    found.push({ at: rank[field.index] as number, place, field });
  }
  found.sort((a, b) => a.at - b.at);
  const out: OxmField[] = [];
  for (const { place, field } of found) {
    if (place.slot === "vlan_tci") vlan(place, form, out);
    else if (place.slot === "nw_tos") tos(place, form, out);
    else if (place.slot === "in_port") out.push({ field: "in_port", value: place.value });
    else out.push(plain(field, place.value, place.mask));
  }
  const ethernet = key.places.get("packet_type")?.value === 0;
  if (ethernet && !out.some((f) => def(f.field as FieldName).prerequisite !== "none")) {
    out.unshift({ field: "packet_type", value: 0 });
  }
  return key.raws.length > 0 ? [...out, ...key.raws] : out;
}

const CT_L4: ReadonlySet<FieldName> = new Set(["ct_nw_proto", "ct_tp_src", "ct_tp_dst"]);
