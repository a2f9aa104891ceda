import type { Health } from "../../pipeline/model.ts";

/** What one node's probes say. */
export interface Observations {
  /** Whether the node's switch is there to probe through. */
  readonly connected: boolean;
  /** By member id. */
  readonly health: ReadonlyMap<number, Health>;
}

const RANK: Readonly<Record<Health, number>> = { unmonitored: 3, up: 2, down: 1, unknown: 0 };

/**
 * One answer for all nodes, so that all have the same slots: a member is up if any node reaches it, down if none that has
 * made up its mind does. What a node said before it lost its switch counts only while no node has one.
 */
export const mergeHealth = (nodes: readonly Observations[]): ReadonlyMap<number, Health> => {
  const connected = nodes.filter((n) => n.connected);
  const merged = new Map<number, Health>();
  for (const { health } of connected.length > 0 ? connected : nodes) {
    for (const [id, state] of health) {
      const before = merged.get(id);
      if (before === undefined || RANK[state] > RANK[before]) merged.set(id, state);
    }
  }
  return merged;
};
