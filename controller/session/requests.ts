/**
 * Requests that wait for their answer, and names for what was sent without waiting: when the switch refuses something
 * it says only the xid, and an operator needs to hear which object that was.
 */

/** Why a request got no answer. */
export class SessionClosed extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "SessionClosed";
  }
}

/** An OFPT_ERROR that answers one of our messages. */
export class SwitchError extends Error {
  /** OVS name, for instance `OFPFMFC_TABLE_FULL`. */
  readonly code: string;
  readonly xid: number;
  /** What was sent, in the operator's words. */
  readonly what: string;

  constructor(code: string, xid: number, what: string) {
    super(`${what}: the switch answers ${code}`);
    this.name = "SwitchError";
    this.code = code;
    this.xid = xid;
    this.what = what;
  }
}

interface Pending<M> {
  readonly what: string;
  readonly parts: M[];
  readonly timer: NodeJS.Timeout;
  /** Whether this message completes the answer. */
  readonly done: (m: M) => boolean;
  readonly resolve: (parts: M[]) => void;
  readonly reject: (e: Error) => void;
}

/** How many sent-and-forgotten messages are remembered for naming errors. */
const REMEMBERED = 8192;

export class Requests<M extends { readonly xid: number }> {
  #pending = new Map<number, Pending<M>>();
  #labels = new Map<number, string>();
  #next = 1;

  /** Never 0, which switches use for messages of their own. */
  nextXid(): number {
    const xid = this.#next;
    this.#next = xid === 0xffff_ffff ? 1 : xid + 1;
    return xid;
  }

  /** Waits for the answer to `xid`; several parts are collected until `done` says the last has come. */
  expect(xid: number, what: string, timeoutMs: number, done: (m: M) => boolean): Promise<M[]> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(xid);
        reject(new SessionClosed(`${what}: no answer within ${timeoutMs / 1000} s`));
      }, timeoutMs);
      this.#pending.set(xid, { what, parts: [], timer, done, resolve, reject });
    });
  }

  /** Remembers what `xid` carried, for errors that nobody waits for. */
  label(xid: number, what: string): void {
    this.#labels.set(xid, what);
    if (this.#labels.size > REMEMBERED) {
      const oldest = this.#labels.keys().next().value;
      if (oldest !== undefined) this.#labels.delete(oldest);
    }
  }

  labelOf(xid: number): string | undefined {
    return this.#pending.get(xid)?.what ?? this.#labels.get(xid);
  }

  /** Gives `message` to whoever waits for it; false when nobody does. */
  answer(message: M): boolean {
    const p = this.#pending.get(message.xid);
    if (!p) return false;
    p.parts.push(message);
    if (p.done(message)) {
      clearTimeout(p.timer);
      this.#pending.delete(message.xid);
      p.resolve(p.parts);
    }
    return true;
  }

  /** Fails whoever waits for `xid`; false when nobody does. */
  fail(xid: number, error: Error): boolean {
    const p = this.#pending.get(xid);
    if (!p) return false;
    clearTimeout(p.timer);
    this.#pending.delete(xid);
    p.reject(error);
    return true;
  }

  failAll(error: Error): void {
    for (const xid of [...this.#pending.keys()]) this.fail(xid, error);
  }
}
