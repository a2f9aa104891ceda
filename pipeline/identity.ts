/**
 * When two flows are one flow, and when a flow needs no change. Both questions are answered by comparing strings, which
 * are made once for each flow of a program.
 */
import { canonicalMatch } from "../openflow/canonical.ts";
import type { Instruction } from "../openflow/instruction-values.ts";
import type { Match, OxmField, RawOxm } from "../openflow/match.ts";
import { actionsKey, instructionsKey } from "../openflow/wire-key.ts";
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

/** The identity of a flow whose match is canonical already, as those of a program and of switches are. */
export const canonicalFlowKey = ({ tableId, priority, match }: FlowIdentity): string => {
  let key = `${tableId} ${priority}`;
  for (const f of match) key += ` ${fieldKey(f)}`;
  return key;
};

/** Table, priority and canonical match as a string: two flows with one key are one flow to a switch. */
export const flowKey = (flow: FlowIdentity): string => canonicalFlowKey({ ...flow, match: canonicalMatch(flow.match) });

const isEmptyApply = (i: Instruction): boolean => i.kind === "apply_actions" && i.actions.length === 0;

/** The bytes of the instructions as a string. */
export const bodyKey = (instructions: readonly Instruction[]): string =>
  instructionsKey(instructions.some(isEmptyApply) ? instructions.filter((i) => !isEmptyApply(i)) : instructions);

/** Whether a flow needs no change to become `want`, a flow with the same identity. */
export const sameBody = (have: FlowBody, want: FlowBody & { readonly body: string }): boolean =>
  have.cookie === want.cookie &&
  have.idleTimeout === want.idleTimeout &&
  have.hardTimeout === want.hardTimeout &&
  have.flags === want.flags &&
  bodyKey(have.instructions) === want.body;

/** The buckets of a group as a string. Their order counts, as it does to a switch. */
export const bucketsKey = (buckets: readonly BucketSpec[]): string =>
  buckets.map((b) => `${b.weight} ${b.watchPort} ${b.watchGroup} ${actionsKey(b.actions)}`).join(";");
