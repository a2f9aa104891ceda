import { Parser } from "binary-parser";
import { DecodeError, EncodeError } from "../errors.ts";
import type { Codec, Raw, Writer } from "../schema/codec.ts";
import { type AnyMessageDef, HEADER_SIZE, lengthFits, type MessageOf, OFP_VERSION, writeMessage } from "./define.ts";
import { registryOf } from "./registry.ts";
import type { UnknownMessage } from "./unknown.ts";

/** OVS error names for what can be wrong with the header of an inner message. */
export interface InnerErrors {
  readonly version: string;
  readonly length: string;
}

/**
 * A whole message as a field of another one, with its own header. Kinds other than `defs` stay raw.
 */
export function innerMessage<const D extends readonly AnyMessageDef[]>(
  defs: D,
  errors: InnerErrors,
): Codec<MessageOf<D[number]> | UnknownMessage> {
  type M = MessageOf<D[number]> | UnknownMessage;
  const registry = registryOf(defs);
  return {
    size: HEADER_SIZE,
    fixed: false,
    write: (w: Writer, value: M) => {
      const { type } = value as { type: string };
      const def = registry.byName.get(type);
      if (def) writeMessage(w, def, value);
      else if (type === "unknown") writeUnknown(w, value as UnknownMessage);
      else throw new EncodeError(`a message of type ${type} cannot stand inside another`);
    },
    parser: (p, name) => {
      const inner = new Parser()
        .seek(2)
        .uint16be("n")
        .seek(-4)
        .buffer("b", {
          length: function (this: Raw) {
            return this["n"] as number;
          },
        });
      p.nest(name, { type: inner });
    },
    lift: (raw) => {
      const { b } = raw as { b: Buffer };
      const def = registry.find(b, 0, b.length);
      return (def ? def.parse(b.subarray(4)) : readUnknown(b)) as M;
    },
    fence: (b, at, end) => {
      const length = end - at < HEADER_SIZE ? 0 : b.readUInt16BE(at + 2);
      const stop = at + length;
      if (length < HEADER_SIZE || stop > end) {
        throw new DecodeError("OFPBFC_MSG_BAD_LEN", at, `inner message of ${length} bytes, ${end - at} left`);
      }
      if (b[at] !== OFP_VERSION) throw new DecodeError(errors.version, at, `inner message of version ${b[at]}`);
      const def = registry.find(b, at, stop);
      if (def) {
        if (!lengthFits(def, length)) throw new DecodeError(errors.length, at + 2, `${def.name} of ${length} bytes`);
        const used = def.body.fence(b, at + 4, stop);
        if (used !== stop && !def.trailing)
          throw new DecodeError("OFPBRC_BAD_LEN", used, `${stop - used} bytes left over`);
      }
      return stop;
    },
  };
}

/** Writes a message kept raw. */
export function writeUnknown(w: Writer, value: UnknownMessage): void {
  const length = HEADER_SIZE + value.body.length;
  if (length > 0xffff) throw new EncodeError(`${length} bytes, a message has at most 65535`);
  w.writeUInt8(OFP_VERSION);
  w.writeUInt8(value.ofType);
  w.writeUInt16BE(length);
  w.writeUInt32BE(value.xid);
  w.writeBuffer(value.body);
}

/** Keeps a message raw. */
export const readUnknown = (b: Buffer): UnknownMessage => ({
  type: "unknown",
  xid: b.readUInt32BE(4),
  ofType: b[1] as number,
  body: b.subarray(HEADER_SIZE),
});
