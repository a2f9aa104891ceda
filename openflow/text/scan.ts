/** The grammar that ovs-ofctl's actions and their arguments share: `key`, `key:value`, `key=value` and `key(value)`. */
import { ParseError } from "./parse-error.ts";

/** A piece of what the user typed, and where it began. */
export interface Piece {
  readonly text: string;
  readonly column: number;
}

export interface KeyValue {
  readonly key: string;
  readonly column: number;
  /** Empty when there was none. */
  readonly value: Piece;
}

const SPACE = /[, \t\r\n]/;
const KEY_END = /[:=(, \t\r\n]/;

/** Where the value that begins at `from` ends: before the first of `stop` that no parenthesis encloses. */
function valueEnd(text: string, from: number, stop: RegExp, column: number): number {
  let depth = 0;
  for (let i = from; i < text.length; i++) {
    const c = text[i] as string;
    if (depth === 0 && stop.test(c)) return i;
    if (c === "(") depth++;
    else if (c === ")") depth--;
  }
  if (depth > 0 || stop.test(")")) throw new ParseError(column + text.length, "a parenthesis is not closed", [")"]);
  return text.length;
}

/** Splits `a:1,b(2,3),c=4,d` into keys and values; commas and spaces separate. */
export function scan(piece: Piece): KeyValue[] {
  const { text, column } = piece;
  const out: KeyValue[] = [];
  let at = 0;
  for (;;) {
    while (at < text.length && SPACE.test(text[at] as string)) at++;
    if (at >= text.length) return out;
    let end = at;
    while (end < text.length && !KEY_END.test(text[end] as string)) end++;
    const key = text.slice(at, end);
    const delimiter = text[end];
    let value: Piece = { text: "", column: column + end };
    let next = end;
    if (delimiter === "(") {
      const from = end + 1;
      let stop = valueEnd(text, from, /[)]/, column);
      next = stop + 1;
      // `check_pkt_larger(1500)->reg0[0]`: what the arrow leads to belongs to the argument.
      if (text.startsWith("->", next)) {
        stop = valueEnd(text, next, SPACE, column);
        next = stop;
      }
      value = { text: text.slice(from, stop), column: column + from };
    } else if (delimiter === ":" || delimiter === "=") {
      const from = end + 1;
      next = valueEnd(text, from, SPACE, column);
      value = { text: text.slice(from, next), column: column + from };
    }
    out.push({ key, column: column + at, value });
    at = Math.max(next, at + 1);
  }
}

/** Splits at commas and spaces only. */
export function split(piece: Piece): Piece[] {
  return [...piece.text.matchAll(/[^, \t\r\n]+/g)].map((m) => ({ text: m[0], column: piece.column + m.index }));
}

/** Splits `source->target`. */
export function arrow(piece: Piece): { readonly from: Piece; readonly to: Piece } {
  const at = piece.text.indexOf("->");
  if (at < 0) throw new ParseError(piece.column + piece.text.length, "the arrow is missing", ["VALUE->FIELD"]);
  const to = { text: piece.text.slice(at + 2), column: piece.column + at + 2 };
  if (to.text === "") throw new ParseError(to.column, "no field after the arrow", ["FIELD"]);
  return { from: { text: piece.text.slice(0, at), column: piece.column }, to };
}

/** Reads a whole number in C's notation (decimal, 0x…, 0…) as a bigint. */
export function bigInteger(piece: Piece, bits: number, what: string): bigint {
  const { text, column } = piece;
  const octal = /^0[0-7]+$/.test(text);
  if (!octal && !/^(0x[0-9a-f]+|[0-9]+)$/i.test(text)) {
    throw new ParseError(column, `"${text}" is not a number for ${what}`, ["DECIMAL", "0xHEX"]);
  }
  const n = BigInt(octal ? `0o${text.slice(1)}` : text);
  if (n >> BigInt(bits) !== 0n) {
    throw new ParseError(column, `${text} is too large for ${what}, which has ${bits} bits`, []);
  }
  return n;
}

/** The same as a number, up to 53 bits. */
export const integer = (piece: Piece, bits: number, what: string): number => Number(bigInteger(piece, bits, what));

/** One of several words, in any case. */
export function oneOf<T extends string>(piece: Piece, words: readonly T[], what: string): T {
  const found = words.find((w) => w === piece.text.toLowerCase());
  if (found === undefined) throw new ParseError(piece.column, `"${piece.text}" is no ${what}`, words);
  return found;
}

/** Bytes in hex digits, pairs of which may be separated by dots or spaces. */
export function hexBytes(piece: Piece): Buffer {
  const bytes: number[] = [];
  let at = 0;
  const { text } = piece;
  for (;;) {
    while (at < text.length && /[. \t]/.test(text[at] as string)) at++;
    if (at >= text.length) return Buffer.from(bytes);
    const pair = text.slice(at, at + 2);
    if (!/^[0-9a-f]{2}$/i.test(pair)) {
      throw new ParseError(piece.column + at, `"${pair}" is not a pair of hex digits`, ["00 … ff"]);
    }
    bytes.push(Number.parseInt(pair, 16));
    at += 2;
  }
}

/** A key that its surroundings do not know. */
export const unknownKey = (item: KeyValue, where: string, possible: readonly string[]): ParseError =>
  new ParseError(item.column, `${where} has no argument "${item.key}"`, possible);
