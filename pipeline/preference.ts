/**
 * How much each slot likes each member: the hash behind the slot layout.
 *
 * Every member of a pool holds one permutation of 0…size-1, as in Maglev (Eisenbud et al., NSDI 2016), and slot i's
 * rank with the member is the i-th entry. Maglev's permutations step by a skip; modulo a power of two the skips of two
 * members are often close to a simple ratio, and such pairs share their slots badly. Here the permutation is an affine map over
 * bits: i is multiplied by a random invertible bit matrix, then XORed with a random word. Any two such permutations are close
 * to evenly spread against each other, more evenly than independent random ones are, so fewer slots
 * need to be moved to make the shares exact.
 */
import { createHash } from "node:crypto";

/** Costs are fixed-point numbers with this many fractional bits: exact sums, no rounding that differs by machine. */
const fractionBits = 24;

/** 16-bit words from SHA-256 of `key`, then of that digest, and so on. */
function* words(key: string): Generator<number, never> {
  let digest = createHash("sha256").update(key).digest();
  for (;;) {
    for (let at = 0; at < digest.length; at += 2) yield digest.readUInt16BE(at);
    digest = createHash("sha256").update(digest).digest();
  }
}

/** The permutation of 0…2^bits-1 that belongs to `key`. */
export const permutation = (key: string, bits: number): Uint16Array => {
  const mask = (1 << bits) - 1;
  const random = words(key);
  const rank = new Uint16Array(1 << bits);
  rank[0] = random.next().value & mask;
  // leading[b]: a column reduced so that bit b is its highest one. A word that reduces to zero depends on the columns
  // before it, and a matrix with such a column would not be invertible.
  const leading = new Uint16Array(bits);
  for (let column = 0; column < bits; ) {
    const word = random.next().value & mask;
    let rest = word;
    while (rest !== 0) {
      const high = 31 - Math.clz32(rest);
      if (leading[high] === 0) {
        leading[high] = rest;
        break;
      }
      rest ^= leading[high]!;
    }
    if (rest === 0) continue;
    const half = 1 << column;
    for (let i = 0; i < half; i++) rank[half + i] = rank[i]! ^ word;
    column++;
  }
  return rank;
};

/** -ln((rank + ½) / size) for every rank, fixed point. */
const logarithms = (size: number): Float64Array =>
  Float64Array.from({ length: size }, (_, rank) => -Math.log((rank + 0.5) / size) * 2 ** fractionBits);

/**
 * The cost of each of `slots` at every member, slot by slot: `costs[i * members.length + m]` is that of `slots[i]` at
 * `members[m]`. A slot belongs to the member where it costs least. -ln(u) / weight makes that fair: members win in proportion to
 * their weights, and what a leaving member loses falls to the others in proportion to theirs (weighted rendezvous
 * hashing).
 *
 * @param size number of all slots, a power of two
 */
export const preferences = (
  size: number,
  slots: readonly number[],
  members: readonly { readonly key: string; readonly weight: number }[],
): Int32Array => {
  const bits = 31 - Math.clz32(size);
  const log = logarithms(size);
  const costs = new Int32Array(members.length * slots.length);
  members.forEach((member, m) => {
    const rank = permutation(member.key, bits);
    slots.forEach((slot, i) => {
      costs[i * members.length + m] = Math.round(log[rank[slot]!]! / member.weight);
    });
  });
  return costs;
};
