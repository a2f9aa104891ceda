/** Lists of actions and instructions as the characters of their bytes: equal strings mean equal lists. */
import { type Action, actions } from "./actions.ts";
import { EncodeError } from "./errors.ts";
import { type Instruction, instructions } from "./instructions.ts";
import type { Writer } from "./schema/codec.ts";

/** As much as a flow mod can hold. */
const scratch = Buffer.alloc(0x1_0000);

/** The calls encoders make, on the scratch buffer: a reconciliation runs through them for every flow there is. */
const calls = {
  writeOffset: 0,
  writeUInt8(value: number, offset?: number) {
    scratch.writeUInt8(value, offset ?? calls.writeOffset);
    if (offset === undefined) calls.writeOffset += 1;
  },
  writeUInt16BE(value: number, offset?: number) {
    scratch.writeUInt16BE(value, offset ?? calls.writeOffset);
    if (offset === undefined) calls.writeOffset += 2;
  },
  writeUInt32BE(value: number, offset?: number) {
    scratch.writeUInt32BE(value, offset ?? calls.writeOffset);
    if (offset === undefined) calls.writeOffset += 4;
  },
  writeBigUInt64BE(value: bigint, offset?: number) {
    scratch.writeBigUInt64BE(value, offset ?? calls.writeOffset);
    if (offset === undefined) calls.writeOffset += 8;
  },
  writeBuffer(value: Buffer, offset?: number) {
    const at = offset ?? calls.writeOffset;
    if (at + value.length > scratch.length) throw new EncodeError(`${value.length} bytes at ${at} do not fit`);
    value.copy(scratch, at);
    if (offset === undefined) calls.writeOffset += value.length;
  },
};

// smart-buffer's methods return the writer, for chaining; no encoder chains.
const writer = calls as unknown as Writer;

const bytesOf = (write: () => void): string => {
  calls.writeOffset = 0;
  try {
    write();
  } catch (e) {
    if (e instanceof EncodeError) throw e;
    // Buffer reports numbers that do not fit their width by RangeError and TypeError.
    throw new EncodeError(e instanceof Error ? e.message : String(e));
  }
  return scratch.toString("latin1", 0, calls.writeOffset);
};

/** What `list` is on the wire. @throws EncodeError for what has no bytes */
export const instructionsKey = (list: readonly Instruction[]): string =>
  bytesOf(() => instructions.write(writer, list));

/** What `list` is on the wire. @throws EncodeError for what has no bytes */
export const actionsKey = (list: readonly Action[]): string => bytesOf(() => actions.write(writer, list));
