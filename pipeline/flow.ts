/**
 * Flows as features write them. The builder refuses at once what a switch would refuse later, or accept with another
 * meaning: an unknown table, a jump that is not allowed, a field without its prerequisite.
 */
import type { Action } from "../openflow/action-values.ts";
import { checkMatch } from "../openflow/check-match.ts";
import type { Instruction } from "../openflow/instruction-values.ts";
import type { Match } from "../openflow/match.ts";
import { cookie, type FeatureName, noObject, type ObjectRef } from "./cookies.ts";
import { type MatchRecord, matchOf } from "./match.ts";
import { tableById } from "./tables.ts";

/** A flow as it is wanted in a switch. Names are those of the flow statistics and flow mods of openflow/. */
export interface FlowSpec {
  readonly tableId: number;
  /** 0…65535; the highest matching one wins. */
  readonly priority: number;
  /** Canonical, see match.ts. */
  readonly match: Match;
  readonly instructions: readonly Instruction[];
  readonly cookie: bigint;
  /** Seconds; always 0: what we install stays until we take it away. */
  readonly idleTimeout: number;
  /** Seconds; always 0. */
  readonly hardTimeout: number;
  /** OFPFF_* bits. */
  readonly flags: number;
  /** One sentence for people. */
  readonly why: string;
}

/** What a feature says about a flow. */
export interface FlowInput {
  readonly table: number;
  readonly priority: number;
  readonly match?: MatchRecord;
  readonly actions?: readonly Action[];
  /** Where it goes on after the actions; absent: nowhere. */
  readonly goto?: number;
  readonly object?: ObjectRef;
  readonly why: string;
}

/** A flow that cannot be: a fault of the feature that built it, not of the operator. */
export class FlowError extends Error {
  constructor(feature: string, object: ObjectRef, detail: string) {
    super(`feature ${feature}, ${object.kind} ${object.id}: ${detail}`);
    this.name = "FlowError";
  }
}

/** Tables a list of actions leads to: behind ct() and by resubmit. */
const actionTargets = (
  actions: readonly Action[],
): { readonly next: readonly number[]; readonly resubmit: readonly number[] } => {
  const next: number[] = [];
  const resubmit: number[] = [];
  for (const action of actions) {
    if (action.kind === "ct" && action.table !== undefined) next.push(action.table);
    if (action.kind === "resubmit") resubmit.push(action.table);
  }
  return { next, resubmit };
};

const allActions = (instructions: readonly Instruction[]): readonly Action[] =>
  instructions.flatMap((i) => (i.kind === "apply_actions" || i.kind === "write_actions" ? i.actions : []));

/** What tables.ts has against the way a flow goes on, as text; undefined when that is allowed. */
export const jumpFault = ({
  tableId,
  instructions,
}: Pick<FlowSpec, "tableId" | "instructions">): string | undefined => {
  const table = tableById(tableId);
  if (table === undefined) return `no table ${tableId}`;
  const gotos = instructions.flatMap((i) => (i.kind === "goto_table" ? [i.tableId] : []));
  const backward = gotos.find((t) => t <= tableId);
  if (backward !== undefined) return `goto_table goes forward only, not from ${tableId} to ${backward}`;
  const { next, resubmit } = actionTargets(allActions(instructions));
  const stray = [...gotos, ...next].find((t) => !table.next.includes(t));
  if (stray !== undefined) return `table ${tableId} (${table.name}) may not continue in table ${stray}`;
  const wrong = resubmit.find((t) => !table.resubmit.includes(t));
  return wrong === undefined ? undefined : `table ${tableId} (${table.name}) may not resubmit to table ${wrong}`;
};

/** The flow builder of a feature: it puts the feature's name into cookies and errors. */
export const flowBuilder =
  (feature: FeatureName) =>
  (input: FlowInput): FlowSpec => {
    const object = input.object ?? noObject;
    const instructions: Instruction[] = [];
    if (input.actions !== undefined && input.actions.length > 0) {
      instructions.push({ kind: "apply_actions", actions: input.actions });
    }
    if (input.goto !== undefined) instructions.push({ kind: "goto_table", tableId: input.goto });
    const flow: FlowSpec = {
      tableId: input.table,
      priority: input.priority,
      match: matchOf(input.match ?? {}),
      instructions,
      cookie: cookie(feature, object),
      idleTimeout: 0,
      hardTimeout: 0,
      flags: 0,
      why: input.why,
    };
    const fault = jumpFault(flow) ?? checkMatch(flow.match)?.message;
    if (fault !== undefined) throw new FlowError(feature, object, `table ${input.table}, ${input.why} ${fault}`);
    return flow;
  };
