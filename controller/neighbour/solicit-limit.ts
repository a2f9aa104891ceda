/** One question in `everyMs` on average, and `burst` at once. */
export interface Rate {
  readonly everyMs: number;
  readonly burst: number;
}

/**
 * How often next hops may be asked for. Those in use and the others have limits of their own: a scan of unused
 * addresses makes a question for each of them, and must not keep us from noticing that a member has moved.
 */
export interface SolicitLimits {
  readonly inUse: Rate;
  readonly unused: Rate;
  /** For each next hop. */
  readonly each: Rate;
}

/**
 * A token bucket that is kept as the time at which it would be full again (the generic cell rate algorithm of ITU-T
 * I.371), which makes it easy to take a token of the future.
 */
class Bucket {
  readonly #everyMs: number;
  readonly #slackMs: number;
  #fullAt = Number.NEGATIVE_INFINITY;

  constructor({ everyMs, burst }: Rate) {
    this.#everyMs = everyMs;
    this.#slackMs = (burst - 1) * everyMs;
  }

  /** When the next token is there, `now` at the earliest. */
  earliest(now: number): number {
    return Math.max(now, this.#fullAt - this.#slackMs);
  }

  take(at: number): void {
    this.#fullAt = Math.max(this.#fullAt, at) + this.#everyMs;
  }
}

/** One next hop's part in the limits; made by {@link SolicitLimiter.share}. */
export interface SolicitShare {
  readonly each: Bucket;
  /** Time for which a token of the common bucket was taken already. */
  slot?: number | undefined;
}

/** A slot that nobody used so long after its time is lost; else unused ones could be saved up. */
const SLOT_MS = 50;

/** Limits questions; those that have to wait for the common limit get one slot after the other. */
export class SolicitLimiter {
  readonly #each: Rate;
  readonly #inUse: Bucket;
  readonly #unused: Bucket;

  constructor(limits: SolicitLimits) {
    this.#each = limits.each;
    this.#inUse = new Bucket(limits.inUse);
    this.#unused = new Bucket(limits.unused);
  }

  share(): SolicitShare {
    return { each: new Bucket(this.#each) };
  }

  /** When a question may go out, `now` at the earliest. */
  mayAskAt(share: SolicitShare, inUse: boolean, now: number): number {
    if (share.slot !== undefined && now > share.slot + SLOT_MS) share.slot = undefined;
    if (share.slot !== undefined) return Math.max(now, share.slot);
    const each = share.each.earliest(now);
    return each > now ? each : this.#common(inUse).earliest(now);
  }

  /** A question goes out. */
  take(share: SolicitShare, inUse: boolean, now: number): void {
    if (share.slot === undefined) this.#common(inUse).take(now);
    share.slot = undefined;
    share.each.take(now);
  }

  /** A question has to wait: until its own limit allows it, or else in a slot of the common one. */
  wait(share: SolicitShare, inUse: boolean, now: number): void {
    if (share.slot !== undefined || share.each.earliest(now) > now) return;
    const common = this.#common(inUse);
    share.slot = common.earliest(now);
    common.take(share.slot);
  }

  #common(inUse: boolean): Bucket {
    return inUse ? this.#inUse : this.#unused;
  }
}
