import { load } from "../../openflow/build.ts";
import { type Service, services } from "../addresses.ts";
import { type FlowSpec, flowBuilder } from "../flow.ts";
import { canonicalFlowKey } from "../identity.ts";
import { ip } from "../match.ts";
import { memo } from "../memo.ts";
import type { DesiredState, Member, Pool } from "../model.ts";
import { punt } from "../punt.ts";
import { regMember } from "../registers.ts";
import { poolLayout, type SlotLayout } from "../slots.ts";
import { T } from "../tables.ts";
import type { Feature } from "./feature.ts";

const flow = flowBuilder("slot");

/** Pools that a listener in use leads to. */
const servedPools = (all: readonly Service[]): readonly Pool[] => [
  ...new Map(all.flatMap(({ up, pool }) => (up && pool !== undefined ? [[pool.id, pool]] : []))).values(),
];

/** Their members, each with its pool, by id: of several at one address the first is then always the same one. */
export const servedMembers = (all: readonly Service[]): readonly { readonly pool: Pool; readonly member: Member }[] =>
  servedPools(all)
    .flatMap((pool) => pool.members.map((member) => ({ pool, member })))
    .sort((a, b) => a.member.id - b.member.id);

/** The flows of so many pools are remembered, each as it was last: a pool of 1024 slots takes about a megabyte. */
const REMEMBERED = 1024;

/** The flows of all slots. They are most of what there is, and the same as before for all pools but the one that changed. */
const slotFlows = memo(
  REMEMBERED,
  (pool: Pool, _layout: SlotLayout) => pool.id,
  (pool: Pool, layout: SlotLayout) =>
    JSON.stringify([pool.id, pool.name, layout, pool.members.map((m) => [m.id, m.name])]),
  (pool, layout): readonly FlowSpec[] => {
    const names = new Map(pool.members.map((m) => [m.id, m.name]));
    const flows = layout.map((member, slot) =>
      flow({
        table: T.slots,
        priority: 100,
        match: { reg1: slot, reg3: pool.id },
        actions: [load(member, regMember)],
        goto: T.members,
        object: { kind: "pool", id: pool.id },
        why: `Slot ${slot} of pool ${pool.name} is with member ${names.get(member)}.`,
      }),
    );
    // In the order of a program, so that sorting that has little to do.
    const keyed = flows.map((f) => ({ f, key: canonicalFlowKey(f) })).sort((a, b) => (a.key < b.key ? -1 : 1));
    return keyed.map(({ f }) => f);
  },
);

function* poolFlows(pool: Pool, s: DesiredState, all: readonly Service[]): Generator<FlowSpec> {
  const object = { kind: "pool", id: pool.id } as const;
  const layout = poolLayout(pool, s.health, s.followedWeights);
  yield* slotFlows(pool, layout);
  const rejecting = layout.length > 0 ? [] : all.filter((v) => v.pool === pool && v.listener.emptyPolicy === "reject");
  for (const id of new Set(rejecting.map((v) => v.listener.id))) {
    yield flow({
      table: T.slots,
      priority: 20,
      match: { ...ip, reg3: pool.id, reg4: id },
      actions: [punt("reject")],
      object,
      why: `Pool ${pool.name} has no member that serves: refused.`,
    });
  }
  yield flow({
    table: T.slots,
    priority: 10,
    match: { reg3: pool.id },
    object,
    why: `Pool ${pool.name} has no member that serves: dropped.`,
  });
}

/** Table 11: which member serves a slot. A pool without members drops, rather than send to a server that is down. */
export const slot: Feature = {
  name: "slot",
  *flows(s) {
    const all = services(s);
    for (const pool of servedPools(all)) yield* poolFlows(pool, s, all);
    yield flow({ table: T.slots, priority: 0, why: "No such pool." });
  },
};
