/**
 * OpenFlow 1.1's match of fixed layout (`OFPMT_STANDARD`), deprecated in OpenFlow 1.3 (OF1.3.5 §7.2.3.1) and still
 * accepted by Open vSwitch. It is only read; what is written is always OXM.
 */
import { matchOfKey } from "./canonical.ts";
import { DecodeError } from "./errors.ts";
import { type FieldDef, type FieldName, fieldByName } from "./fields.ts";
import { apply, emptyKey, type FlowKey } from "./flow-key.ts";
import type { Match } from "./match.ts";
import { EtherType, etherType, IpProto, isArp } from "./prerequisites.ts";

export const STANDARD_SIZE = 88;

/** Bits of the wildcards word: a 1 means that the field is not matched. */
const Wildcard = {
  inPort: 1 << 0,
  vlan: 1 << 1,
  vlanPcp: 1 << 2,
  ethType: 1 << 3,
  tos: 1 << 4,
  proto: 1 << 5,
  tpSrc: 1 << 6,
  tpDst: 1 << 7,
  mplsLabel: 1 << 8,
  mplsTc: 1 << 9,
} as const;

/** VLAN ids that are none: any tag at all, and no tag. */
const VLAN_ANY = 0xfffe;
const VLAN_NONE = 0xffff;
const VLAN_CFI = 0x1000;

const add = (key: FlowKey, name: FieldName, value: number | bigint, mask?: number | bigint): void => {
  const field = fieldByName(name) as FieldDef<FieldName>;
  apply(key, field, mask === undefined ? { field: name, value } : { field: name, value, mask });
};

const bad = (code: string, at: number, detail: string): DecodeError => new DecodeError(code, at, detail);

/**
 * Reads the match whose bytes after type and length are `body`.
 * @param header bytes before `body`, for the offsets in errors
 * @throws DecodeError where Open vSwitch refuses it
 */
export function readStandardMatch(body: Buffer, header: number): Match {
  const b = Buffer.concat([Buffer.alloc(header), body]);
  const key = emptyKey();
  const wild = b.readUInt32BE(8);
  const has = (bit: number): boolean => (wild & bit) === 0;
  if (has(Wildcard.inPort)) {
    const port = b.readUInt32BE(4);
    if (port >= 0xff00 && port < 0xffff_ff00) throw bad("OFPBMC_BAD_VALUE", 4, `no port ${port}`);
    add(key, "in_port_oxm", port);
  }
  // Masks are the other way round here: a 1 is a bit that does not matter.
  const mac = (name: FieldName, at: number): void =>
    add(key, name, b.readUIntBE(at, 6), 0xffff_ffff_ffff - b.readUIntBE(at + 6, 6));
  mac("eth_src", 12);
  mac("eth_dst", 24);
  if (has(Wildcard.vlan)) readVlan(b, key, has(Wildcard.vlanPcp));
  if (has(Wildcard.ethType)) add(key, "eth_type", b.readUInt16BE(40));
  readNetwork(b, key, has);
  const type = etherType(key);
  if (type === EtherType.mpls || type === EtherType.mplsMcast) {
    if (has(Wildcard.mplsLabel)) add(key, "mpls_label", b.readUInt32BE(64) & 0xf_ffff);
    if (has(Wildcard.mplsTc)) add(key, "mpls_tc", (b[68] as number) & 7);
  }
  add(key, "metadata", b.readBigUInt64BE(72), 0xffff_ffff_ffff_ffffn ^ b.readBigUInt64BE(80));
  // In NXM's fields: OXM's cannot say that a whole tag is absent.
  return matchOfKey(key, "nxm");
}

function readVlan(b: Buffer, key: FlowKey, hasPcp: boolean): void {
  const id = b.readUInt16BE(36);
  if (id === VLAN_NONE) {
    add(key, "vlan_tci", 0);
    return;
  }
  if (id === VLAN_ANY) add(key, "vlan_vid", VLAN_CFI, VLAN_CFI);
  else if (id >= VLAN_CFI) throw bad("OFPBMC_BAD_VALUE", 36, `no VLAN ${id}`);
  else add(key, "vlan_vid", id | VLAN_CFI);
  if (hasPcp) add(key, "vlan_pcp", (b[38] as number) & 7);
}

function readNetwork(b: Buffer, key: FlowKey, has: (bit: number) => boolean): void {
  const arp = isArp(key);
  // OpenFlow 1.1 knows no IPv6 beyond its EtherType.
  const ip = etherType(key) === EtherType.ipv4;
  if (ip && has(Wildcard.tos)) {
    const tos = b[42] as number;
    if ((tos & 3) !== 0) throw bad("OFPBMC_BAD_VALUE", 42, `ToS ${tos}`);
    add(key, "nw_tos", tos);
  }
  if ((ip || arp) && has(Wildcard.proto)) add(key, arp ? "arp_op" : "nw_proto", b[43] as number);
  if (arp || ip) {
    const address = (name: FieldName, at: number): void =>
      add(key, name, b.readUInt32BE(at), 0xffff_ffff - b.readUInt32BE(at + 4));
    address(arp ? "arp_spa" : "ip_src", 44);
    address(arp ? "arp_tpa" : "ip_dst", 52);
  }
  if (ip && has(Wildcard.proto)) readPorts(b, key, has);
}

const PORTS: ReadonlyMap<number, readonly [FieldName, FieldName]> = new Map([
  [IpProto.tcp, ["tcp_src", "tcp_dst"]],
  [IpProto.udp, ["udp_src", "udp_dst"]],
  [IpProto.sctp, ["sctp_src", "sctp_dst"]],
  [IpProto.icmp, ["icmp_type", "icmp_code"]],
]);

function readPorts(b: Buffer, key: FlowKey, has: (bit: number) => boolean): void {
  const pair = PORTS.get(b[43] as number);
  [has(Wildcard.tpSrc), has(Wildcard.tpDst)].forEach((given, i) => {
    if (!given) return;
    const at = 60 + 2 * i;
    const name = pair?.[i];
    if (!name) return;
    const value = b.readUInt16BE(at);
    if (value > ((fieldByName(name) as FieldDef).full as number)) throw bad("OFPBMC_BAD_FIELD", at, `${name} ${value}`);
    add(key, name, value);
  });
}
