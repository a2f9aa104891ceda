/**
 * Seats by weight: how many slots each member of a pool gets.
 *
 * Webster's divisor method: seat after seat goes to whoever has the largest weight / (2 × seats + 1). Unlike rounding
 * by largest remainder it never takes a seat away from anybody when another leaves or when seats are added, and
 * that is what keeps slots in place.
 */

/** Somebody who gets seats. */
export interface Claim {
  /** A positive integer. */
  readonly weight: number;
  /** Seats taken already. */
  readonly seats: number;
}

/**
 * Hands out `seats` more seats and returns how many each claim got of these. Equal claims are served in the order given.
 * Without claims nobody gets anything.
 */
export const apportion = (seats: number, claims: readonly Claim[]): readonly number[] => {
  const held = claims.map((c) => c.seats);
  if (claims.length > 0) {
    for (let i = 0; i < seats; i++) {
      let best = 0;
      for (let c = 1; c < claims.length; c++) {
        // weight / (2 seats + 1), compared without a division so that equal claims are exactly equal
        if (claims[c]!.weight * (2 * held[best]! + 1) > claims[best]!.weight * (2 * held[c]! + 1)) best = c;
      }
      held[best]!++;
    }
  }
  return held.map((n, c) => n - claims[c]!.seats);
};
