/**
 * OXM TLVs (OF1.3.5 §7.2.3.2): the encoding of one field with its value and perhaps a mask. Matches and set_field are
 * made of them.
 *
 * Decoding walks the bytes by hand rather than through a generated parser: a TLV's payload depends on a table of 200
 * code points, and as a `choice` of a parser it costs three objects per field where this costs one.
 */
import { DecodeError, EncodeError } from "./errors.ts";
import { type FieldDef, type FieldName, type FieldValue, fieldByName, fieldByNumber, fields } from "./fields.ts";
import { need, type Writer, writeUint48 } from "./schema/codec.ts";

/** One field with its value. `mask` is absent for an exact match. */
export interface OxmField {
  readonly field: FieldName;
  readonly value: FieldValue;
  readonly mask?: FieldValue;
  /** Wire bytes of a field of variable length (tun_metadata) when more than the value needs. */
  readonly bytes?: number;
}

/**
 * A TLV this codec has no field for, or one whose length does not suit its field, kept byte for byte: the 32-bit
 * header and the payload after it (with the experimenter id, if any).
 */
export interface RawOxm {
  readonly field: "raw";
  readonly header: number;
  readonly body: Buffer;
}

export type Oxm = OxmField | RawOxm;

export const isRaw = (f: Oxm): f is RawOxm => f.field === "raw";

/** Bytes that the value and mask of a field of variable length need; none for zero. */
export function neededBytes(value: FieldValue, mask: FieldValue | undefined): number {
  const all = BigInt(value) | BigInt(mask ?? 0);
  return all === 0n ? 0 : Math.ceil(all.toString(16).length / 2);
}

/** Writes `value` over `bytes` bytes, most significant first. */
function writeValue(w: Writer, value: FieldValue, bytes: number): void {
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
    case 16:
      w.writeBigUInt64BE(BigInt(value) >> 64n);
      w.writeBigUInt64BE(BigInt(value) & 0xffff_ffff_ffff_ffffn);
      break;
    default:
      w.writeBuffer(
        Buffer.from(
          BigInt(value)
            .toString(16)
            .padStart(bytes * 2, "0"),
          "hex",
        ),
      );
  }
}

/** 32 bits, without the range checks of Buffer's own reader: the fence has proven the length. */
const word = (b: Buffer, at: number): number =>
  (((b[at] as number) << 24) | ((b[at + 1] as number) << 16) | ((b[at + 2] as number) << 8) | (b[at + 3] as number)) >>>
  0;

/** Reads `bytes` bytes, most significant first: a number up to 48 bits, a bigint beyond. */
function readValue(b: Buffer, at: number, bytes: number): FieldValue {
  switch (bytes) {
    case 1:
      return b[at] as number;
    case 2:
      return ((b[at] as number) << 8) | (b[at + 1] as number);
    case 4:
      return word(b, at);
    case 6:
      return (((b[at] as number) << 8) | (b[at + 1] as number)) * 0x1_0000_0000 + word(b, at + 2);
    case 8:
      return b.readBigUInt64BE(at);
    case 16:
      return (b.readBigUInt64BE(at) << 64n) | b.readBigUInt64BE(at + 8);
    case 0:
      return 0n;
    default:
      return BigInt(`0x${b.toString("hex", at, at + bytes)}`);
  }
}

/** Writes one TLV with the code point `which` of its field. */
export function writeOxmAs(w: Writer, f: OxmField, def: FieldDef, which: "oxm" | "nxm"): void {
  const header = which === "oxm" ? def.oxm : def.nxm;
  const { value, mask } = f;
  let { bytes } = def;
  let head = mask === undefined ? header.exact : header.masked;
  if (def.variable) {
    bytes = Math.max(f.bytes ?? 0, neededBytes(value, mask));
    if (bytes > def.bytes) throw new EncodeError(`${def.name}: ${bytes} bytes, at most ${def.bytes} fit`);
    head = ((head & 0xffff_ff00) | (mask === undefined ? bytes : 2 * bytes)) >>> 0;
  }
  w.writeUInt32BE(head);
  if (header.experimenter !== undefined) w.writeUInt32BE(header.experimenter);
  checkFits(def, value);
  writeValue(w, value, bytes);
  if (mask !== undefined) {
    checkFits(def, mask);
    writeValue(w, mask, bytes);
  }
}

function checkFits(def: FieldDef, value: FieldValue): void {
  if (!(value >= 0 && value <= def.full) || (typeof value === "number" && !Number.isInteger(value))) {
    throw new EncodeError(`${def.name}: ${value} does not fit ${def.bytes} bytes`);
  }
}

/** Writes one TLV with the code points of OpenFlow 1.3. */
export function writeOxm(w: Writer, f: Oxm): void {
  if (isRaw(f)) {
    w.writeUInt32BE(f.header);
    w.writeBuffer(f.body);
    return;
  }
  const def = fieldByName(f.field);
  if (!def) throw new EncodeError(`no field ${f.field}`);
  writeOxmAs(w, f, def, "oxm");
}

/** Per class: the field under the header's third byte (number and mask bit). Experimenters go the slow way. */
const direct = new Map<number, (FieldDef<FieldName> | undefined)[]>();
for (const def of fields) {
  for (const h of def.headers) {
    if (h.experimenter !== undefined) continue;
    const table = direct.get(h.oxmClass) ?? new Array<FieldDef<FieldName> | undefined>(256).fill(undefined);
    direct.set(h.oxmClass, table);
    table[h.number * 2] = def;
    table[h.number * 2 + 1] = def;
  }
}
const basicTable = direct.get(0x8000) as (FieldDef<FieldName> | undefined)[];
const nxm1Table = direct.get(0x0001) as (FieldDef<FieldName> | undefined)[];

/** Reads the TLV at `at`, which {@link fenceOxms} has found to fit; it ends 4 plus its length byte later. */
export function readOxm(b: Buffer, at: number): Oxm {
  const oxmClass = ((b[at] as number) << 8) | (b[at + 1] as number);
  const which = b[at + 2] as number;
  const length = b[at + 3] as number;
  const masked = (which & 1) === 1;
  let start = at + 4;
  let def: FieldDef<FieldName> | undefined;
  if (oxmClass === 0x8000) def = basicTable[which];
  else if (oxmClass === 0x0001) def = nxm1Table[which];
  else if (oxmClass !== 0xffff) def = direct.get(oxmClass)?.[which];
  else {
    def = fieldByNumber(oxmClass, which >> 1, b.readUInt32BE(start));
    start += 4;
  }
  const payload = at + 4 + length - start;
  if (def !== undefined) {
    const bytes = masked ? payload >> 1 : payload;
    if (def.variable) {
      if (bytes <= def.bytes && (!masked || payload === 2 * bytes)) return readVariable(b, def, start, bytes, masked);
    } else if (bytes === def.bytes && (!masked || payload === 2 * bytes)) {
      const value = readValue(b, start, bytes);
      return masked ? { field: def.name, value, mask: readValue(b, start + bytes, bytes) } : { field: def.name, value };
    }
  }
  return { field: "raw", header: b.readUInt32BE(at), body: b.subarray(at + 4, at + 4 + length) };
}

function readVariable(b: Buffer, def: FieldDef<FieldName>, at: number, bytes: number, masked: boolean): OxmField {
  // A value of tun_metadata is a bigint whatever its length.
  const value = BigInt(readValue(b, at, bytes));
  const mask = masked ? BigInt(readValue(b, at + bytes, bytes)) : undefined;
  return {
    field: def.name,
    value,
    ...(mask === undefined ? {} : { mask }),
    ...(bytes === neededBytes(value, mask) ? {} : { bytes }),
  };
}

/** Proves that the OXM TLVs in `[at, end)` fit exactly. */
export function fenceOxms(b: Buffer, at: number, end: number): number {
  let here = at;
  while (here < end) {
    need(here, 4, end, "OFPBMC_BAD_LEN");
    const length = b[here + 3] as number;
    need(here + 4, length, end, "OFPBMC_BAD_LEN");
    if (length < 4 && b[here] === 0xff && b[here + 1] === 0xff) {
      throw new DecodeError("OFPBMC_BAD_LEN", here, "an experimenter field has at least 4 bytes");
    }
    here += 4 + length;
  }
  return here;
}
