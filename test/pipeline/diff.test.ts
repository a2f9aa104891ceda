import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compile } from "../../pipeline/compile.ts";
import { cookie, isLearned, isOurs } from "../../pipeline/cookies.ts";
import { diff, isEmptyPlan, type Observed, type ObservedFlow, type Plan } from "../../pipeline/diff.ts";
import { bodyKey, flowKey } from "../../pipeline/identity.ts";
import { matchOf } from "../../pipeline/match.ts";
import type { DesiredState, Health } from "../../pipeline/model.ts";
import type { Program } from "../../pipeline/program.ts";
import { seedState } from "../support/topology.ts";

const empty: Observed = { flows: [], groups: [], meters: [] };

/** A switch that does what a plan says; it refuses what a real one would refuse. */
const apply = (plan: Plan, before: Observed): Observed => {
  const flows = new Map(before.flows.map((f) => [flowKey(f), f]));
  const groups = new Map(before.groups.map((g) => [g.groupId, g]));
  const meters = new Map(before.meters.map((m) => [m.meterId, m]));
  for (const op of [...plan.before, ...plan.bundle, ...plan.after]) {
    switch (op.op) {
      case "meter-add":
      case "meter-modify":
        if (meters.has(op.meter.meterId) !== (op.op === "meter-modify")) throw new Error(`${op.op}: wrong command`);
        meters.set(op.meter.meterId, op.meter);
        break;
      case "meter-delete":
        meters.delete(op.meterId);
        break;
      case "group-add":
      case "group-modify":
        if (groups.has(op.group.groupId) !== (op.op === "group-modify")) throw new Error(`${op.op}: wrong command`);
        groups.set(op.group.groupId, op.group);
        break;
      case "group-delete":
        groups.delete(op.groupId);
        break;
      case "flow-add":
        flows.set(flowKey(op.flow), op.flow);
        break;
      case "flow-delete":
        if (!flows.delete(flowKey(op.flow))) throw new Error("deletes what is not there");
        break;
    }
  }
  return { flows: [...flows.values()], groups: [...groups.values()], meters: [...meters.values()] };
};

const looks = (flows: readonly ObservedFlow[]) =>
  flows
    .map((f) => `${flowKey(f)} => ${bodyKey(f.instructions)} ${f.cookie} ${f.idleTimeout} ${f.hardTimeout} ${f.flags}`)
    .toSorted();

const observedOf = (p: Program): Observed => ({ flows: p.flows, groups: p.groups, meters: p.meters });

const foreign: ObservedFlow = {
  tableId: 97,
  priority: 7,
  match: matchOf({ in_port: 3 }),
  instructions: [],
  cookie: 0xbeefn,
  idleTimeout: 0,
  hardTimeout: 0,
  flags: 0,
};
const learned: ObservedFlow = {
  ...foreign,
  tableId: 25,
  priority: 50,
  match: matchOf({ reg0: 2, eth_dst: 5 }),
  cookie: cookie("learned-fdb", { kind: "segment", id: 2 }),
  hardTimeout: 300,
};

/** States in the neighbourhood of the seed: members fail, ports go down, MACs move, things are switched off. */
const arbitraryState: fc.Arbitrary<DesiredState> = fc
  .record({
    slots: fc.constantFrom(64, 128),
    health: fc.array(fc.constantFrom<Health>("up", "down", "unknown"), { minLength: 4, maxLength: 4 }),
    up: fc.array(fc.boolean(), { minLength: 9, maxLength: 9 }),
    macs: fc.array(fc.integer({ min: 1, max: 0xfffffffffff }), { minLength: 5, maxLength: 5 }),
    listenerUp: fc.boolean(),
    balancerUp: fc.boolean(),
    route: fc.boolean(),
  })
  .map(({ slots, health, up, macs, listenerUp, balancerUp, route }) => {
    const s = seedState(slots);
    return {
      ...s,
      routes: route ? s.routes : [],
      ports: s.ports.map((p, i) => ({ ...p, up: up[i]! })),
      neighbours: s.neighbours.map((n, i) => ({ ...n, mac: macs[i]! })),
      health: new Map(health.map((h, i) => [i + 1, h])),
      loadBalancers: s.loadBalancers.map((lb) => ({
        ...lb,
        adminUp: balancerUp,
        listeners: lb.listeners.map((l) => ({ ...l, adminUp: listenerUp })),
      })),
    };
  });

const runs = { numRuns: 40 };

describe("diff", () => {
  test("applied to what is there gives what is wanted, and then there is nothing left to do", () => {
    fc.assert(
      fc.property(arbitraryState, arbitraryState, (a, b) => {
        const wanted = compile(b);
        const after = apply(diff(wanted, observedOf(compile(a))), observedOf(compile(a)));
        expect(looks(after.flows)).toEqual(looks(wanted.flows));
        expect(after.groups.toSorted((x, y) => x.groupId - y.groupId)).toEqual(wanted.groups);
        expect(isEmptyPlan(diff(wanted, after))).toBe(true);
      }),
      runs,
    );
  });

  test("never deletes or changes what is foreign or learned", () => {
    fc.assert(
      fc.property(arbitraryState, arbitraryState, (a, b) => {
        const before = observedOf(compile(a));
        const full = {
          flows: [...before.flows, foreign, learned],
          groups: [...before.groups, { groupId: 9, groupType: 0, buckets: [] }],
          meters: [...before.meters, { meterId: 9, flags: 1, bands: [] }],
        };
        const plan = diff(compile(b), full);
        expect(plan).toEqual(diff(compile(b), before));
        for (const op of plan.bundle) {
          if (op.op === "flow-delete") {
            expect(isOurs(op.flow.cookie)).toBe(true);
            expect(isLearned(op.flow.cookie)).toBe(false);
          }
        }
      }),
      runs,
    );
  });

  test("does not depend on the order of what was observed", () => {
    const seed = compile(seedState(64));
    const other = compile({ ...seedState(64), routes: [], loadBalancers: [] });
    const shuffled = fc.shuffledSubarray([...seed.flows], { minLength: seed.flows.length });
    const want = diff(other, observedOf(seed));
    fc.assert(
      fc.property(shuffled, (flows) => {
        expect(diff(other, { ...observedOf(seed), flows })).toEqual(want);
      }),
      runs,
    );
  });

  test("orders operations so that no flow ever names a group or meter that is not there", () => {
    const plan = diff(compile(seedState(64)), {
      ...empty,
      flows: [{ ...foreign, cookie: cookie("vip") }],
      groups: [{ groupId: 653077, groupType: 0, buckets: [] }],
      meters: [{ meterId: 6545, flags: 1, bands: [] }],
    });
    expect(plan.before.every((op) => op.op === "meter-add")).toBe(true);
    const kinds = plan.bundle.map((op) => op.op).filter((op, i, all) => op !== all[i - 1]);
    expect(kinds).toEqual(["group-add", "flow-delete", "flow-add", "group-delete"]);
    expect(plan.after).toEqual([{ op: "meter-delete", meterId: 6545, reason: "stale" }]);
  });

  test("changes a flow by one add, never by delete and add", () => {
    const program = compile(seedState(64));
    const first = program.flows.find((f) => f.instructions.length > 0);
    const others = program.flows.filter((f) => f !== first);
    for (const change of [
      { idleTimeout: 9 },
      { hardTimeout: 9 },
      { flags: 1 },
      { cookie: cookie("vip") },
      { instructions: [] },
    ]) {
      const plan = diff(program, { ...observedOf(program), flows: [{ ...first!, ...change }, ...others] });
      expect(plan.bundle.map((op) => [op.op, op.reason])).toEqual([["flow-add", "changed"]]);
    }
  });

  test("sees a change inside a learn action", () => {
    const program = compile(seedState(64));
    const older = compile({ ...seedState(64), segments: seedState(64).segments.map((s) => ({ ...s, ageing: 60 })) });
    const plan = diff(program, observedOf(older));
    expect(plan.bundle.length).toBeGreaterThan(0);
    expect(plan.bundle.every((op) => op.op === "flow-add" && op.flow.tableId === 0 && op.reason === "changed")).toBe(
      true,
    );
  });

  test("takes the place of a foreign flow with the same match, and says so", () => {
    const program = compile(seedState(64));
    const [first, ...others] = program.flows;
    const plan = diff(program, { ...observedOf(program), flows: [{ ...first!, cookie: 1n }, ...others] });
    expect(plan.bundle.map((op) => [op.op, op.reason])).toEqual([["flow-add", "foreign"]]);
  });

  test("removes a flow that carries our cookie and is not wanted", () => {
    const program = compile(seedState(64));
    const dummy = { ...foreign, cookie: cookie("slot", { kind: "pool", id: 1 }) };
    const plan = diff(program, { ...observedOf(program), flows: [...program.flows, dummy] });
    expect(plan.bundle).toEqual([{ op: "flow-delete", flow: dummy, reason: "stale" }]);
  });

  test("modifies a group whose buckets and a meter whose rate differ", () => {
    const program = compile(seedState(64));
    const [group, ...groups] = program.groups;
    const [meter, ...meters] = program.meters;
    const plan = diff(program, {
      flows: program.flows,
      groups: [{ ...group!, buckets: [] }, ...groups],
      meters: [{ ...meter!, bands: [{ kind: "drop", rate: 1, burstSize: 1 }] }, ...meters],
    });
    expect(plan.before).toEqual([{ op: "meter-modify", meter, reason: "changed" }]);
    expect(plan.bundle).toEqual([{ op: "group-modify", group, reason: "changed" }]);
  });
});
