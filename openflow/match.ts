import { Parser } from "binary-parser";
import { DecodeError } from "./errors.ts";
import { type FieldName, type FieldValue, fieldByName, fieldByNumber } from "./fields.ts";
import { type Codec, need, type Raw, type Writer, writeUint48 } from "./schema/codec.ts";
import { arrayOf } from "./schema/struct.ts";

/** One field of a match. `mask` is absent for an exact match. */
export interface OxmField {
  readonly field: FieldName;
  readonly value: FieldValue;
  readonly mask?: FieldValue;
}

/** A field this codec has no name for, kept byte for byte: the 32-bit OXM header and the payload after it. */
export interface RawOxm {
  readonly field: "raw";
  readonly header: number;
  readonly body: Buffer;
}

export type Match = readonly (OxmField | RawOxm)[];

/** Writes `value` over `bytes` bytes, most significant first. */
export function writeValue(w: Writer, value: FieldValue, bytes: number): void {
  switch (bytes) {
    case 1:
      w.writeUInt8(Number(value));
      break;
    case 2:
      w.writeUInt16BE(Number(value));
      break;
    case 4:
      w.writeUInt32BE(Number(value));
      break;
    case 6:
      writeUint48(w, Number(value));
      break;
    case 8:
      w.writeBigUInt64BE(BigInt(value));
      break;
    default: {
      const b = Buffer.alloc(bytes);
      let v = BigInt(value);
      for (let i = bytes - 1; i >= 0; i--) {
        b[i] = Number(v & 0xffn);
        v >>= 8n;
      }
      w.writeBuffer(b);
    }
  }
}

function writeOxm(w: Writer, f: OxmField | RawOxm): void {
  if (f.field === "raw") {
    const raw = f as RawOxm;
    w.writeUInt32BE(raw.header);
    w.writeBuffer(raw.body);
    return;
  }
  const known = f as OxmField;
  const def = fieldByName(known.field === "in_port" ? "in_port_oxm" : known.field);
  if (!def) throw new TypeError(known.field);
  const masked = known.mask !== undefined;
  w.writeUInt32BE(masked ? def.oxm.masked : def.oxm.exact);
  writeValue(w, known.value, def.bytes);
  if (known.mask !== undefined) writeValue(w, known.mask, def.bytes);
}

/**
 * The parser of one OXM TLV. Its payload is chosen by width and mask, not by field: a dozen cases instead of a
 * hundred keep the generated code small enough for V8 to optimise.
 */
function oxmElement(): Parser {
  const payload = (bytes: number, masked: boolean): Parser => {
    const p = new Parser();
    for (const name of masked ? ["v", "m"] : ["v"]) {
      if (bytes === 1) p.uint8(name);
      else if (bytes === 2) p.uint16be(name);
      else if (bytes === 4) p.uint32be(name);
      else if (bytes === 8) p.uint64be(name);
      else if (bytes === 6) p.uint16be(`${name}h`).uint32be(name);
      else p.uint64be(`${name}h`).uint64be(name);
    }
    return p;
  };
  const choices: Record<number, Parser> = {};
  for (const bytes of [1, 2, 4, 6, 8, 16]) {
    choices[bytes * 2] = payload(bytes, false);
    choices[bytes * 4 + 1] = payload(bytes, true);
  }
  return new Parser()
    .uint16be("c")
    .uint8("f")
    .uint8("l")
    .choice({
      tag: function (this: Raw) {
        return (this["l"] as number) * 2 + ((this["f"] as number) & 1);
      },
      choices,
      defaultChoice: new Parser().buffer("b", {
        length: function (this: Raw) {
          return this["l"] as number;
        },
      }),
    });
}

interface RawElement {
  readonly c: number;
  readonly f: number;
  readonly l: number;
  readonly v?: number | bigint;
  readonly m?: number | bigint;
  readonly vh?: number | bigint;
  readonly mh?: number | bigint;
  readonly b?: Buffer;
}

function join(high: number | bigint | undefined, low: number | bigint): FieldValue {
  if (high === undefined) return low;
  return typeof high === "number" ? high * 0x1_0000_0000 + (low as number) : (high << 64n) | (low as bigint);
}

function liftOxm(r: RawElement): OxmField | RawOxm {
  const def = fieldByNumber(r.c, r.f >> 1);
  const masked = (r.f & 1) === 1;
  if (!def || r.l !== def.bytes * (masked ? 2 : 1) || r.v === undefined) return rawOxm(r);
  const value = join(r.vh, r.v);
  return masked && r.m !== undefined
    ? { field: def.name as FieldName, value, mask: join(r.mh, r.m) }
    : { field: def.name as FieldName, value };
}

function rawOxm(r: RawElement): RawOxm {
  throw new Error(`todo ${r.c}`);
}

/** Proves that the OXM TLVs in `[at, end)` fit exactly. */
export function fenceOxms(b: Buffer, at: number, end: number): number {
  let here = at;
  while (here < end) {
    need(here, 4, end, "OFPBMC_BAD_LEN");
    const length = b.readUInt8(here + 3);
    need(here + 4, length, end, "OFPBMC_BAD_LEN");
    here += 4 + length;
  }
  return here;
}

/** `struct ofp_match` with OXM TLVs (OF1.3.5 §7.2.3.1), padded to 8 bytes. */
export const match: Codec<Match> = {
  size: 8,
  fixed: false,
  write: (w, fields) => {
    const start = w.writeOffset;
    w.writeUInt16BE(1);
    w.writeUInt16BE(0);
    for (const f of fields) writeOxm(w, f);
    const length = w.writeOffset - start;
    w.writeUInt16BE(length, start + 2);
    for (let i = length; i % 8 !== 0; i++) w.writeUInt8(0);
  },
  parser: (p, name) => {
    const inner = new Parser().uint16be("t").uint16be("n");
    arrayOf(inner, "a", oxmElement(), { eof: false, bytes: (self) => (self["n"] as number) - 4 });
    inner.seek(function (this: Raw) {
      return (8 - ((this["n"] as number) % 8)) % 8;
    });
    p.nest(name, { type: inner });
  },
  lift: (raw) => (raw as { a: RawElement[] }).a.map(liftOxm),
  fence: (b, at, end) => {
    need(at, 4, end);
    if (b.readUInt16BE(at) !== 1) throw new DecodeError("OFPBMC_BAD_TYPE", at, "only OXM matches are known");
    const length = b.readUInt16BE(at + 2);
    const stop = Math.ceil(length / 8) * 8;
    if (length < 4) throw new DecodeError("OFPBMC_BAD_LEN", at, `match length ${length}`);
    need(at, stop, end, "OFPBMC_BAD_LEN");
    fenceOxms(b, at + 4, at + length);
    return at + stop;
  },
};
