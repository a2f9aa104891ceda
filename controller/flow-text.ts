import type { Instruction } from "../openflow/instructions.ts";
import type { Match } from "../openflow/match.ts";
import { formatInstructions } from "../openflow/text/actions.ts";
import { formatPriorityMatch } from "../openflow/text/print-flow.ts";

/** A flow in ovs-ofctl's words, without counters and cookie: `table=T, priority=P,MATCH actions=…`. */
export const flowText = (f: {
  readonly tableId: number;
  readonly priority: number;
  readonly match: Match;
  readonly instructions: readonly Instruction[];
}): string =>
  `table=${f.tableId}, ${formatPriorityMatch(f.match, f.priority)} actions=${formatInstructions(f.instructions)}`;
