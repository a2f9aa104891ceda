/**
 * Pools that prefer members with few open connections. Slots cannot follow each connection, so their shares do: who holds more than
 * the others, by weight, gets fewer slots and thereby fewer new connections, until the others have caught up.
 */
import type { Member, Pool } from "./model.ts";

/** Open connections by member id. */
export type OpenConnections = ReadonlyMap<number, number>;

/** Weights by member id, in place of the configured ones. */
export type FollowedWeights = ReadonlyMap<number, number>;

/** Connections, for each unit of weight, that count as none: a handful says nothing about a member. */
const SMALL = 4;
/** Shares go down to this part of what the weight says, and up to its inverse. */
const LEAST = 1 / 16;
/** What a weight of 1 is here, so that parts of it can be told. */
const UNIT = 64;
/** A weight that changes by a smaller part than this moves no slots. */
const NOTICEABLE = 0.2;

const isFollowed = (member: Member): boolean => member.adminUp && !member.drain && member.weight > 0;

/** The weight of a member that has `load` connections for each unit of its weight, when all together have `mean`. */
const followedWeight = (weight: number, load: number, mean: number): number => {
  // Squared: with the ratio itself a slow member would keep far more than its share of connections.
  const factor = ((mean + SMALL) / (load + SMALL)) ** 2;
  return Math.max(1, Math.round(weight * UNIT * Math.min(1 / LEAST, Math.max(LEAST, factor))));
};

const membersOf = (pool: Pool): readonly Member[] =>
  pool.algorithm === "least-connections" ? pool.members.filter(isFollowed) : [];

/** Members whose open connections have to be counted. */
export const countedMembers = (pools: readonly Pool[]): readonly Member[] => pools.flatMap(membersOf);

/**
 * The weights that `open` asks for; `before` itself, as long as no member's differs from it noticeably. Members of other pools are not in
 * it.
 */
export const followConnections = (
  pools: readonly Pool[],
  open: OpenConnections,
  before: FollowedWeights,
): FollowedWeights => {
  const weights = new Map<number, number>();
  for (const pool of pools) {
    const members = membersOf(pool);
    const sum = (of: (m: Member) => number): number => members.reduce((n, m) => n + of(m), 0);
    const mean = sum((m) => open.get(m.id) ?? 0) / sum((m) => m.weight);
    for (const m of members) weights.set(m.id, followedWeight(m.weight, (open.get(m.id) ?? 0) / m.weight, mean));
  }
  const changed = [...weights].some(([id, weight]) => {
    const old = before.get(id);
    return old === undefined || Math.abs(weight - old) > NOTICEABLE * old;
  });
  return changed || weights.size !== before.size ? weights : before;
};
