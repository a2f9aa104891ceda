/** What has happened in this process, numbered, for whoever wants to follow it: the event stream and the web page. */

export const EVENT_KINDS = [
  "node",
  "reconcile",
  "port",
  "neighbour",
  "health",
  "probe",
  "drain",
  "conflict",
  "flood",
  "topology",
  "change",
] as const;

/**
 * node: a switch came, went or changed its state. reconcile: flows were changed. port: up, down, gone. neighbour: the MAC of
 * a next hop. health: a member changed its state. probe: a member's probes began to fail or to succeed. drain: the operator
 * took a member out or back in. conflict: somebody claims an address of ours, or two a next hop. flood: a port has more MACs
 * or clients than may be learned. topology: reloaded or refused. change: a request that changes something was answered.
 */
export type EventKind = (typeof EVENT_KINDS)[number];

export interface EventDraft {
  readonly kind: EventKind;
  readonly level: "info" | "warn";
  /** One sentence for people. */
  readonly text: string;
  /** The same for programs; plain JSON. */
  readonly data: Readonly<Record<string, unknown>>;
}

export interface LbEvent extends EventDraft {
  /** RUN-NUMBER: numbers count from 1 within a run of the process. */
  readonly id: string;
  /** ISO 8601 in UTC. */
  readonly at: string;
}

/** Where parts of the controller tell what happens to them. */
export type Publish = (event: EventDraft) => void;

/** What somebody who saw an event missed since. */
export interface Missed {
  readonly events: readonly LbEvent[];
  /** False when there were more, which are no longer kept, or the event is of another run. */
  readonly complete: boolean;
}

/** Keeps the newest events and hands each one on to all subscribers. */
export class EventBus {
  #run: string;
  #keep: number;
  #events: LbEvent[] = [];
  #count = 0;
  #subscribers = new Set<(event: LbEvent) => void>();

  /** @param keep events that are kept for those who come later */
  constructor(keep = 1000, run = Date.now().toString(36)) {
    this.#keep = keep;
    this.#run = run;
  }

  publish: Publish = (draft) => {
    const event: LbEvent = { id: `${this.#run}-${++this.#count}`, at: new Date().toISOString(), ...draft };
    this.#events.push(event);
    if (this.#events.length > this.#keep) this.#events.shift();
    for (const subscriber of [...this.#subscribers]) subscriber(event);
  };

  /** Events after the one with that id; all that are kept without an id. */
  since(id: string | undefined): Missed {
    if (id === undefined) return { events: [...this.#events], complete: this.#count <= this.#keep };
    const seen = id.startsWith(`${this.#run}-`) ? Number(id.slice(this.#run.length + 1)) : Number.NaN;
    const known = Number.isInteger(seen) && seen >= 0 && seen <= this.#count;
    const oldest = this.#count - this.#events.length;
    if (!known || seen < oldest) return { events: [...this.#events], complete: false };
    return { events: this.#events.slice(seen - oldest), complete: true };
  }

  /** @returns a function that ends the subscription */
  subscribe(subscriber: (event: LbEvent) => void): () => void {
    this.#subscribers.add(subscriber);
    return () => void this.#subscribers.delete(subscriber);
  }

  get subscribers(): number {
    return this.#subscribers.size;
  }
}
