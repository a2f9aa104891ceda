/** Load balancers as the file and the server have them, in one form, so that they can be compared. */

/** A value in the words of the file; null is what is not said and left to the daemon. */
export type Value = string | number | boolean | null | readonly string[];

/** Values by the file's key. */
export type Words = Readonly<Record<string, Value>>;

export interface Thing {
  readonly name: string;
  /** What can be changed while the object lives. */
  readonly words: Words;
  /** What cannot: a difference means another object. A null goes with everything. */
  readonly fixed: Words;
}

export interface Pool<T extends Thing = Thing> {
  readonly self: T;
  readonly members: readonly T[];
  /** Its name is empty: a pool has one at most. */
  readonly monitor: T | undefined;
}

export interface Vip {
  readonly segment: string;
  readonly ip: string;
}

export interface Balancer<T extends Thing = Thing> {
  readonly self: T;
  readonly vips: readonly Vip[];
  readonly listeners: readonly T[];
  readonly pools: readonly Pool<T>[];
}

/** What is on the server has an id. */
export interface Existing extends Thing {
  readonly id: string;
}

/** Milliseconds the API has for a listener that says nothing of idle connections; 0 means no timeout. */
export const usualIdleMs = 50_000;
