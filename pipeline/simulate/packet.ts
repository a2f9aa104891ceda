/**
 * A packet on its way through the tables, the way Open vSwitch sees it: header fields, registers and connection state side
 * by side. Fields that describe the same bits share a place (flow-key.ts), so `arp_spa` and `ip_src`, `reg0` and `xreg0`
 * agree without further care.
 */
import { canonicalMatch } from "../../openflow/canonical.ts";
import { type FieldDef, type FieldName, type FieldValue, fieldByName } from "../../openflow/fields.ts";
import { flowKey, partsOf } from "../../openflow/flow-key.ts";
import type { Match, OxmField } from "../../openflow/match.ts";
import type { Subfield } from "../../openflow/subfield.ts";

/** Fields of a packet by name; those that are left out are zero. */
export type PacketFields = { readonly [F in FieldName]?: FieldValue };

/** Everything that tables may match of one packet; places that are zero need not be there. */
export type PacketState = Map<FieldName, bigint>;

const definition = (name: FieldName): FieldDef<FieldName> => fieldByName(name) as FieldDef<FieldName>;

/** A field's value; 0 where the packet has no such header. */
export const readField = (state: PacketState, name: FieldName): bigint => {
  let value = 0n;
  for (const part of partsOf(definition(name))) {
    const kept = (state.get(part.slot) ?? 0n) & BigInt(part.keep);
    value |= (kept >> BigInt(part.to)) << BigInt(part.from);
  }
  return value;
};

/** Writes a whole field and nothing beside it. */
export const writeField = (state: PacketState, name: FieldName, value: bigint): void => {
  for (const part of partsOf(definition(name))) {
    const keep = BigInt(part.keep);
    const old = state.get(part.slot) ?? 0n;
    state.set(part.slot, (old & ~keep) | (((value >> BigInt(part.from)) << BigInt(part.to)) & keep));
  }
};

const ones = (bits: number): bigint => (1n << BigInt(bits)) - 1n;

/** Bits of a field, moved down to bit 0. */
export const readBits = (state: PacketState, { field, ofs, nBits }: Subfield): bigint =>
  (readField(state, field) >> BigInt(ofs)) & ones(nBits);

/** Writes bits of a field; what does not fit is cut off, as a switch does. */
export const writeBits = (state: PacketState, { field, ofs, nBits }: Subfield, value: bigint): void => {
  const mask = ones(nBits) << BigInt(ofs);
  const old = readField(state, field);
  writeField(state, field, (old & ~mask) | ((value << BigInt(ofs)) & mask));
};

/** The state in which a packet with these fields enters table 0. */
export const stateOf = (fields: PacketFields): PacketState => {
  const state: PacketState = new Map();
  for (const [name, value] of Object.entries(fields)) writeField(state, name as FieldName, BigInt(value));
  return state;
};

/** Places that are no header and mean nothing while they are 0. */
const MARKS = /^(reg\d+|metadata|ct_\w+|pkt_mark)$/;

/** The state as an exact match with fields named by the packet's protocols; registers that are 0 are left out. */
export const exactMatch = (state: PacketState): Match => {
  const fields: OxmField[] = [];
  for (const [slot, value] of state) {
    const { big } = definition(slot);
    if (value !== 0n || !MARKS.test(slot)) fields.push({ field: slot, value: big ? value : Number(value) });
  }
  return canonicalMatch(fields);
};

/** The same as a record, for comparing. */
export const fieldsOf = (state: PacketState): PacketFields =>
  Object.fromEntries(exactMatch(state).flatMap((f) => (f.field === "raw" ? [] : [[f.field, (f as OxmField).value]])));

/** A match made ready for many packets; undefined when it names fields that are not known here, which no packet has. */
export type Matcher = readonly { readonly slot: FieldName; readonly value: bigint; readonly mask: bigint }[];

export const matcherOf = (match: Match): Matcher | undefined => {
  const key = flowKey(match);
  if (key.raws.length > 0) return undefined;
  return [...key.places.values()].map(({ slot, value, mask }) => ({ slot, value: BigInt(value), mask: BigInt(mask) }));
};

/** Whether the packet has every bit of the match. */
export const matches = (matcher: Matcher, state: PacketState): boolean =>
  matcher.every(({ slot, value, mask }) => ((state.get(slot) ?? 0n) & mask) === value);
