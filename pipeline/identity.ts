/**
 * When two flows are one flow, and when a flow needs no change. Both questions are answered by comparing strings, so
 * that each flow is looked at once and not once for every comparison.
 */
import { canonicalMatch } from "../openflow/canonical.ts";
import type { Instruction } from "../openflow/instruction-values.ts";
import type { Match, OxmField, RawOxm } from "../openflow/match.ts";
import type { BucketSpec } from "./program.ts";

/** The part of a flow that says which flow it is. */
export interface FlowIdentity {
  readonly tableId: number;
  readonly priority: number;
  readonly match: Match;
}

/** The part of a flow that may change in place. */
export interface FlowBody {
  readonly instructions: readonly Instruction[];
  readonly cookie: bigint;
  readonly idleTimeout: number;
  readonly hardTimeout: number;
  readonly flags: number;
}

const fieldKey = (f: OxmField | RawOxm): string => {
  if (f.field === "raw") {
    const raw = f as RawOxm;
    return `raw ${raw.header} ${raw.body.toString("hex")}`;
  }
  const { field, value, mask } = f as OxmField;
  return mask === undefined ? `${field}=${value}` : `${field}=${value}/${mask}`;
};

/** Table, priority and canonical match as a string. */
export const flowKey = ({ tableId, priority, match }: FlowIdentity): string =>
  `${tableId} ${priority} ${canonicalMatch(match).map(fieldKey).join(",")}`;

/** Any value of openflow/ as a string: keys sorted, absent ones left out. */
const canonical = (value: unknown): string => {
  if (Buffer.isBuffer(value)) return value.toString("hex");
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  return `{${Object.entries(value)
    .filter(([, v]) => v !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([k, v]) => `${k}:${canonical(v)}`)
    .join(",")}}`;
};

const isEmptyApply = (i: Instruction): boolean => i.kind === "apply_actions" && i.actions.length === 0;

/** Cookie, timeouts, flags and instructions as a string. */
export const flowBody = (f: FlowBody): string =>
  `${f.cookie} ${f.idleTimeout} ${f.hardTimeout} ${f.flags} ${canonical(f.instructions.filter((i) => !isEmptyApply(i)))}`;

/** A bucket or a band list as a string. */
export const listKey = (list: readonly (BucketSpec | object)[]): string => canonical(list);
