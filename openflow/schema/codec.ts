import type { Parser } from "binary-parser";
import { DecodeError } from "../errors.ts";

/**
 * What an encoder needs of smart-buffer. Hot paths hand in `BufferWriter`, another implementation of the same few calls.
 * With an `offset` a call overwrites what has been written there. Numbers that do not fit their width throw.
 */
export interface Writer {
  /** Bytes written so far. */
  readonly writeOffset: number;
  writeUInt8(value: number, offset?: number): void;
  writeUInt16BE(value: number, offset?: number): void;
  writeUInt32BE(value: number, offset?: number): void;
  writeBigUInt64BE(value: bigint, offset?: number): void;
  writeBuffer(value: Buffer, offset?: number): void;
}

/** The calls that write a number. */
type NumberCall = "writeUInt8" | "writeUInt16BE" | "writeUInt32BE" | "writeBigUInt64BE";

/**
 * Where a field that takes "the rest" ends, told to the generated parser: at the end of the buffer, or at a length
 * that the enclosing TLV has already read (`this._l`, counted from the variant's body with `header` bytes before it).
 */
export type Span = { readonly kind: "eof" } | { readonly kind: "tlv"; readonly header: number };

/**
 * One wire thing. From the same object come the encoder (smart-buffer), the decoder (a piece of a binary-parser
 * parser plus `lift`, which turns what that parser read into the value) and the fence.
 *
 * The fence runs over the bytes before any generated parser does and proves that every length inside fits: binary-parser
 * itself neither notices a child that outgrows its parent nor a length of zero that would make it loop.
 */
export interface Codec<T> {
  /** Bytes this takes at least; exactly, when `fixed`. */
  readonly size: number;
  readonly fixed: boolean;
  /** Takes everything up to the end of the enclosing thing; only the last field of a struct may. */
  readonly rest?: boolean;
  write(w: Writer, value: T): void;
  /** The one call that `write` makes with the value, where it does no more: generated writers make it themselves. */
  readonly call?: NumberCall;
  parser(p: Parser, name: string, take: Take): void;
  /** Value from what the parser left under the field's name; absent when that is the value already. */
  readonly lift?: (raw: unknown) => T;
  /**
   * Reads fenced bytes without a generated parser, where that is as simple. A list whose elements can all be read so is:
   * an element that a parser has first to find costs more than the reading. `end` matters to what takes the rest.
   */
  readonly at?: (b: Buffer, at: number, end: number) => T;
  /** Checks the bytes from `at`, which may use none at or after `end`; returns where this thing ends. */
  fence(b: Buffer, at: number, end: number): number;
}

/** How many bytes a rest field takes, in binary-parser's terms. */
export type Take = { readonly eof: true } | { readonly eof: false; readonly bytes: (self: Raw) => number };

/** Objects that a generated parser makes. */
export type Raw = Record<string, unknown>;

/** Bytes that carry nothing: written as zero, not read. */
export interface Pad {
  readonly pad: number;
}

/** Refuses input that ends too early; `code` is the OVS error name to answer with. */
export function need(at: number, size: number, end: number, code = "OFPBRC_BAD_LEN"): void {
  if (at + size > end) throw new DecodeError(code, at, `${size} bytes wanted, ${end - at} left`);
}

function leaf<T>(
  size: number,
  write: (w: Writer, v: T) => void,
  parser: (p: Parser, name: string) => void,
  lift?: (raw: unknown) => T,
  at?: (b: Buffer, at: number) => T,
): Codec<T> {
  return {
    size,
    fixed: true,
    write,
    parser,
    ...(lift ? { lift } : {}),
    ...(at ? { at } : {}),
    fence: (_b, at, end) => {
      need(at, size, end);
      return at + size;
    },
  };
}

/** A number that one call writes. */
const number = <T extends number | bigint>(
  size: number,
  call: NumberCall,
  parser: (p: Parser, name: string) => void,
  at: (b: Buffer, at: number) => T,
): Codec<T> => ({
  // Which of the calls take a bigint is for the definitions below to know.
  ...leaf<T>(size, (w, v) => w[call](v as never), parser, undefined, at),
  call,
});

export const u8: Codec<number> = number(
  1,
  "writeUInt8",
  (p, n) => p.uint8(n),
  (b, at) => b.readUInt8(at),
);
export const u16: Codec<number> = number(
  2,
  "writeUInt16BE",
  (p, n) => p.uint16be(n),
  (b, at) => b.readUInt16BE(at),
);
export const u32: Codec<number> = number(
  4,
  "writeUInt32BE",
  (p, n) => p.uint32be(n),
  (b, at) => b.readUInt32BE(at),
);
export const u64: Codec<bigint> = number(
  8,
  "writeBigUInt64BE",
  (p, n) => p.uint64be(n),
  (b, at) => b.readBigUInt64BE(at),
);

/** A 48-bit Ethernet address as a number: exact, since 2^48 < 2^53. */
export const mac: Codec<number> = leaf(
  6,
  (w, v) => writeUint48(w, v),
  (p, n) => p.buffer(n, { length: 6 }),
  (raw) => (raw as Buffer).readUIntBE(0, 6),
  (b, at) => b.readUIntBE(at, 6),
);

/** Writes 48 bits most significant first. */
export function writeUint48(w: Writer, v: number): void {
  w.writeUInt16BE(Math.floor(v / 0x1_0000_0000));
  w.writeUInt32BE(v % 0x1_0000_0000);
}

/** `n` zero bytes. */
export const pad = (n: number): Pad => ({ pad: n });

/** `n` bytes as they are. */
export const bytes = (n: number): Codec<Buffer> =>
  leaf(
    n,
    (w, v) => {
      w.writeBuffer(v.length === n ? v : Buffer.concat([v, Buffer.alloc(n)]).subarray(0, n));
    },
    (p, name) => p.buffer(name, { length: n }),
  );

/** A NUL-padded string of `n` bytes; bytes that are not UTF-8 become U+FFFD when read. */
export const str = (n: number): Codec<string> =>
  leaf(
    n,
    (w, v) => {
      const field = Buffer.alloc(n);
      field.write(v, 0, n, "utf8");
      w.writeBuffer(field);
    },
    (p, name) => p.buffer(name, { length: n }),
    (raw) => {
      const b = raw as Buffer;
      const end = b.indexOf(0);
      return b.toString("utf8", 0, end < 0 ? b.length : end);
    },
  );

/** Everything up to the end of the enclosing thing, as bytes. */
export const restBytes: Codec<Buffer> = {
  size: 0,
  fixed: false,
  rest: true,
  write: (w, v) => {
    w.writeBuffer(v);
  },
  parser: takeBuffer,
  fence: (_b, _at, end) => end,
};

/** Reads the rest as a slice under `name`: the common first step of codecs that go on by themselves. */
export function takeBuffer(p: Parser, name: string, take: Take): void {
  if (take.eof) p.buffer(name, { readUntil: "eof" });
  else {
    const { bytes: length } = take;
    p.buffer(name, {
      length: function (this: Raw) {
        return length(this);
      },
    });
  }
}

/** A value in the rest that no fixed layout describes; `check` is its fence and must throw {@link DecodeError} on bad bytes. */
export function rest<T>(def: {
  readonly min?: number;
  readonly write: (w: Writer, v: T) => void;
  readonly read: (b: Buffer) => T;
  readonly check?: (b: Buffer, at: number, end: number) => void;
}): Codec<T> {
  const min = def.min ?? 0;
  return {
    size: min,
    fixed: false,
    rest: true,
    write: def.write,
    parser: takeBuffer,
    lift: (raw) => def.read(raw as Buffer),
    fence: (b, at, end) => {
      need(at, min, end);
      def.check?.(b, at, end);
      return end;
    },
  };
}
