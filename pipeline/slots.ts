/**
 * The slot layout of a pool: which member serves slot n of table 11.
 *
 * It has Maglev's aims (Eisenbud et al., NSDI 2016): a layout that every node computes alike from the pool alone, shares by weight,
 * little movement when members come and go. It reaches them in two steps:
 *
 * 1. Every slot has a *home* among all configured members, whether they serve or not. Shares are exact.
 * 2. Slots whose home does not serve get a *substitute*, so that shares are exact among those that do.
 *
 * A member that fails or is drained therefore moves its own slots and no other one, and they all come back with it. Only a change of
 * the configuration (member added, removed, other weight) can move slots of others.
 */
import { createHash } from "node:crypto";
import { apportion } from "./apportion.ts";
import { assign } from "./assignment.ts";
import { servingMembers } from "./eligibility.ts";
import { memo } from "./memo.ts";
import type { Health, Member, Pool } from "./model.ts";
import { preferences } from "./preference.ts";

/** A member id for every slot, or nothing at all when nobody serves. */
export type SlotLayout = readonly number[];

/** A member as far as the layout is concerned. */
export interface SlotMember {
  /** Unique in the pool; what its slots are hashed from. */
  readonly key: string;
  readonly id: number;
  /** A member of weight 0 gets no slot. */
  readonly weight: number;
}

/** How far `numSlots` may go. */
export const slotLimits = { min: 64, max: 4096 } as const;

/** A power of two within the limits. */
export const isSlotCount = (n: number): boolean =>
  Number.isInteger(n) && n >= slotLimits.min && n <= slotLimits.max && (n & (n - 1)) === 0;

const byKey = (a: SlotMember, b: SlotMember): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

/** The order of the input must not matter, so there is one order for everything that follows. */
const candidates = (members: readonly SlotMember[]): readonly SlotMember[] =>
  members.filter((m) => m.weight > 0).sort(byKey);

/** Gives each of `slots` to one of `members` that still has room, where it is liked best. */
const distribute = (
  numSlots: number,
  slots: readonly number[],
  members: readonly SlotMember[],
  room: readonly number[],
): readonly SlotMember[] => {
  const placeOf = assign({ things: slots.length, room, costs: preferences(numSlots, slots, members) });
  return slots.map((_, thing) => members[placeOf[thing]!]!);
};

/** So many layouts are remembered: a layout is dear, and asked for by every compilation and every view. */
const REMEMBERED = 1024;

/**
 * The layout of `numSlots` slots over the `serving` members, when `homes` are the configured ones. With both the same, it is the
 * plain layout; serving members need not be among the homes (backup members are not).
 *
 * @throws RangeError when `numSlots` is not a power of two in 64…4096
 */
export const slotLayout = memo(
  REMEMBERED,
  (...input: readonly [numSlots: number, homes: readonly SlotMember[], serving: readonly SlotMember[]]) =>
    JSON.stringify(input),
  () => "",
  (numSlots, homes, serving) => layOut(numSlots, homes, serving),
);

const layOut = (numSlots: number, homes: readonly SlotMember[], serving: readonly SlotMember[]): SlotLayout => {
  if (!isSlotCount(numSlots)) throw new RangeError(`${numSlots} slots: want a power of two, 64 to 4096`);
  const substitutes = candidates(serving);
  if (substitutes.length === 0) return [];
  const settled = candidates(homes);
  const all = Array.from({ length: numSlots }, (_, slot) => slot);
  const seats = apportion(
    numSlots,
    settled.map((m) => ({ weight: m.weight, seats: 0 })),
  );
  const owners: (SlotMember | undefined)[] =
    settled.length === 0 ? all.map(() => undefined) : [...distribute(numSlots, all, settled, seats)];
  const shares = apportion(
    numSlots,
    substitutes.map((m) => ({ weight: m.weight, seats: 0 })),
  );
  const most = new Map(substitutes.map((m, i) => [m.key, shares[i]!]));
  const kept = new Map(substitutes.map((m) => [m.key, 0]));
  const orphans = all.filter((slot) => {
    const key = owners[slot]?.key ?? "";
    const seen = kept.get(key);
    // Whoever serves with a lower weight than it is at home with cannot keep all.
    if (seen === undefined || seen === most.get(key)) return true;
    kept.set(key, seen + 1);
    return false;
  });
  const room = apportion(
    orphans.length,
    substitutes.map((m) => ({ weight: m.weight, seats: kept.get(m.key)! })),
  );
  const moved = distribute(numSlots, orphans, substitutes, room);
  orphans.forEach((slot, i) => {
    owners[slot] = moved[i]!;
  });
  return owners.map((m) => m!.id);
};

/**
 * A member's key is where it listens. Names are optional and not unique, ids depend on what was configured before; the address
 * and port are unique in a pool and the same on all nodes, so a member that is removed and added again gets its slots back.
 */
const slotMember = (member: Member): SlotMember => ({
  key: `${member.ip}:${member.port}`,
  id: member.id,
  weight: member.weight,
});

/**
 * The layout of a pool as its members are now. Backup members have no home slots; they are substitutes at most. Weights that follow
 * open connections count among those that serve, once all of them have one; homes go by the configured weights.
 */
export const poolLayout = (
  pool: Pool,
  health: ReadonlyMap<number, Health>,
  followed: ReadonlyMap<number, number> = new Map(),
): SlotLayout => {
  const serving = servingMembers(pool, health);
  const follows = pool.algorithm === "least-connections" && serving.every((m) => followed.has(m.id));
  return slotLayout(
    pool.slots,
    pool.members.filter((m) => !m.backup).map(slotMember),
    serving.map((m) => (follows ? { ...slotMember(m), weight: followed.get(m.id)! } : slotMember(m))),
  );
};

/** SHA-256 over the member ids, four bytes each, as hex. Nodes that serve alike show the same digest. */
export const layoutDigest = (layout: SlotLayout): string => {
  const bytes = Buffer.alloc(layout.length * 4);
  layout.forEach((id, slot) => {
    bytes.writeUInt32BE(id, slot * 4);
  });
  return createHash("sha256").update(bytes).digest("hex");
};

/** What people compare: the first 16 hex digits of the digest. */
export const shortDigest = (layout: SlotLayout): string => layoutDigest(layout).slice(0, 16);
