/** So much at once, and so much per second in the long run. */
export interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

/** Token buckets by caller, for a bounded number of callers. */
export class RateLimit {
  #rate: Rate;
  #now: () => number;
  #most: number;
  #buckets = new Map<string, { left: number; at: number }>();

  /** @param now milliseconds of a clock that never goes back */
  constructor(rate: Rate, now: () => number = () => performance.now(), most = 4096) {
    this.#rate = rate;
    this.#now = now;
    this.#most = most;
  }

  /** Seconds the caller has to wait; 0 when it may go on, which is then counted. */
  take(caller: string): number {
    const { burst, perSecond } = this.#rate;
    const now = this.#now();
    const before = this.#buckets.get(caller);
    const left = before ? Math.min(burst, before.left + ((now - before.at) / 1000) * perSecond) : burst;
    const allowed = left >= 1;
    // The one that was quiet for longest is forgotten, and its bucket is most likely full again.
    this.#buckets.delete(caller);
    this.#buckets.set(caller, { left: allowed ? left - 1 : left, at: now });
    if (this.#buckets.size > this.#most) this.#buckets.delete(this.#buckets.keys().next().value as string);
    return allowed ? 0 : Math.max(1, Math.ceil((1 - left) / perSecond));
  }

  /** As {@link take}, without counting. */
  wait(caller: string): number {
    const before = this.#buckets.get(caller);
    if (!before) return 0;
    const left = before.left + ((this.#now() - before.at) / 1000) * this.#rate.perSecond;
    return left >= 1 ? 0 : Math.max(1, Math.ceil((1 - left) / this.#rate.perSecond));
  }
}
