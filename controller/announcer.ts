import { buildGratuitousArp } from "../openflow/packet/arp.ts";

/** An address of ours in a segment, with the MAC that answers for it. */
export interface OwnAddress {
  readonly segment: number;
  readonly ip: number;
  readonly mac: number;
}

/** Pause between two announcements of one address, ms: neighbours that missed the first hear the second (RFC 5227 §2.3). */
const REPEAT_MS = 2_000;
const TIMES = 2;
/** Addresses announced per turn, so that a thousand of them do not leave in one burst. */
const BATCH = 50;
const TURN_MS = 20;

/**
 * Tells the segments which MAC answers for our addresses, whenever neighbours may believe otherwise: an address is new,
 * a port came up, a switch reconnected. Announcing one address again within {@link REPEAT_MS} is put off, not repeated.
 */
export class Announcer {
  #send: (segment: number, frame: Buffer) => void;
  #due = new Map<string, { address: OwnAddress; left: number; at: number }>();
  #timer: NodeJS.Timeout | undefined;
  /** Announcements sent since the start. */
  sent = 0;

  constructor(send: (segment: number, frame: Buffer) => void) {
    this.#send = send;
  }

  announce(addresses: Iterable<OwnAddress>): void {
    const now = Date.now();
    for (const address of addresses) {
      const key = `${address.segment} ${address.ip}`;
      this.#due.set(key, { address, left: TIMES, at: this.#due.get(key)?.at ?? now });
    }
    this.#arm(0);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#due.clear();
  }

  #arm(ms: number): void {
    if (this.#timer !== undefined || this.#due.size === 0) return;
    this.#timer = setTimeout(() => this.#turn(), ms);
  }

  #turn(): void {
    this.#timer = undefined;
    const now = Date.now();
    let room = BATCH;
    let next = Number.POSITIVE_INFINITY;
    for (const [key, entry] of this.#due) {
      if (entry.at > now || room === 0) {
        next = Math.min(next, Math.max(entry.at, now + TURN_MS));
        continue;
      }
      room--;
      this.sent++;
      this.#send(entry.address.segment, buildGratuitousArp({ sha: entry.address.mac, spa: entry.address.ip }));
      entry.left--;
      entry.at = now + REPEAT_MS;
      if (entry.left === 0) this.#due.delete(key);
      else next = Math.min(next, entry.at);
    }
    if (next !== Number.POSITIVE_INFINITY) this.#arm(next - now);
  }
}
