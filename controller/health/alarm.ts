/** One timer for whatever comes first, which knows how late it is when it goes off. */
export class Alarm {
  #ring: (now: number, lateMs: number) => void;
  #timer: NodeJS.Timeout | undefined;
  #at = 0;

  /** @param ring called with the time by `performance.now()` */
  constructor(ring: (now: number, lateMs: number) => void) {
    this.#ring = ring;
  }

  /** Sees to it that the alarm goes off at a time, unless it does so earlier anyway. */
  by(at: number): void {
    if (at === Number.POSITIVE_INFINITY) return;
    const now = performance.now();
    const next = Math.max(now + 1, at);
    if (this.#timer !== undefined && this.#at <= next) return;
    clearTimeout(this.#timer);
    this.#at = next;
    this.#timer = setTimeout(() => this.#off(), next - now);
  }

  /** Forgets what it was to go off for. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #off(): void {
    this.#timer = undefined;
    const now = performance.now();
    this.#ring(now, now - this.#at);
  }
}
