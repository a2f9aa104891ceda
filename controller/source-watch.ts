import { SUSPICIONS, type Suspicion, suspicionOf } from "../pipeline/features/guard.ts";
import type { ObservedFlow } from "./reconcile/observe.ts";

/** What the switch has counted of a port since the port came up there, in frames. */
export type SourceCounts = Readonly<Record<Suspicion, number>>;

/** Frames of a port that were counted since the last look. */
export interface SourceGrowth {
  readonly ofport: number;
  readonly suspicion: Suspicion;
  readonly frames: number;
}

/**
 * Follows the counters of table 2 from look to look. One that is smaller than before began anew, with its flow or with its switch.
 * What a switch had counted before the first look is no growth: it was another process's to tell.
 */
export class SourceWatch {
  #ports = new Map<number, SourceCounts>();
  #isFirst = true;

  /** @param flows all of ours in the switch @returns what has grown, in the order of the flows */
  look(
    flows: Iterable<Pick<ObservedFlow, "tableId" | "priority" | "cookie" | "packetCount">>,
  ): readonly SourceGrowth[] {
    const next = new Map<number, SourceCounts>();
    const grown: SourceGrowth[] = [];
    for (const flow of flows) {
      const { ofport, suspicion } = suspicionOf(flow) ?? {};
      if (ofport === undefined || suspicion === undefined) continue;
      const now = Number(flow.packetCount);
      const before = this.#ports.get(ofport)?.[suspicion] ?? (this.#isFirst ? now : 0);
      const frames = now < before ? now : now - before;
      next.set(ofport, { ...(next.get(ofport) ?? NOTHING), [suspicion]: now });
      if (frames > 0) grown.push({ ofport, suspicion, frames });
    }
    this.#ports = next;
    this.#isFirst = false;
    return grown;
  }

  /** What the last look found of a port; undefined when nothing is counted of it, as while it is down. */
  counts(ofport: number): SourceCounts | undefined {
    return this.#ports.get(ofport);
  }
}

const NOTHING = Object.fromEntries(SUSPICIONS.map((x) => [x, 0])) as unknown as SourceCounts;
