/** Sequence numbers (modulo 2^32, RFC 9293 §3.4) and data that came out of order. Pure. */

/** Sequence number `n` behind another. */
export const add = (seq: number, n: number): number => (seq + n) >>> 0;

/** How far `a` is behind `b` in the stream, negative when it comes before; right up to 2^31 apart. */
export const compare = (a: number, b: number): number => (a - b) | 0;

/** Bytes with the sequence number of the first. */
export interface Piece {
  readonly seq: number;
  readonly bytes: Uint8Array;
}

/**
 * Puts a piece among those that wait, cut to the `window` bytes from `from` on. The pieces returned are in order and do not
 * overlap: of bytes that came twice, the first are kept.
 */
export const insert = (waiting: readonly Piece[], from: number, piece: Piece, window: number): readonly Piece[] => {
  const start = Math.max(0, compare(piece.seq, from));
  const stop = Math.min(window, compare(add(piece.seq, piece.bytes.length), from));
  const result: Piece[] = [];
  let at = start;
  /** Adds what of the new piece lies before `limit` and is not there yet. */
  const fill = (limit: number): void => {
    const until = Math.min(limit, stop);
    if (until <= at) return;
    const offset = compare(add(from, at), piece.seq);
    result.push({ seq: add(from, at), bytes: piece.bytes.subarray(offset, offset + until - at) });
    at = until;
  };
  for (const w of waiting) {
    const begin = compare(w.seq, from);
    fill(begin);
    result.push(w);
    at = Math.max(at, begin + w.bytes.length);
  }
  fill(stop);
  return result;
};

/** Takes from the pieces what continues the stream at `from` without a gap. */
export const take = (
  waiting: readonly Piece[],
  from: number,
): { readonly pieces: readonly Uint8Array[]; readonly next: number; readonly rest: readonly Piece[] } => {
  const pieces: Uint8Array[] = [];
  let next = from;
  let count = 0;
  for (const w of waiting) {
    if (w.seq !== next) break;
    pieces.push(w.bytes);
    next = add(next, w.bytes.length);
    count++;
  }
  return { pieces, next, rest: waiting.slice(count) };
};
