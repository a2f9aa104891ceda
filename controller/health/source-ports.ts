/** Where probes' source ports, and the ids of pings, come from: the dynamic range (RFC 6335 §6). */
const FIRST = 49_152;
const COUNT = 65_536 - FIRST;

/**
 * Gives out source ports, one after the other for each address that is probed. A port comes again when all 16,384 have been used:
 * with up to 273 probes a second to one address that takes more than a minute, so that no answer and no state in the
 * peer can be taken for those of the connection before. It begins anywhere, for the sake of a controller that restarts.
 */
export class SourcePorts {
  #last = new Map<string, number>();
  #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  next(address: string): number {
    const last = this.#last.get(address) ?? Math.floor(this.#random() * COUNT);
    const offset = (last + 1) % COUNT;
    this.#last.set(address, offset);
    return FIRST + offset;
  }

  /** Forgets addresses that are not probed any more. */
  keepOnly(addresses: ReadonlySet<string>): void {
    for (const address of this.#last.keys()) if (!addresses.has(address)) this.#last.delete(address);
  }
}
