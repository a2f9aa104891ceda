import { Parser } from "binary-parser";
import { SmartBuffer } from "smart-buffer";
import { DecodeError } from "../errors.ts";
import { fenceOxms, type Match, match } from "../match.ts";
import { type Codec, type Raw, rest, type Writer } from "../schema/codec.ts";

/*
 * Nicira's messages carry OXM and NXM fields without the `struct ofp_match` header around them. The match codec wants
 * that header, so it is put before the bytes when reading and cut off again when writing.
 */

const MATCH_HEADER = 4;

let parser: Parser | undefined;

function readFields(b: Buffer): Match {
  if (!parser) {
    parser = new Parser();
    match.parser(parser, "m", { eof: true });
  }
  const length = b.length + MATCH_HEADER;
  const whole = Buffer.alloc(Math.ceil(length / 8) * 8);
  whole.writeUInt16BE(1);
  whole.writeUInt16BE(length, 2);
  b.copy(whole, MATCH_HEADER);
  const { m } = parser.parse(whole) as { m: unknown };
  return match.lift ? match.lift(m) : (m as Match);
}

function writeFields(w: Writer, fields: Match): number {
  const scratch = new SmartBuffer();
  match.write(scratch, fields);
  const bytes = scratch.toBuffer();
  const length = bytes.readUInt16BE(2);
  w.writeBuffer(bytes.subarray(MATCH_HEADER, length));
  return length - MATCH_HEADER;
}

/** Fields up to the end of the enclosing thing. */
export const oxmList: Codec<Match> = rest<Match>({ write: writeFields, read: readFields, check: fenceOxms });

/**
 * Fields padded to 8 bytes, whose byte length stands in 16 bits that begin `back` bytes before them (and must be
 * padding in the layout): the match of Nicira's messages.
 */
export function paddedOxmList(back: number): Codec<Match> {
  return {
    size: 0,
    fixed: false,
    write: (w, fields) => {
      const at = w.writeOffset - back;
      const length = writeFields(w, fields);
      w.writeUInt16BE(length, at);
      w.writeBuffer(Buffer.alloc((8 - (length % 8)) % 8));
    },
    parser: (p, name) => {
      const inner = new Parser()
        .seek(-back)
        .uint16be("n")
        .seek(back - 2)
        .buffer("b", {
          length: function (this: Raw) {
            return this["n"] as number;
          },
        })
        .seek(function (this: Raw) {
          return (8 - ((this["n"] as number) % 8)) % 8;
        });
      p.nest(name, { type: inner });
    },
    lift: (raw) => readFields((raw as { b: Buffer }).b),
    fence: (b, at, end) => {
      const length = b.readUInt16BE(at - back);
      const stop = at + Math.ceil(length / 8) * 8;
      if (stop > end) throw new DecodeError("OFPBMC_BAD_LEN", at, `${length} bytes of match, ${end - at} left`);
      fenceOxms(b, at, at + length);
      return stop;
    },
  };
}

/**
 * `struct ofp_match` whose length (header included, padding not) stands a second time, in 16 bits that begin `back`
 * bytes before it: flow monitors. Switches ignore that second length, and so does this when reading.
 */
export function repeatedLengthMatch(back: number): Codec<Match> {
  return {
    ...match,
    write: (w, fields) => {
      w.writeUInt16BE(matchLength(fields), w.writeOffset - back);
      match.write(w, fields);
    },
  };
}

function matchLength(fields: Match): number {
  const scratch = new SmartBuffer();
  match.write(scratch, fields);
  return scratch.toBuffer().readUInt16BE(2);
}
