import type { Buffer } from "node:buffer";
import { isStationMac } from "../../openflow/packet/address.ts";
import { Deadlines } from "./deadlines.ts";
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
import { SolicitLimiter, type SolicitLimits, type SolicitShare } from "./solicit-limit.ts";
import { WaitingPackets } from "./waiting.ts";

/** A next hop: an address in a segment. */
export interface NeighbourKey {
  readonly segment: number;
  /** IPv4 address as a number. */
  readonly ip: number;
}

export interface TableLimits {
  /** Next hops that are not in use; the one wanted longest ago makes room, and unresolved ones fill at most half. */
  readonly unused: number;
  /** Packets that may wait for one next hop; the oldest is dropped. */
  readonly queuePerNeighbour: number;
  /** Packets that may wait in all; the oldest is dropped. */
  readonly queueTotal: number;
  readonly solicits: SolicitLimits;
}

export const DEFAULT_LIMITS: TableLimits = {
  unused: 4_096,
  queuePerNeighbour: 3,
  queueTotal: 1_000,
  solicits: {
    inUse: { everyMs: 1, burst: 500 },
    unused: { everyMs: 5, burst: 100 },
    // As many at once as the machine asks before it gives up, so that only storms of claims are slowed down.
    each: { everyMs: 1_000, burst: 5 },
  },
};

/** What is to be done after an event, with the next hop it concerns. */
export type TableEffect = { readonly key: NeighbourKey } & (
  | Exclude<NudEffect, { readonly kind: "held_back" }>
  /** The MAC or port that flows use has changed. Taking one over from a switch is no change: its flows have it. */
  | { readonly kind: "published" }
  /** These packets may go to that MAC and port now. */
  | { readonly kind: "send"; readonly mac: number; readonly port: number; readonly frames: readonly Buffer[] }
);

interface Entry {
  readonly key: NeighbourKey;
  readonly share: SolicitShare;
  nud: Nud;
}

const id = ({ segment, ip }: NeighbourKey): string => `${segment} ${ip}`;

/** Events that make an entry; news about an address that nobody asked for is not remembered. */
const makesEntry = (event: NudEvent): boolean =>
  event.kind === "wanted" ||
  event.kind === "adopt" ||
  event.kind === "permanent" ||
  (event.kind === "use" && event.inUse);

/**
 * All next hops of a bridge with the packets that wait for them. Takes the time as an argument. What traffic can make
 * grow is bounded; next hops in use and permanent ones are as many as the configuration names.
 */
export class NeighbourTable {
  readonly counters = { solicits: 0, replies: 0, conflicts: 0, queueDrops: 0, evictions: 0, heldBack: 0 };
  readonly #entries = new Map<string, Entry>();
  /** Entries that may make room, in the order in which they were last wanted. */
  readonly #unresolved = new Set<Entry>();
  readonly #resolved = new Set<Entry>();
  readonly #deadlines = new Deadlines<Entry>((entry) => entry.nud.deadline);
  readonly #config: NudConfig;
  readonly #limits: TableLimits;
  readonly #limiter: SolicitLimiter;
  readonly #waiting: WaitingPackets<Entry>;

  constructor(config: NudConfig = DEFAULT_NUD, limits: TableLimits = DEFAULT_LIMITS) {
    this.#config = config;
    this.#limits = limits;
    this.#limiter = new SolicitLimiter(limits.solicits);
    this.#waiting = new WaitingPackets(limits.queuePerNeighbour, limits.queueTotal);
  }

  entries(): readonly { readonly key: NeighbourKey; readonly nud: Nud; readonly queued: number }[] {
    return [...this.#entries.values()].map((e) => ({ key: e.key, nud: e.nud, queued: this.#waiting.count(e) }));
  }

  get(key: NeighbourKey): Nud | undefined {
    return this.#entries.get(id(key))?.nud;
  }

  /** When {@link tick} has something to do next; undefined when never. */
  nextDeadline(): number | undefined {
    return this.#deadlines.next();
  }

  /** Deals with every deadline that has passed. */
  tick(now: number, random: () => number): TableEffect[] {
    // A set: an entry whose deadline moved away and back is listed twice.
    const due = new Set<Entry>();
    for (let entry = this.#deadlines.takeDue(now); entry !== undefined; entry = this.#deadlines.takeDue(now)) {
      due.add(entry);
    }
    return [...due].flatMap((entry) => this.#apply(entry, { kind: "timer" }, now, random()));
  }

  /** An event for one next hop. */
  handle(key: NeighbourKey, event: NudEvent, now: number, random: number): TableEffect[] {
    if (event.kind === "reply" || event.kind === "hint") {
      // RFC 1812 §3.3.2: a group address is no answer.
      if (!isStationMac(event.mac)) return [];
      if (event.kind === "reply") this.counters.replies++;
    }
    let entry = this.#entries.get(id(key));
    if (!entry) {
      if (!makesEntry(event)) return [];
      entry = { key, share: this.#limiter.share(), nud: NEW_NUD };
      this.#entries.set(id(key), entry);
    }
    if (event.kind === "wanted") this.#toEndOfLine(entry);
    return [...this.#apply(entry, event, now, random), ...this.#evict()];
  }

  /** A packet waits for a next hop. */
  enqueue(key: NeighbourKey, frame: Buffer, now: number, random: number): TableEffect[] {
    const effects = this.handle(key, { kind: "wanted" }, now, random);
    const entry = this.#entries.get(id(key));
    const known = entry && published(entry.nud);
    if (known) return [...effects, { key, kind: "send", ...known, frames: [frame] }];
    if (entry?.nud.state === "incomplete") this.counters.queueDrops += this.#waiting.add(entry, frame);
    else this.counters.queueDrops++;
    return effects;
  }

  #apply(entry: Entry, event: NudEvent, now: number, random: number): TableEffect[] {
    const { key } = entry;
    const before = entry.nud;
    const inUse = event.kind === "use" ? event.inUse : before.inUse;
    const mayAskAt = this.#limiter.mayAskAt(entry.share, inUse, now);
    const { next, effects } = step(before, event, { now, random, mayAskAt }, this.#config);
    entry.nud = next;
    const isDue = event.kind === "timer";
    if (next.deadline !== undefined && (isDue || next.deadline !== before.deadline)) {
      this.#deadlines.add(entry, next.deadline);
    }
    const out: TableEffect[] = [];
    for (const effect of effects) {
      if (effect.kind === "held_back") {
        this.counters.heldBack++;
        this.#limiter.wait(entry.share, inUse, now);
        continue;
      }
      if (effect.kind === "solicit") {
        this.counters.solicits++;
        this.#limiter.take(entry.share, inUse, now);
      }
      if (effect.kind === "conflict") this.counters.conflicts++;
      if (effect.kind === "give_up") this.#dropWaiting(entry);
      out.push({ key, ...effect });
    }
    const [was, is] = [published(before), published(next)];
    const isChange = was?.mac !== is?.mac || was?.port !== is?.port;
    if (isChange && event.kind !== "adopt") out.push({ key, kind: "published" });
    if (is && this.#waiting.count(entry) > 0) out.push({ key, kind: "send", ...is, frames: this.#waiting.take(entry) });
    if (effects.some((e) => e.kind === "forget")) this.#remove(entry);
    else this.#sort(entry);
    return out;
  }

  #dropWaiting(entry: Entry): void {
    this.counters.queueDrops += this.#waiting.take(entry).length;
  }

  #remove(entry: Entry): void {
    this.#dropWaiting(entry);
    entry.nud = NEW_NUD;
    this.#entries.delete(id(entry.key));
    this.#unresolved.delete(entry);
    this.#resolved.delete(entry);
  }

  /** Puts an entry into the line it belongs to. */
  #sort(entry: Entry): void {
    const { inUse, state } = entry.nud;
    const line = inUse || state === "permanent" ? undefined : published(entry.nud) ? this.#resolved : this.#unresolved;
    for (const other of [this.#unresolved, this.#resolved]) if (other !== line) other.delete(entry);
    line?.add(entry);
  }

  #toEndOfLine(entry: Entry): void {
    for (const line of [this.#unresolved, this.#resolved]) if (line.delete(entry)) line.add(entry);
  }

  /** A scan makes entries that nobody answers for; they may take half of the room from those that carry traffic. */
  #evict(): TableEffect[] {
    const out: TableEffect[] = [];
    while (this.#unresolved.size + this.#resolved.size > this.#limits.unused) {
      const fromScan = this.#unresolved.size > Math.ceil(this.#limits.unused / 2) || this.#resolved.size === 0;
      const [victim] = fromScan ? this.#unresolved : this.#resolved;
      this.counters.evictions++;
      if (published(victim!.nud)) out.push({ key: victim!.key, kind: "published" });
      this.#remove(victim!);
    }
    return out;
  }
}
