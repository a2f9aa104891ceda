/** Lists of actions and instructions as the characters of their bytes: equal strings mean equal lists. */
import { type Action, actions } from "./actions.ts";
import { EncodeError } from "./errors.ts";
import { type Instruction, instructions } from "./instructions.ts";
import { BufferWriter } from "./schema/buffer-writer.ts";

/** A reconciliation runs through it for every flow there is. */
const writer = new BufferWriter();

const bytesOf = (write: () => void): string => {
  writer.begin();
  try {
    write();
  } catch (e) {
    if (e instanceof EncodeError) throw e;
    // A value of another type than its field's is a TypeError of the engine.
    throw new EncodeError(e instanceof Error ? e.message : String(e));
  }
  return writer.takeLatin1();
};

/** What `list` is on the wire. @throws EncodeError for what has no bytes */
export const instructionsKey = (list: readonly Instruction[]): string =>
  bytesOf(() => instructions.write(writer, list));

/** What `list` is on the wire. @throws EncodeError for what has no bytes */
export const actionsKey = (list: readonly Action[]): string => bytesOf(() => actions.write(writer, list));
