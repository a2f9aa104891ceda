/**
 * Whether actions suit the packets that a flow matches, as Open vSwitch 3.1 judges it: a prerequisite that neither the
 * match nor an action before it gives is OFPBAC_MATCH_INCONSISTENT.
 */
import type { Action } from "./action-values.ts";
import type { Learn } from "./action-values-nx.ts";
import { DecodeError } from "./errors.ts";
import { type FieldName, fieldByName } from "./fields.ts";
import { apply, emptyKey, type FlowKey, flowKey, VLAN_CFI, valueAt } from "./flow-key.ts";
import type { Instruction } from "./instruction-values.ts";
import type { Match } from "./match.ts";
import { EtherType, etherType, IpProto, isIp, prerequisiteMet } from "./prerequisites.ts";
import { definition, type Subfield } from "./subfield.ts";

const refuse = (code: string, detail: string): DecodeError => new DecodeError(code, 0, detail);
const inconsistent = (detail: string): DecodeError => refuse("OFPBAC_MATCH_INCONSISTENT", detail);

/** Tags that a packet may have in Open vSwitch. */
const MOST_TAGS = 2;
const PACKET_TYPE_UNKNOWN = 0xffff_ffff;
const NSH = 0x0001_894f;
const FRAG_LATER = 2;
const CT_INVALID = 0x10;
const FTP = 21;
const TFTP = 69;
const MOST_METERS = 0xffff_0000;

/** What is known of the packet where an action runs. */
interface Packet {
  readonly key: FlowKey;
  tags: number;
  /** Set by what Open vSwitch minds only once all hard errors have had their turn. */
  soft: DecodeError | undefined;
}

function know(p: Packet, field: FieldName, value: number): void {
  const def = definition(field);
  p.key.places.set(field, { slot: field, def, value, mask: def.full });
}

const isMpls = (key: FlowKey): boolean => {
  const type = etherType(key);
  return type === EtherType.mpls || type === EtherType.mplsMcast;
};
const packetType = (key: FlowKey): number => valueAt(key, "packet_type");
const proto = (key: FlowKey): number => valueAt(key, "nw_proto");

function want(p: Packet, ok: boolean, what: string): undefined {
  if (!ok) p.soft ??= inconsistent(what);
  return undefined;
}

const bits = (p: Packet, s: Subfield): DecodeError | undefined => {
  const def = fieldByName(s.field);
  return def && prerequisiteMet(p.key, def) ? undefined : inconsistent(`${s.field} lacks its prerequisites`);
};

function tag(p: Packet, tags: number): void {
  p.tags = tags;
  know(p, "vlan_tci", tags > 0 ? VLAN_CFI : 0);
}

function checkLearn(p: Packet, v: Learn): DecodeError | undefined {
  // The learned flow's own match grows with its constants, which are the prerequisites of what follows.
  const learned: Packet = { key: emptyKey(), tags: 0, soft: undefined };
  for (const spec of v.specs) {
    const bad =
      (typeof spec.src === "bigint" ? undefined : (bits(p, spec.src) ?? widths(spec.src))) ??
      (spec.kind === "output" ? undefined : (bits(learned, spec.dst) ?? widths(spec.dst, spec.kind === "load")));
    if (bad) return bad;
    if (spec.kind === "match") {
      const def = definition(spec.dst.field);
      const value = typeof spec.src === "bigint" ? spec.src << BigInt(spec.dst.ofs) : 0n;
      const mask = ((1n << BigInt(spec.dst.nBits)) - 1n) << BigInt(spec.dst.ofs);
      const as = (n: bigint) => (def.big ? n : Number(n));
      apply(learned.key, def, { field: def.name, value: as(value), mask: as(mask) });
    }
  }
  return undefined;
}

function widths(s: Subfield, written = false): DecodeError | undefined {
  const def = definition(s.field);
  if (s.nBits === 0 || s.ofs + s.nBits > def.bits) return refuse("OFPBAC_BAD_SET_LEN", `bits of ${s.field}`);
  return written && !def.writable ? refuse("OFPBAC_BAD_SET_ARGUMENT", `${s.field} is read-only`) : undefined;
}

function checkSet(p: Packet, field: FieldName, value: bigint): DecodeError | undefined {
  const bad = bits(p, { field, ofs: 0, nBits: 1 });
  if (bad || (field === "vlan_vid" && p.tags === 0)) return bad ?? inconsistent("vlan_vid without a tag");
  if (field === "vlan_tci") tag(p, (value & BigInt(VLAN_CFI)) !== 0n ? Math.max(p.tags, 1) : 0);
  return undefined;
}

function checkOne(p: Packet, a: Action): DecodeError | undefined {
  const { key } = p;
  switch (a.kind) {
    case "output_reg":
    case "push":
      return bits(p, a.src);
    case "pop":
    case "multipath":
      return bits(p, a.dst);
    case "load":
      return checkSet(p, a.dst.field, a.value << BigInt(a.dst.ofs));
    case "bundle":
      return a.dst && bits(p, a.dst);
    case "move":
      return bits(p, a.src) ?? bits(p, a.dst);
    case "set_field":
      return checkSet(p, a.field, BigInt(a.value));
    case "set_vlan_vid":
    case "set_vlan_pcp":
      want(p, p.tags > 0, `${a.kind} without a tag`);
      return void tag(p, Math.max(p.tags, 1));
    case "pop_vlan":
      want(p, p.tags > 0, "pop_vlan without a tag");
      return void tag(p, Math.max(p.tags - 1, 0));
    case "push_vlan":
      if (p.tags >= MOST_TAGS) return refuse("OFPBAC_BAD_TAG", `more than ${MOST_TAGS} tags`);
      return void tag(p, p.tags + 1);
    case "mod_nw_src":
    case "mod_nw_dst":
      return want(p, etherType(key) === EtherType.ipv4, `${a.kind} of what is not IPv4`);
    case "mod_nw_tos":
    case "mod_nw_ecn":
    case "mod_nw_ttl":
    case "dec_ttl":
      return want(p, isIp(key), `${a.kind} of what is not IP`);
    case "mod_tp_src":
    case "mod_tp_dst": {
      const ports = [IpProto.tcp, IpProto.udp, IpProto.sctp].includes(proto(key) as 6);
      const first = (valueAt(key, "ip_frag") & FRAG_LATER) === 0;
      return want(p, isIp(key) && first && ports, `${a.kind} of what has no ports`);
    }
    case "set_mpls_label":
    case "set_mpls_tc":
    case "set_mpls_ttl":
    case "dec_mpls_ttl":
      return want(p, isMpls(key), `${a.kind} of what is not MPLS`);
    case "push_mpls":
      want(p, packetType(key) === 0, "push_mpls on what is no Ethernet frame");
      know(p, "eth_type", a.etherType);
      return void know(p, "nw_proto", 0);
    case "pop_mpls":
      want(p, packetType(key) === 0 && isMpls(key), "pop_mpls of what is not MPLS");
      return void know(p, "eth_type", a.etherType);
    case "fin_timeout":
      return want(p, proto(key) === IpProto.tcp, "fin_timeout of what is not TCP");
    case "dec_nsh_ttl":
      return want(p, packetType(key) === NSH || valueAt(key, "eth_type") === EtherType.nsh, "dec_nsh_ttl without NSH");
    case "encap":
      know(p, "packet_type", a.packetType);
      if (a.packetType >>> 16 === 1) know(p, "eth_type", a.packetType & 0xffff);
      if (!isIp(key)) know(p, "nw_proto", 0);
      return undefined;
    case "decap":
      if (packetType(key) === 0) return void know(p, "packet_type", 0x1_0000 + valueAt(key, "eth_type"));
      know(p, "packet_type", PACKET_TYPE_UNKNOWN);
      return void know(p, "eth_type", 0xffff);
    case "resubmit":
      return a.ct && !prerequisiteMet(key, definition("ct_nw_proto"))
        ? inconsistent("resubmit with ct wants a tracked connection")
        : undefined;
    case "learn":
      return checkLearn(p, a);
    case "ct": {
      const invalid = (valueAt(key, "ct_state") & CT_INVALID) !== 0 && a.commit;
      const helped = (a.alg === FTP && proto(key) !== IpProto.tcp) || (a.alg === TFTP && proto(key) !== IpProto.udp);
      if (!isIp(key) || invalid || helped) return inconsistent("ct does not suit the match");
      return typeof a.zone === "number" ? checkNested(p, a.actions) : bits(p, a.zone);
    }
    case "nat": {
      const type = etherType(key);
      const family = a.address === undefined ? type : typeof a.address === "number" ? EtherType.ipv4 : EtherType.ipv6;
      return isIp(key) && type === family ? undefined : inconsistent("nat does not suit the match");
    }
    case "clone":
      return checkNested(p, a.actions);
    case "delete_field":
      return definition(a.field).variable ? undefined : refuse("OFPBAC_BAD_ARGUMENT", `${a.field} cannot be deleted`);
    default:
      return undefined;
  }
}

/** What a nested list changes ends with it. */
function checkNested(p: Packet, list: readonly Action[], forgiving = false): DecodeError | undefined {
  const inner: Packet = { key: { places: new Map(p.key.places), raws: p.key.raws }, tags: p.tags, soft: undefined };
  const bad = checkAll(inner, list);
  if (!forgiving) p.soft ??= inner.soft;
  return bad;
}

function checkAll(p: Packet, list: readonly Action[]): DecodeError | undefined {
  for (const a of list) {
    const bad = checkOne(p, a);
    if (bad) return bad;
  }
  return undefined;
}

function packetOf(match: Match): Packet {
  const key = flowKey(match);
  return { key, tags: (valueAt(key, "vlan_tci") & VLAN_CFI) !== 0 ? 1 : 0, soft: undefined };
}

/** Checks instructions, in the order in which they run, against the match of their flow. */
export function checkContext(
  list: readonly Instruction[],
  match: Match,
  tableId: number | undefined,
): DecodeError | undefined {
  const p = packetOf(match);
  for (const i of list) {
    let bad: DecodeError | undefined;
    if (i.kind === "apply_actions") bad = checkAll(p, i.actions);
    // An action set runs later, on who knows what: only hard errors count.
    else if (i.kind === "write_actions") bad = checkNested(p, i.actions, true);
    else if (i.kind === "meter" && (i.meterId === 0 || i.meterId > MOST_METERS)) {
      bad = refuse("OFPMMFC_INVALID_METER", `no meter ${i.meterId}`);
    } else if (i.kind === "goto_table" && tableId !== undefined && i.tableId <= tableId) {
      bad = refuse("OFPBIC_BAD_TABLE_ID", `table ${i.tableId} from table ${tableId}`);
    }
    if (bad) return bad;
  }
  return p.soft;
}
