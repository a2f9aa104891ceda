import type { Buffer } from "node:buffer";

interface Waiting<T> {
  readonly owner: T;
  readonly frame: Buffer;
}

/** Packets that wait for next hops, a few for each and a bounded number in all. The oldest makes room. */
export class WaitingPackets<T> {
  readonly #perOwner: number;
  readonly #total: number;
  /** In order of arrival. */
  readonly #all = new Set<Waiting<T>>();
  readonly #byOwner = new Map<T, Set<Waiting<T>>>();

  constructor(perOwner: number, total: number) {
    this.#perOwner = perOwner;
    this.#total = total;
  }

  get size(): number {
    return this.#all.size;
  }

  count(owner: T): number {
    return this.#byOwner.get(owner)?.size ?? 0;
  }

  /** @returns how many packets were dropped to make room */
  add(owner: T, frame: Buffer): number {
    const item = { owner, frame };
    this.#all.add(item);
    const own = this.#byOwner.get(owner) ?? new Set();
    this.#byOwner.set(owner, own.add(item));
    const dropped = own.size > this.#perOwner ? own : this.#all.size > this.#total ? this.#all : undefined;
    if (dropped === undefined) return 0;
    const [oldest] = dropped;
    this.#drop(oldest!);
    return 1;
  }

  /** Takes out all packets of an owner, oldest first. */
  take(owner: T): readonly Buffer[] {
    const own = [...(this.#byOwner.get(owner) ?? [])];
    for (const item of own) this.#drop(item);
    return own.map(({ frame }) => frame);
  }

  #drop(item: Waiting<T>): void {
    this.#all.delete(item);
    const own = this.#byOwner.get(item.owner);
    own?.delete(item);
    if (own?.size === 0) this.#byOwner.delete(item.owner);
  }
}
