/** Flows arranged for look-ups. */
import type { Instruction } from "../../openflow/instruction-values.ts";
import type { FlowIdentity } from "../identity.ts";
import { type Matcher, matcherOf, matches, type PacketState } from "./packet.ts";

/** A flow as far as packets feel it. */
export interface SimulatedFlow extends FlowIdentity {
  readonly instructions: readonly Instruction[];
  readonly cookie: bigint;
}

interface Entry<F> {
  readonly flow: F;
  readonly matcher: Matcher;
}

/** The flow of a table that a packet meets; undefined when none matches. */
export type Lookup<F> = (tableId: number, state: PacketState) => F | undefined;

/** Flows by table, highest priority first. Of two that a packet matches with one priority, the first given wins. */
export const lookupIn = <F extends SimulatedFlow>(flows: Iterable<F>): Lookup<F> => {
  const byTable = new Map<number, Entry<F>[]>();
  for (const flow of flows) {
    const matcher = matcherOf(flow.match);
    if (matcher === undefined) continue;
    const entries = byTable.get(flow.tableId);
    if (entries) entries.push({ flow, matcher });
    else byTable.set(flow.tableId, [{ flow, matcher }]);
  }
  for (const entries of byTable.values()) entries.sort((a, b) => b.flow.priority - a.flow.priority);
  return (tableId, state) => byTable.get(tableId)?.find(({ matcher }) => matches(matcher, state))?.flow;
};
