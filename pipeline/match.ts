/**
 * Matches of the pipeline: written as plain records, kept in one canonical form, so that equal matches are equal
 * whatever way they came about: fields in table order, masks of all ones left out, don't-care bits zero.
 */
import { type FieldName, type FieldValue, fieldByName } from "../openflow/fields.ts";
import type { Match, OxmField, RawOxm } from "../openflow/match.ts";

/** A value with the bits of it that count. */
export interface Masked {
  readonly value: FieldValue;
  readonly mask: FieldValue;
}

/** Fields by name. */
export type MatchRecord = { readonly [F in FieldName]?: FieldValue | Masked };

/** What tells protocols apart; spread these in front of the fields that need them. */
export const arp = { eth_type: 0x0806 } as const;
export const ip = { eth_type: 0x0800 } as const;
export const icmp = { ...ip, nw_proto: 1 } as const;
export const tcp = { ...ip, nw_proto: 6 } as const;
export const udp = { ...ip, nw_proto: 17 } as const;

/** An IPv4 network as a masked value. */
export const prefix = (p: { readonly address: number; readonly length: number }): Masked => ({
  value: p.address,
  mask: p.length === 0 ? 0 : (0xffff_ffff << (32 - p.length)) >>> 0,
});

const and = (a: FieldValue, b: FieldValue): FieldValue =>
  typeof a === "bigint" || typeof b === "bigint" || a > 0xffff_ffff || b > 0xffff_ffff
    ? sameKind(BigInt(a) & BigInt(b), a)
    : (a & b) >>> 0;

const sameKind = (value: bigint, like: FieldValue): FieldValue => (typeof like === "bigint" ? value : Number(value));

const allOnes = (bits: number): bigint => (1n << BigInt(bits)) - 1n;

const indexOf = (f: Match[number]): number => fieldByName(f.field)?.index ?? Number.MAX_SAFE_INTEGER;

const canonicalField = (f: OxmField): OxmField | undefined => {
  if (f.mask === undefined) return f;
  const bits = fieldByName(f.field)?.bits ?? 0;
  const mask = BigInt(f.mask);
  if (mask === 0n) return undefined;
  if (mask === allOnes(bits)) return { field: f.field, value: f.value };
  return { field: f.field, value: and(f.value, f.mask), mask: f.mask };
};

/** The canonical form of a match. */
export const canonicalMatch = (match: Match): Match => {
  const fields: (OxmField | RawOxm)[] = [];
  for (const f of match) {
    const canonical = f.field === "raw" ? f : canonicalField(f as OxmField);
    if (canonical !== undefined) fields.push(canonical);
  }
  return fields.sort((a, b) => indexOf(a) - indexOf(b));
};

/** The canonical match of a record. */
export const matchOf = (record: MatchRecord): Match =>
  canonicalMatch(
    Object.entries(record).map(([field, v]) =>
      typeof v === "object" ? { field: field as FieldName, ...v } : { field: field as FieldName, value: v },
    ),
  );

/** The value of a field that is matched exactly; undefined when it is masked or not matched at all. */
export const exactValue = (match: Match, field: FieldName): FieldValue | undefined => {
  const found = match.find((f) => f.field === field) as OxmField | undefined;
  return found === undefined || found.mask !== undefined ? undefined : found.value;
};
