/**
 * Lets one line in `periodMs` through per key and says how many were held back since: a peer that sends nonsense as
 * fast as it can must not fill the disk.
 */
export class RateLimitedLog {
  #periodMs: number;
  #last = new Map<string, { at: number; held: number }>();

  constructor(periodMs = 10_000) {
    this.#periodMs = periodMs;
  }

  /** Calls `write` with the number of lines held back for `key` since the last one, or not at all. */
  line(key: string, write: (held: number) => void): void {
    const now = Date.now();
    const entry = this.#last.get(key);
    if (entry && now - entry.at < this.#periodMs) {
      entry.held++;
      return;
    }
    this.#last.delete(key);
    this.#last.set(key, { at: now, held: 0 });
    if (this.#last.size > 1_000) this.#last.delete(this.#last.keys().next().value as string);
    write(entry?.held ?? 0);
  }
}
