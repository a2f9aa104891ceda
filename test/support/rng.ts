/** Numbers that a seed determines (xorshift32). */
export interface Rng {
  /** A whole number below `n`. */
  below(n: number): number;
  u8(): number;
  u16(): number;
  u32(): number;
  u64(): bigint;
  mac(): number;
  bytes(n: number): Buffer;
  pick<T>(list: readonly T[]): T;
}

export function rng(seed: number): Rng {
  let state = seed * 0x9e3779b1 || 1;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  const below = (n: number): number => Math.floor((next() / 2 ** 32) * n);
  return {
    below,
    u8: () => below(256),
    u16: () => below(65536),
    u32: next,
    u64: () => (BigInt(next()) << 32n) | BigInt(next()),
    mac: () => below(65536) * 2 ** 32 + next(),
    bytes: (n) => Buffer.from(Array.from({ length: n }, () => below(256))),
    pick: (list) => list[below(list.length)] as never,
  };
}
