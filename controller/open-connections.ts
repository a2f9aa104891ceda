/** Asks switches how many connections their members have open, and lets the slots of pools that want it follow. */
import { GROUP_ANY } from "../openflow/messages/group.ts";
import { openCookie } from "../pipeline/features/connections.ts";
import { countedMembers, type FollowedWeights, followConnections } from "../pipeline/least-connections.ts";
import type { Pool } from "../pipeline/model.ts";
import { T } from "../pipeline/tables.ts";
import type { Session } from "./session/session.ts";

/** Milliseconds between two counts: fast enough to see a member fall behind, slow enough for a hundred members. */
const INTERVAL_MS = 3_000;
const ALL_BITS = 0xffff_ffff_ffff_ffffn;
const OFPP_ANY = 0xffff_ffff;

/** Open connections of a member on one switch. */
async function countOn(session: Session, member: { readonly id: number }): Promise<number> {
  const parts = await session.multipart(
    {
      type: "aggregate_stats_request",
      flags: 0,
      tableId: T.open,
      outPort: OFPP_ANY,
      outGroup: GROUP_ANY,
      cookie: openCookie(member),
      cookieMask: ALL_BITS,
      match: [],
    },
    "count of open connections",
  );
  return parts.reduce((n, p) => n + (p.type === "aggregate_stats_reply" ? p.flowCount : 0), 0);
}

export interface OpenConnectionsDeps {
  /** Pools of all load balancers. */
  pools(): readonly Pool[];
  /** Sessions of all switches that are programmed. */
  sessions(): readonly Session[];
  /** The weights are others now. */
  changed(): void;
  failed(error: unknown): void;
}

/** The weights that open connections ask for, counted over all switches so that all of them have the same slots. */
export class OpenConnectionsFollower {
  #weights: FollowedWeights = new Map();
  #timer: NodeJS.Timeout | undefined;
  #deps: OpenConnectionsDeps;

  constructor(deps: OpenConnectionsDeps) {
    this.#deps = deps;
  }

  get weights(): FollowedWeights {
    return this.#weights;
  }

  start(): void {
    this.#timer = setTimeout(() => {
      this.#count()
        .catch((e: unknown) => this.#deps.failed(e))
        .finally(() => {
          if (this.#timer !== undefined) this.start();
        });
    }, INTERVAL_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #count(): Promise<void> {
    const pools = this.#deps.pools();
    const open = new Map<number, number>();
    for (const member of countedMembers(pools)) {
      const counts = await Promise.all(this.#deps.sessions().map((session) => countOn(session, member)));
      open.set(
        member.id,
        counts.reduce((a, b) => a + b, 0),
      );
    }
    const weights = followConnections(pools, open, this.#weights);
    if (weights === this.#weights) return;
    this.#weights = weights;
    this.#deps.changed();
  }
}
