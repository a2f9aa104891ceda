/** Actions on bits of fields: copy, stack, output by field, packet length check (ovs-actions(7)). */
import { type Body, customAction, nx, onf } from "./action-variant.ts";
import type { FieldDef, FieldName } from "./fields.ts";
import type { Writer } from "./schema/codec.ts";
import {
  checkSource,
  checkTarget,
  definition,
  mustBeZero,
  packBits,
  readBits,
  readHeader,
  type Subfield,
  sourceBits,
  unpackBits,
  writeHeader,
} from "./subfield.ts";
import { formatSubfield } from "./text/subfield.ts";

/** Bytes that these bodies take, whatever the size of the field header inside. */
const SIZE = 14;

/** Zeros up to {@link SIZE}. */
function fill(w: Writer, start: number): void {
  for (let i = w.writeOffset - start; i < SIZE; i++) w.writeUInt8(0);
}

/** Two field headers, at `at`, then zeros. */
function twoHeaders(b: Buffer, at: number, end: number) {
  const src = readHeader(b, at, end);
  const dst = readHeader(b, src.next, end);
  return { src: src.def, dst: dst.def, next: dst.next };
}

/** Both ways to copy bits differ only in what precedes and follows the three 16-bit numbers. */
const moveBody = (before: number, between: number, oxm: boolean): Parameters<typeof customAction<"move">>[2] => {
  const headers = before + 6 + between;
  const numbers = (b: Buffer, at: number) =>
    [0, 2, 4].map((i) => b.readUInt16BE(at + before + i)) as [number, number, number];
  return {
    min: headers,
    write: (w, v) => {
      for (let i = 0; i < before; i += 2) w.writeUInt16BE(0);
      for (const n of [v.dst.nBits, v.src.ofs, v.dst.ofs]) w.writeUInt16BE(n);
      for (let i = 0; i < between; i += 2) w.writeUInt16BE(0);
      writeHeader(w, v.src.field, oxm);
      writeHeader(w, v.dst.field, oxm);
    },
    read: (b, at, end) => {
      const nBits = b.readUInt16BE(at + before);
      const { src, dst } = twoHeaders(b, at + headers, end);
      const from = { field: src.name, ofs: b.readUInt16BE(at + before + 2), nBits };
      const to = { field: dst.name, ofs: b.readUInt16BE(at + before + 4), nBits };
      return oxm ? { kind: "move", src: from, dst: to, onf: true } : { kind: "move", src: from, dst: to };
    },
    check: (b, at, end) => {
      const [nBits, srcOfs, dstOfs] = numbers(b, at);
      const { src, dst, next } = twoHeaders(b, at + headers, end);
      mustBeZero(b, next, end);
      checkSource(src, srcOfs, nBits, at);
      checkTarget(dst, dstOfs, nBits, at);
    },
    text: (v) => `move:${formatSubfield(v.src)}->${formatSubfield(v.dst)}`,
    when: (v) => (v.onf ?? false) === oxm,
  };
};

/** Offset, header, width, zeros: the bodies of push and pop. */
const stack = {
  write: (w: Writer, s: Subfield) => {
    const start = w.writeOffset;
    w.writeUInt16BE(s.ofs);
    writeHeader(w, s.field);
    w.writeUInt16BE(s.nBits);
    fill(w, start);
  },
  read: (b: Buffer, at: number, end: number): Subfield => {
    const { def, next } = readHeader(b, at + 2, end);
    return { field: def.name, ofs: b.readUInt16BE(at), nBits: b.readUInt16BE(next) };
  },
  check: (checkBits: typeof checkSource) => (b: Buffer, at: number, end: number) => {
    const { def, next } = readHeader(b, at + 2, end);
    mustBeZero(b, next + 2, end);
    checkBits(def, b.readUInt16BE(at), b.readUInt16BE(next), at);
  },
};

const push = customAction(nx(27), "push", {
  min: SIZE,
  max: SIZE,
  write: (w, v) => stack.write(w, v.src),
  read: (b, at, end) => ({ kind: "push", src: stack.read(b, at, end) }),
  check: stack.check(checkSource),
  text: (v) => `push:${formatSubfield(v.src)}`,
});

const pop = customAction(nx(28), "pop", {
  min: SIZE,
  max: SIZE,
  write: (w, v) => stack.write(w, v.dst),
  read: (b, at, end) => ({ kind: "pop", dst: stack.read(b, at, end) }),
  check: stack.check(checkTarget),
  text: (v) => `pop:${formatSubfield(v.dst)}`,
});

const outputRegText = (v: Body<"output_reg">): string => `output:${formatSubfield(v.src)}`;
const experimental = (f: FieldName): boolean => definition(f).nxm.experimenter !== undefined;

const outputReg = customAction(nx(15), "output_reg", {
  min: SIZE,
  max: SIZE,
  write: (w, v) => {
    sourceBits.write(w, v.src);
    w.writeUInt16BE(v.maxLen);
    w.writeUInt32BE(0);
    w.writeUInt16BE(0);
  },
  read: (b, at) => ({ kind: "output_reg", src: readBits(b, at), maxLen: b.readUInt16BE(at + 6) }),
  check: (b, at, end) => {
    mustBeZero(b, at + 8, end, "OFPBAC_BAD_ARGUMENT");
    sourceBits.fence(b, at, end);
  },
  text: outputRegText,
  when: (v) => !v.wide && !experimental(v.src.field),
});

const outputReg2 = customAction(nx(32), "output_reg", {
  min: SIZE,
  max: SIZE,
  write: (w, v) => {
    const start = w.writeOffset;
    w.writeUInt16BE(packBits(v.src));
    w.writeUInt16BE(v.maxLen);
    writeHeader(w, v.src.field);
    fill(w, start);
  },
  read: (b, at, end) => {
    const { def } = readHeader(b, at + 4, end);
    return { kind: "output_reg", src: bitsAt(b, def, at), maxLen: b.readUInt16BE(at + 2), wide: true };
  },
  check: (b, at, end) => {
    const { def, next } = readHeader(b, at + 4, end);
    mustBeZero(b, next, end);
    const { ofs, nBits } = bitsAt(b, def, at);
    checkSource(def, ofs, nBits, at);
  },
  text: outputRegText,
});

const bitsAt = (b: Buffer, def: FieldDef<FieldName>, at: number): Subfield => unpackBits(def, b.readUInt16BE(at));

const checkPktLarger = customAction(nx(49), "check_pkt_larger", {
  min: SIZE,
  max: SIZE,
  write: (w, v) => {
    const start = w.writeOffset;
    w.writeUInt16BE(v.bytes);
    w.writeUInt16BE(v.dst.ofs);
    writeHeader(w, v.dst.field);
    fill(w, start);
  },
  read: (b, at, end) => ({
    kind: "check_pkt_larger",
    bytes: b.readUInt16BE(at),
    dst: { field: readHeader(b, at + 4, end).def.name, ofs: b.readUInt16BE(at + 2), nBits: 1 },
  }),
  check: (b, at, end) => {
    const { def, next } = readHeader(b, at + 4, end);
    mustBeZero(b, next, end);
    checkTarget(def, b.readUInt16BE(at + 2), 1, at);
  },
  text: (v) => `check_pkt_larger(${v.bytes})->${formatSubfield(v.dst)}`,
});

const deleteField = customAction(nx(50), "delete_field", {
  min: SIZE,
  max: SIZE,
  write: (w, v) => {
    const start = w.writeOffset;
    writeHeader(w, v.field);
    fill(w, start);
  },
  read: (b, at, end) => ({ kind: "delete_field", field: readHeader(b, at, end).def.name }),
  check: (b, at, end) => {
    readHeader(b, at, end);
  },
  text: (v) => `delete_field:${v.field}`,
});

export const bitVariants = [
  customAction(onf(3200), "move", moveBody(2, 2, true)),
  customAction(nx(6), "move", moveBody(0, 0, false)),
  push,
  pop,
  outputReg,
  outputReg2,
  checkPktLarger,
  deleteField,
] as const;
