/** Short constructors for the actions and instructions that people write by hand. */
import type { Action, GroupAction, Output, SetField } from "./action-values.ts";
import type {
  CheckPktLarger,
  Clone,
  Controller,
  Ct,
  Learn,
  LearnSpec,
  Load,
  Move,
  Multipath,
  Nat,
  Note,
  Pop,
  Push,
  Resubmit,
} from "./action-values-nx.ts";
import { EncodeError } from "./errors.ts";
import { type FieldName, type FieldValue, fieldByName } from "./fields.ts";
import type { ActionsInstruction, GotoTable, MeterInstruction, WriteMetadata } from "./instruction-values.ts";
import type { Subfield } from "./subfield.ts";

const IN_PORT = 0xfffffff8;
const CURRENT_TABLE = 0xff;

/** A whole field by its name, or bits of one. */
export type Bits = FieldName | Subfield;

/** Bits of a field: `bits("reg1", 0, 10)` is `NXM_NX_REG1[0..9]`; from `ofs` to the end without `nBits`. */
export function bits(field: FieldName, ofs = 0, nBits?: number): Subfield {
  const def = fieldByName(field);
  if (!def) throw new EncodeError(`no field ${field}`);
  return { field, ofs, nBits: nBits ?? def.bits - ofs };
}

const asBits = (b: Bits): Subfield => (typeof b === "string" ? bits(b) : b);

/** `maxLen` matters only for the port CONTROLLER. */
export const output = (port: number, maxLen = 0): Output => ({ kind: "output", port, maxLen });
export const group = (groupId: number): GroupAction => ({ kind: "group", groupId });
export const setField = (field: FieldName, value: FieldValue, mask?: FieldValue): SetField => ({
  kind: "set_field",
  field,
  value,
  ...(mask === undefined ? {} : { mask }),
});

/** `load(5, "reg0")`, `load(5, "reg0", 0, 16)` or `load(5, bits("reg0", 0, 16))`. */
export const load = (value: FieldValue, dst: Bits, ofs?: number, nBits?: number): Load => ({
  kind: "load",
  dst: typeof dst === "string" ? bits(dst, ofs, nBits) : dst,
  value: BigInt(value),
});
export const move = (src: Bits, dst: Bits): Move => ({ kind: "move", src: asBits(src), dst: asBits(dst) });
export const push = (src: Bits): Push => ({ kind: "push", src: asBits(src) });
export const pop = (dst: Bits): Pop => ({ kind: "pop", dst: asBits(dst) });
export const decTtl = (): Action => ({ kind: "dec_ttl" });
export const note = (data: Buffer): Note => ({ kind: "note", data });

/** Without a table the current one, without a port the packet's own. */
export const resubmit = (to: { readonly table?: number; readonly inPort?: number }): Resubmit => ({
  kind: "resubmit",
  inPort: to.inPort ?? IN_PORT,
  table: to.table ?? CURRENT_TABLE,
});

/** A {@link Learn} with zero timeouts, cookie 0, priority 32768 and no flags where nothing else is said. */
export const learn = (
  o: { readonly table: number; readonly specs: readonly LearnSpec[] } & Partial<Omit<Learn, "kind">>,
): Learn => ({
  kind: "learn",
  priority: 32768,
  cookie: 0n,
  idleTimeout: 0,
  hardTimeout: 0,
  finIdleTimeout: 0,
  finHardTimeout: 0,
  sendFlowRem: false,
  deleteLearned: false,
  ...o,
});

const source = (src: Bits | FieldValue): Subfield | bigint =>
  typeof src === "number" || typeof src === "bigint" ? BigInt(src) : asBits(src);

/** The learned flow matches `dst` against what the packet has in `src` (the same field when absent), or a constant. */
export const learnMatch = (dst: Bits, src: Bits | FieldValue = dst): LearnSpec => ({
  kind: "match",
  dst: asBits(dst),
  src: source(src),
});

/** The learned flow writes `src` of the packet, or a constant, into `dst`. */
export const learnLoad = (src: Bits | FieldValue, dst: Bits): LearnSpec => ({
  kind: "load",
  dst: asBits(dst),
  src: source(src),
});

/** The learned flow outputs to the port that `src` of the packet holds. */
export const learnOutput = (src: Bits): LearnSpec => ({ kind: "output", src: asBits(src) });

/** A {@link Ct} in zone 0 without flags and actions where nothing else is said. */
export const ct = (o: Partial<Omit<Ct, "kind">> = {}): Ct => ({
  kind: "ct",
  commit: false,
  force: false,
  zone: 0,
  actions: [],
  ...o,
});
export const nat = (o: Omit<Nat, "kind"> = {}): Nat => ({ kind: "nat", ...o });
export const clone = (...actions: readonly Action[]): Clone => ({ kind: "clone", actions });

/** `multipath({ links: 1024, dst: bits("reg1", 0, 10) })`: by default modulo_n over symmetric_l4, basis and arg 0. */
export const multipath = (
  o: { readonly links: number; readonly dst: Bits } & Partial<Omit<Multipath, "kind" | "dst">>,
): Multipath => ({
  kind: "multipath",
  fields: "symmetric_l4",
  basis: 0,
  algorithm: "modulo_n",
  arg: 0,
  ...o,
  dst: asBits(o.dst),
});

/** The whole packet, to controllers with id 0, for reason "action" where nothing else is said. */
export const controller = (o: Partial<Omit<Controller, "kind">> = {}): Controller => ({
  kind: "controller",
  maxLen: 0xffff,
  controllerId: 0,
  reason: 1,
  ...o,
});
export const checkPktLarger = (bytes: number, dst: Bits): CheckPktLarger => ({
  kind: "check_pkt_larger",
  bytes,
  dst: asBits(dst),
});

export const gotoTable = (tableId: number): GotoTable => ({ kind: "goto_table", tableId });
export const apply = (...actions: readonly Action[]): ActionsInstruction => ({ kind: "apply_actions", actions });
export const write = (...actions: readonly Action[]): ActionsInstruction => ({ kind: "write_actions", actions });
export const meter = (meterId: number): MeterInstruction => ({ kind: "meter", meterId });
export const writeMetadata = (metadata: bigint, mask = 0xffff_ffff_ffff_ffffn): WriteMetadata => ({
  kind: "write_metadata",
  metadata,
  mask,
});
