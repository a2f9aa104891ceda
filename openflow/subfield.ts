/**
 * Bits of a field, and the two ways in which actions name a field: by an NXM header word of 4 bytes, or by an OXM
 * header that takes 8 bytes when the field belongs to an experimenter.
 */
import { DecodeError, EncodeError } from "./errors.ts";
import { type FieldDef, type FieldName, fieldByName, fieldByNumber } from "./fields.ts";
import { type Codec, need, type Writer } from "./schema/codec.ts";
import type { Subfield } from "./text/subfield.ts";

export type { Subfield };

type Def = FieldDef<FieldName>;
const EXPERIMENTER_CLASS = 0xffff;

/** The definition of a field that an encoder was given. */
export function definition(name: FieldName): Def {
  const def = fieldByName(name);
  if (!def) throw new EncodeError(`no field ${name}`);
  return def;
}

const MASKED = 0x100;

/** Whether `word` can stand for the field, with a mask's length if it has the mask bit. */
function isHeaderOf(def: Def, word: number): boolean {
  if (def.nxm.exact === word || def.oxm.exact === word) return true;
  if (!def.variable) return def.headers.some((h) => h.exact === word || h.masked === word);
  const length = word & 0xff;
  return ((word & MASKED) === 0 ? length : length / 2) <= def.bytes;
}

/** The field that a header word of class 0…0xfffe names; as in Open vSwitch the word may have the mask bit. */
export function fieldOfWord(word: number): Def | undefined {
  const def = fieldByNumber(word >>> 16, (word >>> 9) & 0x7f);
  return def && isHeaderOf(def, word) ? def : undefined;
}

/** The header word of a field in the actions that have no room for an experimenter's id. */
export function wordOf(name: FieldName): number {
  const { nxm } = definition(name);
  if (nxm.experimenter !== undefined) throw new EncodeError(`this action cannot name the field ${name}`);
  return nxm.exact;
}

/** Writes the 4 or 8 bytes that name a field; `oxm` chooses OpenFlow's code point over Nicira's. */
export function writeHeader(w: Writer, name: FieldName, oxm = false): void {
  const def = definition(name);
  const header = oxm ? def.oxm : def.nxm;
  w.writeUInt32BE(header.exact);
  if (header.experimenter !== undefined) w.writeUInt32BE(header.experimenter);
}

/** Reads what {@link writeHeader} wrote; `next` is the offset after it. */
export function readHeader(b: Buffer, at: number, end: number): { readonly def: Def; readonly next: number } {
  need(at, 4, end, "OFPBMC_BAD_LEN");
  const word = b.readUInt32BE(at);
  let next = at + 4;
  let experimenter: number | undefined;
  if (word >>> 16 === EXPERIMENTER_CLASS) {
    need(next, 4, end, "OFPBMC_BAD_LEN");
    experimenter = b.readUInt32BE(next);
    next += 4;
  }
  const def = fieldByNumber(word >>> 16, (word >>> 9) & 0x7f, experimenter);
  if (!def || !isHeaderOf(def, word))
    throw new DecodeError("OFPBMC_BAD_FIELD", at, `no field has the header 0x${word.toString(16)}`);
  if ((word & MASKED) !== 0) throw new DecodeError("OFPBMC_BAD_MASK", at, "a field is named here, without a mask");
  return { def, next };
}

/** Refuses bits that the field does not have. */
export function checkSource(def: Def | undefined, ofs: number, nBits: number, at: number): void {
  if (!def) throw new DecodeError("OFPBAC_BAD_SET_TYPE", at, "unknown field");
  if (nBits === 0 || ofs + nBits > def.bits) {
    throw new DecodeError("OFPBAC_BAD_SET_LEN", at, `${def.name} has no ${nBits} bits from ${ofs}`);
  }
}

/** The same for bits that are written. */
export function checkTarget(def: Def | undefined, ofs: number, nBits: number, at: number): void {
  checkSource(def, ofs, nBits, at);
  if (!def?.writable) throw new DecodeError("OFPBAC_BAD_SET_ARGUMENT", at, `${def?.name} is read-only`);
}

/** Offset and width in 16 bits, six of them the width minus one. */
export const packBits = (s: Subfield): number => {
  if (s.nBits < 1 || s.nBits > 64) throw new EncodeError(`${s.nBits} bits of ${s.field}: 1 to 64 fit`);
  return (s.ofs << 6) | (s.nBits - 1);
};
export const unpackBits = (def: Def, packed: number): Subfield => ({
  field: def.name,
  ofs: packed >> 6,
  nBits: (packed & 0x3f) + 1,
});

type Check = typeof checkSource;

/** Reads what {@link sourceBits} and {@link targetBits} write. */
export function readBits(b: Buffer, at: number): Subfield {
  const def = fieldOfWord(b.readUInt32BE(at + 2));
  if (!def) throw new DecodeError("OFPBAC_BAD_SET_TYPE", at, "unknown field");
  return unpackBits(def, b.readUInt16BE(at));
}

/** Offset and width, then the header word: 6 bytes. */
const packed = (check: Check): Codec<Subfield> => ({
  size: 6,
  fixed: true,
  write: (w, s) => {
    w.writeUInt16BE(packBits(s));
    w.writeUInt32BE(wordOf(s.field));
  },
  parser: (p, name) => p.buffer(name, { length: 6 }),
  lift: (raw) => readBits(raw as Buffer, 0),
  at: readBits,
  fence: (b, at, end) => {
    need(at, 6, end);
    const bits = b.readUInt16BE(at);
    check(fieldOfWord(b.readUInt32BE(at + 2)), bits >> 6, (bits & 0x3f) + 1, at);
    return at + 6;
  },
});

export const sourceBits = packed(checkSource);
export const targetBits = packed(checkTarget);

/** Refuses anything but zeros in `[at, end)`. */
export function mustBeZero(b: Buffer, at: number, end: number, code = "NXBRC_MUST_BE_ZERO"): void {
  for (let i = at; i < end; i++) if (b[i] !== 0) throw new DecodeError(code, i, "reserved bytes must be zero");
}
