import { describe, expect, test } from "vitest";
import { setField } from "../../openflow/build.ts";
import { readNeighbours, readServing } from "../../pipeline/adopt.ts";
import { compile } from "../../pipeline/compile.ts";
import type { DesiredState } from "../../pipeline/model.ts";
import { ip, mac, seedState } from "../support/topology.ts";

const read = (s: DesiredState) => readNeighbours(compile(s).flows, s);
const byAddress = (s: DesiredState) => s.neighbours.toSorted((a, b) => a.ip - b.ip);

describe("readNeighbours", () => {
  test("gets back what was compiled, members and routers alike", () => {
    const s = seedState(64);
    expect(read(s)).toEqual(byAddress(s));
  });

  test("does not depend on the order of the dump", () => {
    const s = seedState(64);
    expect(readNeighbours(compile(s).flows.toReversed(), s)).toEqual(byAddress(s));
  });

  test("leaves out entries the operator gave", () => {
    const s = seedState(64);
    const given = { segment: 2, ip: ip("10.20.0.2"), mac: mac("02:00:00:00:00:99"), port: "be1" };
    expect(read({ ...s, staticNeighbours: [given] })).toEqual(byAddress(s).filter((n) => n.ip !== given.ip));
  });

  test("leaves out foreign flows, addresses outside every segment, and flows that do more than deliver", () => {
    const s = seedState(64);
    const flows = compile(s).flows;
    expect(
      readNeighbours(
        flows.map((f) => ({ ...f, cookie: 1n })),
        s,
      ),
    ).toEqual([]);
    expect(
      readNeighbours(flows, { ...s, segments: s.segments.filter((x) => x.id !== 2) }).map((n) => n.segment),
    ).toEqual([3, 3, 1]);
    const odd = flows.map((f) => ({
      ...f,
      instructions: f.instructions.map((i) =>
        i.kind === "apply_actions" ? { ...i, actions: [...i.actions, setField("ip_dst", 1)] } : i,
      ),
    }));
    expect(readNeighbours(odd, s)).toEqual([]);
  });
});

describe("readServing", () => {
  const flowsOf = (s: DesiredState) => compile(s).flows;
  const sorted = (ids: ReadonlySet<number>) => [...ids].sort((a, b) => a - b);

  test("gets back the members that have slots, and no others", () => {
    const s = seedState(64);
    expect(sorted(readServing(flowsOf(s), s))).toEqual([1, 2, 3, 4]);
    const some: DesiredState = { ...s, health: new Map([[2, "up"] as const, [3, "down"] as const]) };
    expect(sorted(readServing(flowsOf(some), some))).toEqual([2]);
    const none: DesiredState = { ...s, health: new Map() };
    expect(sorted(readServing(flowsOf(none), none))).toEqual([]);
  });

  test("leaves out foreign flows", () => {
    const s = seedState(64);
    const foreign = flowsOf(s).map((f) => ({ ...f, cookie: 7n }));
    expect(sorted(readServing(foreign, s))).toEqual([]);
  });

  test("a number that belonged to another address says nothing of the member that has it now", () => {
    const s = seedState(64);
    const swapped = {
      ...s,
      loadBalancers: s.loadBalancers.map((lb) => ({
        ...lb,
        pools: lb.pools.map((p) => ({
          ...p,
          members: p.members.map((m) =>
            m.id === 1 ? { ...m, port: 9 } : m.id === 2 ? { ...m, ip: ip("10.30.0.9") } : m,
          ),
        })),
      })),
    };
    expect(sorted(readServing(flowsOf(s), swapped))).toEqual([3, 4]);
  });
});
