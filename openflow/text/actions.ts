/** Actions and instructions in the text of ovs-ofctl (ovs-actions(7)). */
import { type Action, actions } from "../actions.ts";
import { inOrder } from "../check.ts";
import { type Instruction, instructions } from "../instructions.ts";

/** `output:1,group:2`; `drop` when there are none. */
export const formatActions = (list: readonly Action[]): string => list.map(actions.text).join(",") || "drop";

/** The same of instructions, which print in the order in which they run; apply_actions without a word around. */
export function formatInstructions(list: readonly Instruction[]): string {
  const parts = inOrder(list).filter((i) => i.kind !== "apply_actions" || i.actions.length > 0);
  return parts.map(instructions.text).join(",") || "drop";
}
