/** The learn action (ovs-actions(7), "The learn action"): NXAST_LEARN and NXAST_LEARN2. */
import type { Learn, LearnSpec } from "./action-values-nx.ts";
import { type Body, customAction, nx } from "./action-variant.ts";
import { DecodeError, EncodeError } from "./errors.ts";
import type { FieldDef, FieldName } from "./fields.ts";
import type { Writer } from "./schema/codec.ts";
import { definition, fieldOfWord, mustBeZero, readHeader, type Subfield, wordOf, writeHeader } from "./subfield.ts";
import { formatConstant } from "./text/constant.ts";
import { formatSubfield } from "./text/subfield.ts";

const bad = (at: number, detail: string, code = "OFPBAC_BAD_ARGUMENT"): DecodeError =>
  new DecodeError(code, at, detail);

const Flag = { sendFlowRem: 1, deleteLearned: 2, writeResult: 4 } as const;
const NO_TABLE = 0xff;
/** Bytes before the specs. */
const HEAD = 22;
const HEAD2 = 30;

/** The 16-bit header of a spec: 11 bits of width, then what it leads to, then whether it begins with a constant. */
const WIDTH = 0x07ff;
const To = { match: 0x0000, load: 0x0800, output: 0x1000 } as const;
const TO_MASK = 0x1800;
const CONSTANT = 0x2000;

/** Constants take whole 16-bit words. */
const constantBytes = (nBits: number): number => 2 * Math.ceil(nBits / 16);

function writeBits(w: Writer, s: Subfield): void {
  w.writeUInt32BE(wordOf(s.field));
  w.writeUInt16BE(s.ofs);
}

function writeSpec(w: Writer, spec: LearnSpec): void {
  const { src } = spec;
  const constant = typeof src === "bigint";
  const nBits = spec.kind === "output" ? spec.src.nBits : spec.dst.nBits;
  if (nBits < 1 || nBits > WIDTH) throw new EncodeError(`a learn spec of ${nBits} bits`);
  w.writeUInt16BE(nBits | To[spec.kind] | (constant ? CONSTANT : 0));
  if (constant) {
    if (src < 0n || src >> BigInt(nBits) !== 0n) throw new EncodeError(`${src} does not fit ${nBits} bits`);
    const bytes = constantBytes(nBits);
    w.writeBuffer(Buffer.from(src.toString(16).padStart(2 * bytes, "0"), "hex"));
  } else {
    if (src.nBits !== nBits) throw new EncodeError(`learn: ${src.nBits} bits of ${src.field} for ${nBits} bits`);
    writeBits(w, src);
  }
  if (spec.kind !== "output") writeBits(w, spec.dst);
}

function write(w: Writer, v: Body<"learn">): void {
  w.writeUInt16BE(v.idleTimeout);
  w.writeUInt16BE(v.hardTimeout);
  w.writeUInt16BE(v.priority);
  w.writeBigUInt64BE(v.cookie);
  const flags = (v.sendFlowRem ? Flag.sendFlowRem : 0) | (v.deleteLearned ? Flag.deleteLearned : 0);
  w.writeUInt16BE(flags | (v.resultDst ? Flag.writeResult : 0));
  w.writeUInt8(v.table);
  w.writeUInt8(0);
  w.writeUInt16BE(v.finIdleTimeout);
  w.writeUInt16BE(v.finHardTimeout);
  if (needsLearn2(v)) {
    w.writeUInt32BE(v.limit ?? 0);
    w.writeUInt16BE(v.resultDst?.ofs ?? 0);
    w.writeUInt16BE(0);
    if (v.resultDst) writeHeader(w, v.resultDst.field);
  }
  for (const spec of v.specs) writeSpec(w, spec);
}

const needsLearn2 = (v: Body<"learn">): boolean => v.limit !== undefined || v.resultDst !== undefined;

/** Reads specs from bytes that may be bad: the fence is this function too. */
function readSpecs(b: Buffer, from: number, end: number): LearnSpec[] {
  const specs: LearnSpec[] = [];
  let at = from;
  const bits = (nBits: number): Subfield => {
    const def: FieldDef<FieldName> | undefined = fieldOfWord(b.readUInt32BE(at));
    if (!def) throw bad(at, "unknown field", "OFPBAC_BAD_SET_TYPE");
    at += 6;
    return { field: def.name, ofs: b.readUInt16BE(at - 2), nBits };
  };
  while (at + 2 <= end) {
    const head = b.readUInt16BE(at);
    at += 2;
    if (head === 0) break;
    const nBits = head & WIDTH;
    const to = head & TO_MASK;
    const constant = (head & CONSTANT) !== 0;
    const output = to === To.output;
    if (to === TO_MASK || (output && constant)) throw bad(at, "no such kind of learn spec");
    const size = (constant ? constantBytes(nBits) : 6) + (output ? 0 : 6);
    if (at + size > end) throw bad(at, `${size} bytes wanted, ${end - at} left`, "OFPBAC_BAD_LEN");
    let src: Subfield | bigint;
    if (constant) {
      const bytes = constantBytes(nBits);
      // A constant of 8 bits or fewer in its last word stands in the low byte; OVS drops the other.
      const used = Math.ceil(nBits / 8);
      src = used === 0 ? 0n : BigInt(`0x${b.toString("hex", at + bytes - used, at + bytes)}`);
      at += bytes;
    } else src = bits(nBits);
    if (output) specs.push({ kind: "output", src: src as Subfield });
    else specs.push({ kind: to === To.match ? "match" : "load", dst: bits(nBits), src });
  }
  mustBeZero(b, at, end, "OFPBAC_BAD_ARGUMENT");
  return specs;
}

function readHead(b: Buffer, at: number): Omit<Learn, "specs"> {
  const flags = b.readUInt16BE(at + 14);
  return {
    kind: "learn",
    table: b.readUInt8(at + 16),
    priority: b.readUInt16BE(at + 4),
    cookie: b.readBigUInt64BE(at + 6),
    idleTimeout: b.readUInt16BE(at),
    hardTimeout: b.readUInt16BE(at + 2),
    finIdleTimeout: b.readUInt16BE(at + 18),
    finHardTimeout: b.readUInt16BE(at + 20),
    sendFlowRem: (flags & Flag.sendFlowRem) !== 0,
    deleteLearned: (flags & Flag.deleteLearned) !== 0,
  };
}

function checkHead(b: Buffer, at: number, flags: number): void {
  mustBeZero(b, at + 17, at + 18, "OFPBAC_BAD_ARGUMENT");
  if (b.readUInt8(at + 16) === NO_TABLE) throw bad(at + 16, "no table 255");
  if (b.readUInt16BE(at + 14) > flags) throw bad(at + 14, "unknown flags");
}

const withResult = (b: Buffer, at: number): boolean => (b.readUInt16BE(at + 14) & Flag.writeResult) !== 0;

function text(v: Body<"learn">): string {
  const args = [`table=${v.table}`];
  const number = (name: string, n: number | undefined, silent: number): void => {
    if (n !== undefined && n !== silent) args.push(`${name}=${n}`);
  };
  number("idle_timeout", v.idleTimeout, 0);
  number("hard_timeout", v.hardTimeout, 0);
  number("fin_idle_timeout", v.finIdleTimeout, 0);
  number("fin_hard_timeout", v.finHardTimeout, 0);
  number("priority", v.priority, 0x8000);
  if (v.sendFlowRem) args.push("send_flow_rem");
  if (v.deleteLearned) args.push("delete_learned");
  if (v.cookie !== 0n) args.push(`cookie=0x${v.cookie.toString(16)}`);
  number("limit", v.limit, 0);
  if (v.resultDst) args.push(`result_dst=${formatSubfield(v.resultDst)}`);
  args.push(...v.specs.map(specText));
  return `learn(${args.join(",")})`;
}

function specText(spec: LearnSpec): string {
  const { src } = spec;
  if (spec.kind === "output") return `output:${formatSubfield(spec.src)}`;
  const dst = formatSubfield(spec.dst);
  if (spec.kind === "load") return `load:${typeof src === "bigint" ? hex(src) : formatSubfield(src)}->${dst}`;
  if (typeof src !== "bigint") {
    const same = src.field === spec.dst.field && src.ofs === spec.dst.ofs;
    return same ? dst : `${dst}=${formatSubfield(src)}`;
  }
  const def = definition(spec.dst.field);
  if (spec.dst.ofs !== 0 || spec.dst.nBits !== def.bits) return `${dst}=${hex(src)}`;
  return `${def.name}=${formatConstant(def, def.big ? src : Number(src))}`;
}

const hex = (n: bigint): string => (n === 0n ? "0" : `0x${n.toString(16)}`);

export const learnVariants = [
  customAction(nx(45), "learn", {
    min: HEAD2,
    write,
    read: (b, at, end) => {
      let next = at + HEAD2;
      let resultDst: Subfield | undefined;
      if (withResult(b, at)) {
        const header = readHeader(b, next, end);
        next = header.next;
        resultDst = { field: header.def.name, ofs: b.readUInt16BE(at + 26), nBits: 1 };
      }
      return {
        ...readHead(b, at),
        specs: readSpecs(b, next, end),
        limit: b.readUInt32BE(at + HEAD),
        ...(resultDst ? { resultDst } : {}),
      };
    },
    check: (b, at, end) => {
      mustBeZero(b, at + 28, at + HEAD2, "NXBAC_MUST_BE_ZERO");
      checkHead(b, at, Flag.sendFlowRem | Flag.deleteLearned | Flag.writeResult);
      let next = at + HEAD2;
      if (withResult(b, at)) {
        const header = readHeader(b, next, end);
        if (!header.def.writable) throw bad(next, `${header.def.name} is read-only`, "OFPBAC_BAD_SET_ARGUMENT");
        next = header.next;
      } else mustBeZero(b, at + 26, at + 28, "OFPBAC_BAD_ARGUMENT");
      readSpecs(b, next, end);
    },
    text,
    when: needsLearn2,
  }),
  customAction(nx(16), "learn", {
    min: HEAD,
    write,
    read: (b, at, end) => ({ ...readHead(b, at), specs: readSpecs(b, at + HEAD, end) }),
    check: (b, at, end) => {
      checkHead(b, at, Flag.sendFlowRem | Flag.deleteLearned);
      readSpecs(b, at + HEAD, end);
    },
    text,
  }),
] as const;
