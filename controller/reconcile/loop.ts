/**
 * The loop that brings a switch to the desired state: look, compare, change, look again. Level-triggered: reasons to
 * run only set a flag, and each round compares the whole desired state with what the switch really holds.
 */

/** How a round ended. */
export type RoundResult =
  /** The switch holds what it should. `changes` counts what this round had to do for it. */
  | { readonly kind: "steady"; readonly changes: number }
  /** The switch refused a change and keeps its old state. */
  | { readonly kind: "refused"; readonly reason: string }
  /** Nobody knows what the switch holds now: the connection broke, an answer did not come. */
  | { readonly kind: "unknown"; readonly reason: string };

export interface LoopOptions {
  /** One look-compare-change. Never called while another is under way. */
  readonly round: (reasons: readonly string[]) => Promise<RoundResult>;
  /** Told after each round. */
  readonly ended: (result: RoundResult) => void;
  /** The switch is looked at this often even when nothing happens, ms. */
  readonly refreshMs: number;
  /** Reasons that come within this time of the first share a round, ms. */
  readonly debounceMs: number;
  /** First and longest pause after a failed round, ms. */
  readonly backoffMs: { readonly first: number; readonly longest: number };
}

export const DEFAULT_LOOP = { refreshMs: 10_000, debounceMs: 5, backoffMs: { first: 100, longest: 30_000 } } as const;

export class ReconcileLoop {
  #options: LoopOptions;
  #reasons = new Set<string>();
  #running = false;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #failures = 0;
  #notBefore = 0;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  /** Asks for a round soon. `urgent` skips what is left of a pause after a failure. */
  trigger(reason: string, urgent = false): void {
    if (this.#stopped) return;
    this.#reasons.add(reason);
    if (urgent) this.#notBefore = 0;
    if (!this.#running) this.#arm(this.#options.debounceMs);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #arm(delayMs: number): void {
    const at = Math.max(Date.now() + delayMs, this.#notBefore);
    if (this.#timer !== undefined && this.#timerAt <= at) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => void this.#run(), Math.max(0, at - Date.now()));
  }

  async #run(): Promise<void> {
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
    if (this.#running || this.#stopped) return;
    this.#running = true;
    const reasons = this.#reasons.size > 0 ? [...this.#reasons] : ["refresh"];
    this.#reasons.clear();
    let result: RoundResult;
    try {
      result = await this.#options.round(reasons);
    } catch (e) {
      result = { kind: "unknown", reason: e instanceof Error ? e.message : String(e) };
    }
    this.#running = false;
    if (this.#stopped) return;
    if (result.kind === "steady") {
      this.#failures = 0;
      this.#notBefore = 0;
    } else {
      const { first, longest } = this.#options.backoffMs;
      // Half fixed, half random: many bridges that fail together must not come back together.
      const pause = Math.min(longest, first * 2 ** this.#failures) * (0.5 + Math.random() / 2);
      this.#failures = Math.min(this.#failures + 1, 20);
      this.#notBefore = Date.now() + pause;
      this.#reasons.add("retry");
    }
    this.#options.ended(result);
    this.#arm(this.#reasons.size > 0 ? this.#options.debounceMs : this.#options.refreshMs);
  }
}
