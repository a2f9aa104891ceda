import { Parser } from "binary-parser";
import { DecodeError, EncodeError } from "../errors.ts";
import { type Codec, need, type Raw, type Writer } from "./codec.ts";
import { arrayOf, type Fields, layout, type Shape } from "./struct.ts";

/**
 * Records one after another up to the end of the enclosing thing, each with its own 16-bit length at `lengthAt` (which
 * must be padding among the fields): flow statistics, buckets, meter configurations, queues, table features.
 * @param badLength OVS error name for a length that cannot be
 */
export function recordsOf<F extends Fields>(
  fields: F,
  lengthAt: number,
  badLength: string,
): Codec<readonly Shape<F>[]> {
  const item = layout(fields);
  const lengthOf = (b: Buffer, at: number, end: number): number => {
    if (end - at < item.size) throw new DecodeError(badLength, at, `a record has at least ${item.size} bytes`);
    const length = b.readUInt16BE(at + lengthAt);
    if (length < item.size || length > end - at) {
      throw new DecodeError(badLength, at, `record length ${length}, ${end - at} bytes left`);
    }
    return length;
  };
  return {
    size: 0,
    fixed: false,
    rest: true,
    write: (w, records) => {
      for (const record of records) {
        const start = w.writeOffset;
        item.write(w, record);
        patchLength(w, start, start + lengthAt);
      }
    },
    parser: (p, name, take) => {
      const element = new Parser();
      if (lengthAt > 0) element.seek(lengthAt);
      element.uint16be("_l").seek(-(lengthAt + 2));
      item.parser(element, { kind: "tlv", header: 0 });
      arrayOf(p, name, element, take);
    },
    lift: (raw) => (raw as Raw[]).map(item.lift),
    fence: (b, at, end) => {
      let here = at;
      while (here < end) {
        const stop = here + lengthOf(b, here, end);
        const used = item.fence(b, here, stop);
        if (used !== stop) throw new DecodeError(badLength, used, `${stop - used} bytes left over in a record`);
        here = stop;
      }
      return here;
    },
  };
}

/** Writes the bytes since `start` as a 16-bit length at `at`. */
export function patchLength(w: Writer, start: number, at: number): void {
  const length = w.writeOffset - start;
  if (length > 0xffff) throw new EncodeError(`${length} bytes do not fit a 16-bit length`);
  w.writeUInt16BE(length, at);
}

/**
 * A list whose byte length stands in a 16-bit field before it, with `gap` bytes of padding between: the actions of a
 * PACKET_OUT. Unlike a rest field, others may follow.
 */
export function sized<T>(list: Codec<T>, gap: number, badLength: string): Codec<T> {
  return {
    size: 2 + gap,
    fixed: false,
    write: (w, value) => {
      const at = w.writeOffset;
      w.writeUInt16BE(0);
      w.writeBuffer(Buffer.alloc(gap));
      list.write(w, value);
      patchLength(w, at + 2 + gap, at);
    },
    parser: (p, name) => {
      const inner = new Parser().uint16be("n").seek(gap);
      list.parser(inner, "v", { eof: false, bytes: (self) => self["n"] as number });
      p.nest(name, { type: inner });
    },
    lift: (raw) => {
      const { v } = raw as { v: unknown };
      return list.lift ? list.lift(v) : (v as T);
    },
    fence: (b, at, end) => {
      need(at, 2 + gap, end);
      const length = b.readUInt16BE(at);
      const start = at + 2 + gap;
      need(start, length, end, badLength);
      const used = list.fence(b, start, start + length);
      if (used !== start + length) throw new DecodeError(badLength, used, "bytes left over in a list");
      return used;
    },
  };
}
