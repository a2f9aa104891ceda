/** Lists of actions and instructions as the characters of their bytes: equal strings mean equal lists. */
import { SmartBuffer } from "smart-buffer";
import { type Action, actions } from "./actions.ts";
import { type Instruction, instructions } from "./instructions.ts";

// One buffer for all: its bytes are copied into a string before the next use, so nobody ever holds on to them.
const scratch = SmartBuffer.fromSize(1024);

const bytesOf = (write: (w: SmartBuffer) => void): string => {
  scratch.clear();
  write(scratch);
  return scratch.toString("latin1");
};

/** What `list` is on the wire. @throws EncodeError for what has no bytes */
export const instructionsKey = (list: readonly Instruction[]): string => bytesOf((w) => instructions.write(w, list));

/** What `list` is on the wire. @throws EncodeError for what has no bytes */
export const actionsKey = (list: readonly Action[]): string => bytesOf((w) => actions.write(w, list));
