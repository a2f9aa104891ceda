/**
 * What a match says about a packet, the way Open vSwitch keeps it: fields that describe the same bits of a packet
 * share a place. `reg0` and `xreg0`, `vlan_tci` and `vlan_vid`, `nw_tos` and `ip_dscp`, `tcp_src` and `icmp_type` are
 * such. Canonical order, duplicate checks, prerequisites and text all follow from this view.
 */
import { type FieldDef, type FieldName, type FieldValue, fieldByName } from "./fields.ts";
import type { Match } from "./match.ts";
import type { OxmField, RawOxm } from "./oxm.ts";

/** A place with what is known of it. `mask` has a 1 where the bit is known. */
export interface Place {
  /** The field that names the place: the first of those that share it, or the one that was written. */
  readonly slot: FieldName;
  /** The field that was written last. */
  readonly def: FieldDef<FieldName>;
  readonly value: FieldValue;
  readonly mask: FieldValue;
}

export interface FlowKey {
  readonly places: Map<FieldName, Place>;
  readonly raws: RawOxm[];
}

/** A run of a field's bits and where they are kept. */
interface Part {
  readonly slot: FieldName;
  /** Bits of the field below this run. */
  readonly from: number;
  /** Bits of the place below it. */
  readonly to: number;
  /** Bits of the place that this field is about. */
  readonly keep: FieldValue;
}

const def = (name: FieldName): FieldDef<FieldName> => fieldByName(name) as FieldDef<FieldName>;

const shared: Partial<Record<FieldName, Omit<Part, "from">>> = {
  in_port_oxm: { slot: "in_port", to: 0, keep: 0xffff_ffff },
  in_port: { slot: "in_port", to: 0, keep: 0xffff_ffff },
  vlan_vid: { slot: "vlan_tci", to: 0, keep: 0x1fff },
  vlan_pcp: { slot: "vlan_tci", to: 13, keep: 0xe000 },
  nw_tos: { slot: "nw_tos", to: 0, keep: 0xfc },
  ip_dscp: { slot: "nw_tos", to: 2, keep: 0xfc },
  nw_ecn: { slot: "nw_tos", to: 0, keep: 0x03 },
  arp_op: { slot: "nw_proto", to: 0, keep: 0xff },
  arp_spa: { slot: "ip_src", to: 0, keep: 0xffff_ffff },
  arp_tpa: { slot: "ip_dst", to: 0, keep: 0xffff_ffff },
  nd_sll: { slot: "arp_sha", to: 0, keep: 0xffff_ffff_ffff },
  nd_tll: { slot: "arp_tha", to: 0, keep: 0xffff_ffff_ffff },
  nd_options_type: { slot: "tcp_flags", to: 0, keep: 0xff },
  // Bits beyond these exist on the wire only.
  ct_state: { slot: "ct_state", to: 0, keep: 0xff },
  tun_flags: { slot: "tun_flags", to: 0, keep: 0x1 },
  ip_frag: { slot: "ip_frag", to: 0, keep: 0x3 },
};
for (const name of ["udp_src", "sctp_src", "icmp_type", "icmpv6_type"] as const) {
  shared[name] = { slot: "tcp_src", to: 0, keep: name.startsWith("icmp") ? 0xff : 0xffff };
}
for (const name of ["udp_dst", "sctp_dst", "icmp_code", "icmpv6_code"] as const) {
  shared[name] = { slot: "tcp_dst", to: 0, keep: name.startsWith("icmp") ? 0xff : 0xffff };
}

/** Ports are kept as OpenFlow 1.1 and later number them. */
const PORT_MASK = 0xffff_ffff;

/** Fields whose mask Open vSwitch replaces by their value, so that zero bits cannot be matched. */
const VALUE_IS_MASK: ReadonlySet<FieldName> = new Set([
  "tun_erspan_ver",
  "tun_erspan_dir",
  "tun_erspan_hwid",
  "tun_gtpu_flags",
  "tun_gtpu_msgtype",
]);

const registers = (first: number, count: number): Part[] =>
  Array.from({ length: count }, (_, i) => ({
    slot: `reg${first + i}` as FieldName,
    from: 32 * (count - 1 - i),
    to: 0,
    keep: 0xffff_ffff,
  }));

const partsByName = new Map<FieldName, readonly Part[]>();

/** Where a field's bits are kept. */
export function partsOf(field: FieldDef<FieldName>): readonly Part[] {
  const { name } = field;
  const known = partsByName.get(name);
  if (known) return known;
  const wide = /^(x{1,2})reg(\d+)$/.exec(name);
  const count = wide?.[1] === "x" ? 2 : 4;
  const part = shared[name];
  const parts = wide
    ? registers(Number(wide[2]) * count, count)
    : [part ? { ...part, from: 0 } : { slot: name, from: 0, to: 0, keep: field.full }];
  partsByName.set(name, parts);
  return parts;
}

/** Bitwise operators that work on either kind of value; numbers go up to 48 bits, beyond JavaScript's own operators. */
export function and(a: FieldValue, b: FieldValue): FieldValue {
  if (typeof a === "number" && typeof b === "number") {
    if (a <= 0xffff_ffff && b <= 0xffff_ffff) return (a & b) >>> 0;
    return Number(BigInt(a) & BigInt(b));
  }
  return BigInt(a) & BigInt(b);
}

function or(a: FieldValue, b: FieldValue): FieldValue {
  if (typeof a === "number" && typeof b === "number") {
    if (a <= 0xffff_ffff && b <= 0xffff_ffff) return (a | b) >>> 0;
    return Number(BigInt(a) | BigInt(b));
  }
  return BigInt(a) | BigInt(b);
}

/** The bits of `value` that go to `part`, in place. */
function cut(value: FieldValue, part: Part, field: FieldDef): FieldValue {
  if (part.from === 0 && part.to === 0 && !field.big) return and(value, part.keep);
  if (!field.big) return and(Number(value) << part.to, part.keep);
  if (typeof part.keep === "bigint") return BigInt(value) & part.keep;
  return Number((BigInt(value) >> BigInt(part.from)) & BigInt(part.keep));
}

export const emptyKey = (): FlowKey => ({ places: new Map(), raws: [] });

/** What is known of a place; zero under a zero mask when nothing is. */
export const valueAt = (key: FlowKey, slot: FieldName): number => Number(key.places.get(slot)?.value ?? 0);
export const maskAt = (key: FlowKey, slot: FieldName): number => Number(key.places.get(slot)?.mask ?? 0);

/** Whether any bit of the field is known already, which makes naming it again OFPBMC_DUP_FIELD. */
export function isSet(key: FlowKey, field: FieldDef<FieldName>): boolean {
  return partsOf(field).some((part) => {
    const place = key.places.get(part.slot);
    return place !== undefined && (field.variable || and(place.mask, part.keep) !== zero(place.mask));
  });
}

const zero = (like: FieldValue): FieldValue => (typeof like === "bigint" ? 0n : 0);

/** Adds what `f` says. Fields that only an Ethernet frame has make the packet type Ethernet. */
export function apply(key: FlowKey, field: FieldDef<FieldName>, f: OxmField): void {
  const mask = f.mask ?? (field.name === "in_port" ? PORT_MASK : field.full);
  if (field.prerequisite !== "none" && !key.places.has("packet_type")) {
    key.places.set("packet_type", { slot: "packet_type", def: packetType, value: 0, mask: packetType.full });
  }
  for (const part of partsOf(field)) {
    let partMask = cut(mask, part, field);
    if (partMask === zero(partMask) && !field.variable) continue;
    let value = and(cut(f.value, part, field), partMask);
    if (field.name === "ipv6_label" && (Number(partMask) & FLOW_LABEL) === FLOW_LABEL) partMask = field.full;
    if (VALUE_IS_MASK.has(field.name)) partMask = value;
    // A priority exists only within a tag.
    if (field.name === "vlan_pcp") {
      value = or(value, VLAN_CFI);
      partMask = or(partMask, VLAN_CFI);
    }
    if (partMask === 0) continue;
    const old = key.places.get(part.slot);
    // A wide register is known by its parts.
    const as = field.big && !def(part.slot).big ? def(part.slot) : field;
    key.places.set(part.slot, {
      slot: part.slot,
      def: as,
      value: old ? or(and(old.value, without(old.value, partMask)), value) : value,
      mask: old ? or(old.mask, partMask) : partMask,
    });
  }
}

/** The 20 bits of a flow label. A mask that covers them covers the field. */
const FLOW_LABEL = 0xf_ffff;
/** The bit of a VLAN tag that says there is one. */
export const VLAN_CFI = 0x1000;
const packetType = def("packet_type");

/** The bits of `value` outside `mask`. */
function without(value: FieldValue, mask: FieldValue): FieldValue {
  if (typeof value === "bigint" || typeof mask === "bigint") return BigInt(value) & ~BigInt(mask);
  return Number(BigInt(value) & ~BigInt(mask));
}

/** The key of a match, without any check: the last word on a bit counts. */
export function flowKey(match: Match): FlowKey {
  const key = emptyKey();
  for (const f of match) {
    if (f.field === "raw") key.raws.push(f as RawOxm);
    else {
      const field = fieldByName(f.field);
      if (field) apply(key, field, f as OxmField);
    }
  }
  return key;
}
