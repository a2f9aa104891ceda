import { Parser } from "binary-parser";
import { DecodeError } from "../errors.ts";
import { fieldByName } from "../fields.ts";
import { type Match, match, matchFields } from "../match.ts";
import { isRaw, type Oxm, writeOxm, writeOxmAs } from "../oxm.ts";
import type { Codec, Raw, Writer } from "../schema/codec.ts";

const paddingOf = (length: number): number => (8 - (length % 8)) % 8;

/** Ports from here on are reserved in OpenFlow 1.0, whose 16-bit port numbers NXM has. */
const FIRST_RESERVED = 0xff00;
const MOVED = 0xffff_0000;

/** The port as OpenFlow 1.0 numbers it; absent for one that it does not have. */
function narrowed(port: number): number | undefined {
  if (port < FIRST_RESERVED) return port;
  return port >= FIRST_RESERVED + MOVED ? port - MOVED : undefined;
}

/** Writes a field with its NXM code point where it has one that can hold it, as Open vSwitch does in these messages. */
function writeNxm(w: Writer, f: Oxm): void {
  const def = isRaw(f) ? undefined : fieldByName(f.field);
  if (isRaw(f) || !def?.nxm) writeOxm(w, f);
  else if (f.field === "in_port") {
    const port = f.mask === undefined ? narrowed(Number(f.value)) : undefined;
    if (port === undefined) matchFields.write(w, [f]);
    else writeOxmAs(w, { field: "in_port", value: port }, def, "nxm");
  } else writeOxmAs(w, f, def, "nxm");
}

/**
 * Match fields without the `struct ofp_match` header, padded to 8 bytes, whose byte length stands in 16 bits that begin
 * `back` bytes before them (and must be padding in the layout): the match of Nicira's messages.
 */
export function paddedMatch(back: number): Codec<Match> {
  return {
    size: 0,
    fixed: false,
    write: (w, fields) => {
      const start = w.writeOffset;
      for (const f of fields) writeNxm(w, f);
      const length = w.writeOffset - start;
      w.writeUInt16BE(length, start - back);
      w.writeBuffer(Buffer.alloc(paddingOf(length)));
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
          return paddingOf(this["n"] as number);
        });
      p.nest(name, { type: inner });
    },
    lift: (raw) => matchFields.lift?.((raw as { b: Buffer }).b) as Match,
    fence: (b, at, end) => {
      const length = b.readUInt16BE(at - back);
      const stop = at + length + paddingOf(length);
      if (stop > end) throw new DecodeError("OFPBMC_BAD_LEN", at, `${length} bytes of match, ${end - at} left`);
      matchFields.fence(b, at, at + length);
      return stop;
    },
  };
}

/**
 * `struct ofp_match` whose length (header included, padding not) stands a second time, in 16 bits that begin `back`
 * bytes before it: flow monitors. Reading does not look at that second length.
 */
export function repeatedLengthMatch(back: number): Codec<Match> {
  const header = 4;
  return {
    ...match,
    write: (w, fields) => {
      const start = w.writeOffset;
      w.writeUInt32BE(0x0001_0000);
      matchFields.write(w, fields);
      const length = w.writeOffset - start;
      w.writeUInt16BE(length, start + header - 2);
      w.writeUInt16BE(length, start - back);
      w.writeBuffer(Buffer.alloc(paddingOf(length)));
    },
  };
}
