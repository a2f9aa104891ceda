import {
  DEFAULT_NUD,
  NEW_NUD,
  type Nud,
  type NudConfig,
  type NudEffect,
  type NudEvent,
  published,
  step,
} from "./machine.ts";

/** A next hop: an address in a segment. */
export interface NeighbourKey {
  readonly segment: number;
  /** IPv4 address as a number. */
  readonly ip: number;
}

export interface TableLimits {
  /** Next hops that are not in use; the one unused longest makes room. */
  readonly unused: number;
  /** Packets that may wait for one next hop; the oldest is dropped. */
  readonly queuePerNeighbour: number;
  /** Packets that may wait in all. */
  readonly queueTotal: number;
  /** Questions per second over all next hops, and how many may go at once. */
  readonly solicitsPerSecond: number;
  readonly solicitBurst: number;
}

export const DEFAULT_LIMITS: TableLimits = {
  unused: 4_096,
  queuePerNeighbour: 3,
  queueTotal: 1_000,
  solicitsPerSecond: 1_000,
  solicitBurst: 500,
};

/** What is to be done after an event, with the next hop it concerns. */
export type TableEffect = { readonly key: NeighbourKey } & (
  | NudEffect
  /** The MAC or port that flows use has changed. */
  | { readonly kind: "published" }
  /** These packets may go to that MAC and port now. */
  | { readonly kind: "send"; readonly mac: number; readonly port: number; readonly frames: readonly Buffer[] }
);

interface Entry {
  readonly key: NeighbourKey;
  nud: Nud;
  queue: Buffer[];
}

/** When the rate limit holds a question back, it is tried again after this long, ms. */
const HELD_BACK_MS = 50;

const id = ({ segment, ip }: NeighbourKey): string => `${segment} ${ip}`;

/** All next hops of a bridge with the packets that wait for them. Bounded in every direction; takes the time as an argument. */
export class NeighbourTable {
  readonly counters = { solicits: 0, replies: 0, conflicts: 0, queueDrops: 0, evictions: 0 };
  #entries = new Map<string, Entry>();
  #config: NudConfig;
  #limits: TableLimits;
  #queued = 0;
  #unused = 0;
  #tokens: number;
  #tokensAt = Number.NEGATIVE_INFINITY;

  constructor(config: NudConfig = DEFAULT_NUD, limits: TableLimits = DEFAULT_LIMITS) {
    this.#config = config;
    this.#limits = limits;
    this.#tokens = limits.solicitBurst;
  }

  entries(): readonly { readonly key: NeighbourKey; readonly nud: Nud; readonly queued: number }[] {
    return [...this.#entries.values()].map((e) => ({ key: e.key, nud: e.nud, queued: e.queue.length }));
  }

  get(key: NeighbourKey): Nud | undefined {
    return this.#entries.get(id(key))?.nud;
  }

  /** When {@link tick} has something to do next; undefined when never. */
  nextDeadline(): number | undefined {
    let next: number | undefined;
    for (const { nud } of this.#entries.values()) {
      if (nud.deadline !== undefined && (next === undefined || nud.deadline < next)) next = nud.deadline;
    }
    return next;
  }

  /** Deals with every deadline that has passed. */
  tick(now: number, random: () => number): TableEffect[] {
    const due = [...this.#entries.values()].filter((e) => e.nud.deadline !== undefined && e.nud.deadline <= now);
    return due.flatMap((e) => this.#apply(e, { kind: "timer" }, now, random()));
  }

  /** An event for one next hop. News about one that nobody asked for is not remembered. */
  handle(key: NeighbourKey, event: NudEvent, now: number, random: number): TableEffect[] {
    if (event.kind === "reply") this.counters.replies++;
    let entry = this.#entries.get(id(key));
    if (!entry) {
      if (event.kind === "reply" || event.kind === "hint" || event.kind === "port_down" || event.kind === "reset")
        return [];
      if (event.kind === "use" && !event.inUse) return [];
      entry = { key, nud: NEW_NUD, queue: [] };
      this.#entries.set(id(key), entry);
      this.#unused++;
    }
    return [...this.#apply(entry, event, now, random), ...this.#evict()];
  }

  /** A packet waits for a next hop. */
  enqueue(key: NeighbourKey, frame: Buffer, now: number, random: number): TableEffect[] {
    const effects = this.handle(key, { kind: "wanted" }, now, random);
    const entry = this.#entries.get(id(key));
    if (!entry) return effects;
    const known = published(entry.nud);
    if (known) return [...effects, { key, kind: "send", ...known, frames: [frame] }];
    if (entry.nud.state === "failed") {
      this.counters.queueDrops++;
      return effects;
    }
    if (entry.queue.length >= this.#limits.queuePerNeighbour) this.#dropOldest(entry);
    if (this.#queued >= this.#limits.queueTotal) {
      this.counters.queueDrops++;
      return effects;
    }
    entry.queue.push(frame);
    this.#queued++;
    return effects;
  }

  #dropOldest(entry: Entry): void {
    entry.queue.shift();
    this.#queued--;
    this.counters.queueDrops++;
  }

  #apply(entry: Entry, event: NudEvent, now: number, random: number): TableEffect[] {
    const { key } = entry;
    const before = published(entry.nud);
    const wasInUse = entry.nud.inUse;
    const { next, effects } = step(entry.nud, event, now, random, this.#config);
    if (effects.some((e) => e.kind === "solicit") && !this.#takeToken(now)) {
      // As if the event came a little later; an entry that is new must exist until then.
      entry.nud = { ...entry.nud, inUse: next.inUse, deadline: now + HELD_BACK_MS };
      if (entry.nud.state === "none") entry.nud = { ...entry.nud, state: "incomplete", probes: 0 };
      this.#unused += Number(wasInUse) - Number(entry.nud.inUse);
      return [];
    }
    entry.nud = next;
    this.#unused += Number(wasInUse) - Number(next.inUse);
    const out: TableEffect[] = [];
    for (const e of effects) {
      if (e.kind === "solicit") this.counters.solicits++;
      if (e.kind === "conflict") this.counters.conflicts++;
      if (e.kind === "give_up") while (entry.queue.length > 0) this.#dropOldest(entry);
      out.push({ key, ...e });
    }
    const after = published(next);
    if (before?.mac !== after?.mac || before?.port !== after?.port) out.push({ key, kind: "published" });
    if (after && entry.queue.length > 0) {
      this.#queued -= entry.queue.length;
      out.push({ key, kind: "send", ...after, frames: entry.queue });
      entry.queue = [];
    }
    if (effects.some((e) => e.kind === "forget")) this.#remove(entry);
    return out;
  }

  #remove(entry: Entry): void {
    while (entry.queue.length > 0) this.#dropOldest(entry);
    if (!this.#entries.delete(id(entry.key))) return;
    if (!entry.nud.inUse) this.#unused--;
  }

  /** Forgets the oldest of the unused ones when there are too many. */
  #evict(): TableEffect[] {
    const out: TableEffect[] = [];
    while (this.#unused > this.#limits.unused) {
      const victim = [...this.#entries.values()].find((e) => !e.nud.inUse);
      if (!victim) break;
      this.counters.evictions++;
      const wasPublished = published(victim.nud) !== undefined;
      this.#remove(victim);
      if (wasPublished) out.push({ key: victim.key, kind: "published" });
    }
    return out;
  }

  #takeToken(now: number): boolean {
    const { solicitBurst, solicitsPerSecond } = this.#limits;
    const gained = ((now - this.#tokensAt) / 1000) * solicitsPerSecond;
    this.#tokens = Math.min(solicitBurst, this.#tokens + Math.max(0, gained));
    this.#tokensAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}
