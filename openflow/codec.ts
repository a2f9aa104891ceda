import { SmartBuffer } from "smart-buffer";
import { DecodeError, EncodeError } from "./errors.ts";
import { type Message, messages } from "./messages/all.ts";
import { type AnyMessageDef, HEADER_SIZE, OFP_VERSION, readMessage, writeMessage } from "./messages/define.ts";
import { readUnknown, writeUnknown } from "./messages/inner.ts";
import { BufferWriter } from "./schema/buffer-writer.ts";
import type { Writer } from "./schema/codec.ts";

/** The header every OpenFlow message begins with (OF1.3.5 §7.1.1). */
export interface Header {
  readonly version: number;
  readonly type: number;
  readonly length: number;
  readonly xid: number;
}

export type Decoded =
  | { readonly ok: true; readonly message: Message }
  | { readonly ok: false; readonly error: DecodeError; readonly header?: Header };

const HELLO = 0;
/** Room for the messages sent most, so that the writer seldom has to grow. */
const INITIAL_SIZE = 256;

/** For the messages that a full set of flows is made of. */
const hot = new BufferWriter();

/**
 * The bytes of a message.
 * @throws EncodeError when a number is out of range, an element is of unknown kind or the message passes 65,535 bytes
 */
export function encode(message: Message): Buffer {
  if (message.type === "flow_mod" || message.type === "bundle_add_message") {
    hot.begin();
    write(hot, message);
    return hot.take();
  }
  const w = SmartBuffer.fromSize(INITIAL_SIZE);
  write(w, message);
  return w.toBuffer();
}

function write(w: Writer, message: Message): void {
  try {
    if (message.type === "unknown") writeUnknown(w, message);
    else {
      const def = messages.byName.get(message.type);
      if (!def) throw new EncodeError(`no message of type ${message.type}`);
      if (message.type === "hello") writeMessage(w, def, message, message.version ?? OFP_VERSION);
      else if (message.type === "bundle_add_message" && message.message.xid !== message.xid) {
        // A message in a bundle has the transaction id of the one around it.
        writeMessage(w, def, { ...message, message: { ...message.message, xid: message.xid } });
      } else writeMessage(w, def, message);
    }
  } catch (e) {
    if (e instanceof EncodeError) throw e;
    // Buffer and smart-buffer report values that do not fit their width by RangeError and TypeError.
    throw new EncodeError(`${message.type}: ${e instanceof Error ? e.message : String(e)}`);
  }
}

/** The header of a message; `b` has at least 8 bytes. */
export const readHeader = (b: Buffer): Header => ({
  version: b[0] as number,
  type: b[1] as number,
  length: b.readUInt16BE(2),
  xid: b.readUInt32BE(4),
});

/**
 * The value of exactly one message. Never throws; buffers inside the value alias `b`. Kinds, elements and fields this
 * codec has no name for are no errors but kept raw.
 */
export function decode(b: Buffer): Decoded {
  try {
    return { ok: true, message: decodeOrThrow(b) };
  } catch (e) {
    if (!(e instanceof DecodeError)) throw e;
    return b.length < HEADER_SIZE ? { ok: false, error: e } : { ok: false, error: e, header: readHeader(b) };
  }
}

function decodeOrThrow(b: Buffer): Message {
  if (b.length < HEADER_SIZE) throw new DecodeError("OFPBRC_BAD_LEN", 0, `${b.length} bytes are no header`);
  if (b[0] !== OFP_VERSION && b[1] !== HELLO) throw new DecodeError("OFPBRC_BAD_VERSION", 0, `version ${b[0]}`);
  if (b.readUInt16BE(2) !== b.length) {
    throw new DecodeError("OFPBRC_BAD_LEN", 2, `the header says ${b.readUInt16BE(2)} bytes, there are ${b.length}`);
  }
  const def: AnyMessageDef | undefined = messages.find(b, 0, b.length);
  if (!def) return readUnknown(b);
  const message = readMessage(def, b) as Message;
  return message.type === "hello" ? { ...message, version: b[0] as number } : message;
}
