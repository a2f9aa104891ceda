/** Text of actions that write, copy and stack fields. */
import type { Action } from "../action-values.ts";
import { isValidValue } from "../check-match.ts";
import { type FieldDef, type FieldName, fieldByName } from "../fields.ts";
import { definition, type Subfield } from "../subfield.ts";
import { ParseError } from "./parse-error.ts";
import { arrow, bigInteger, integer, type Piece } from "./scan.ts";
import { parseSubfield } from "./subfield.ts";
import { parseValue } from "./value.ts";

/** Most bits that one load can write. */
const LOAD_BITS = 64;

export const subfield = (p: Piece): Subfield => parseSubfield(p.text, p.column);

/** A subfield that may be written. */
export function target(p: Piece): Subfield {
  const s = subfield(p);
  if (!definition(s.field).writable) throw new ParseError(p.column, `${s.field} is read-only`, []);
  return s;
}

function wholeField(p: Piece): FieldDef<FieldName> {
  const def = fieldByName(p.text);
  if (!def)
    throw new ParseError(p.column, `"${p.text}" is not a field`, ["eth_src", "ip_dst", "reg0", "metadata", "…"]);
  if (!def.writable) throw new ParseError(p.column, `${def.name} is read-only`, []);
  return def;
}

const lowest = (bits: bigint, from: number, bit: 0n | 1n): number => {
  let i = from;
  while (((bits >> BigInt(i)) & 1n) !== bit) i++;
  return i;
};

/**
 * Loads that write the bits of `value` that `mask` has, each of them adjoining bits and 64 at most. OpenFlow 1.3 has no
 * masked set_field, so this is what ovs-ofctl sends for one.
 */
function loads(def: FieldDef<FieldName>, value: bigint, mask: bigint): Action[] {
  const out: Action[] = [];
  const all = mask & ((1n << BigInt(def.bits)) - 1n);
  let ofs = 0;
  while (all >> BigInt(ofs) !== 0n) {
    ofs = lowest(all, ofs, 1n);
    const nBits = Math.min(lowest(all, ofs, 0n) - ofs, LOAD_BITS);
    const bits = (value >> BigInt(ofs)) & ((1n << BigInt(nBits)) - 1n);
    out.push({ kind: "load", dst: { field: def.name, ofs, nBits }, value: bits });
    ofs += nBits;
  }
  return out;
}

/** Fields that NXAST_REG_LOAD cannot name, or whose width it cannot know. */
const onlyAsOxm = (def: FieldDef): boolean => def.nxm.experimenter !== undefined || def.variable;

/** `value[/mask]->field`. */
export function setField(arg: Piece): Action[] {
  const { from, to } = arrow(arg);
  const def = wholeField(to);
  const { value, mask } = parseValue(def, from.text, from.column);
  if (!isValidValue(def, value)) throw new ParseError(from.column, `${from.text} is no value of ${def.name}`, []);
  const whole = (1n << BigInt(def.bytes * 8)) - 1n;
  if (mask === undefined || BigInt(mask) === whole) return [{ kind: "set_field", field: def.name, value }];
  if (onlyAsOxm(def)) return [{ kind: "set_field", field: def.name, value, mask }];
  return loads(def, BigInt(value), BigInt(mask));
}

/** `value->subfield`. */
export function load(arg: Piece): Action[] {
  const { from, to } = arrow(arg);
  const dst = target(to);
  const def = definition(dst.field);
  const value = bigInteger(from, def.bytes * 8, dst.field);
  if (value >> BigInt(dst.nBits) !== 0n) {
    throw new ParseError(from.column, `${from.text} does not fit ${dst.nBits} bits`, []);
  }
  const shift = BigInt(dst.ofs);
  const mask = ((1n << BigInt(dst.nBits)) - 1n) << shift;
  if (!onlyAsOxm(def)) return loads(def, value << shift, mask);
  const narrow = (n: bigint): number | bigint => (def.big ? n : Number(n));
  return [{ kind: "set_field", field: def.name, value: narrow(value << shift), mask: narrow(mask) }];
}

/** `source->target`, of one width. */
export function move(arg: Piece): { readonly src: Subfield; readonly dst: Subfield } {
  const { from, to } = arrow(arg);
  const src = subfield(from);
  const dst = target(to);
  if (src.nBits !== dst.nBits) {
    throw new ParseError(to.column, `${src.nBits} bits do not go into ${dst.nBits}`, []);
  }
  return { src, dst };
}

/** `bytes)->bit`, where scanning has taken the parenthesis off the front. */
export function checkPktLarger(arg: Piece): Action {
  const { from, to } = arrow(arg);
  const bytes = { ...from, text: from.text.replace(/\)$/, "") };
  const dst = target(to);
  if (dst.nBits !== 1) throw new ParseError(to.column, "one bit is wanted", ["FIELD[BIT]"]);
  return { kind: "check_pkt_larger", bytes: integer(bytes, 16, "the length"), dst };
}

export function deleteField(arg: Piece): Action {
  const def = fieldByName(arg.text.replace(/\[\]$/, ""));
  if (!def?.variable) throw new ParseError(arg.column, `"${arg.text}" cannot be deleted`, ["tun_metadata0 … 63"]);
  return { kind: "delete_field", field: def.name };
}
