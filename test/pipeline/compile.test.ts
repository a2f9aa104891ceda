import { describe, expect, test } from "vitest";
import { controller, group, output, resubmit, setField } from "../../openflow/build.ts";
import { CompileError, compile } from "../../pipeline/compile.ts";
import { cookie, type FeatureName } from "../../pipeline/cookies.ts";
import type { Feature } from "../../pipeline/features/feature.ts";
import { FlowError, type FlowInput, type FlowSpec, flowBuilder } from "../../pipeline/flow.ts";
import { ip as ipMatch, tcp } from "../../pipeline/match.ts";
import type { Member } from "../../pipeline/model.ts";
import { floodGroup } from "../../pipeline/ownership.ts";
import { T, tableById, tables } from "../../pipeline/tables.ts";
import { seedState } from "../support/topology.ts";

const state = seedState(64);
const feature = (flows: readonly FlowSpec[], name: FeatureName = "vip"): Feature => ({ name, flows: () => flows });
const flow = (input: Partial<FlowInput>): FlowSpec =>
  flowBuilder("vip")({ table: T.classify, priority: 1, why: "A test.", ...input });
const compiling =
  (...flows: readonly FlowSpec[]) =>
  () =>
    compile(state, [feature(flows)]);

describe("tables", () => {
  test("go on in later tables only, and only in tables that exist", () => {
    for (const t of tables) {
      for (const next of t.next) {
        expect(tableById(next)).toBeDefined();
        expect(next).toBeGreaterThan(t.id);
      }
      for (const back of t.resubmit) expect(tableById(back)).toBeDefined();
    }
  });
});

describe("the flow builder refuses", () => {
  const object = { kind: "address", id: 77 } as const;
  const cases: readonly (readonly [string, Partial<FlowInput>, RegExp])[] = [
    ["an unknown table", { table: 3 }, /no table 3/],
    ["a jump backward", { table: T.fdb, goto: T.classify }, /forward only, not from 25 to 1/],
    ["a jump to itself", { goto: T.classify }, /forward only/],
    ["a jump the table does not allow", { goto: T.fdb }, /table 1 \(classify\) may not continue in table 25/],
    ["a resubmit the table does not allow", { actions: [resubmit({ table: T.echo })] }, /may not resubmit to table 6/],
    ["a field without its prerequisite", { match: { tcp_dst: 80 } }, /OFPBMC_BAD_PREREQ.*tcp_dst/],
    ["an address without its protocol", { match: { ip_dst: 1 } }, /OFPBMC_BAD_PREREQ.*ip_dst/],
  ];
  test.each(cases)("%s, and names feature and object", (_, input, message) => {
    expect(() => flow({ object, ...input })).toThrow(FlowError);
    expect(() => flow({ object, ...input })).toThrow(message);
    expect(() => flow({ object, ...input })).toThrow(/feature vip, address 77/);
  });
});

describe("compile refuses", () => {
  test("a flow that only another feature may make", () => {
    const stray = { ...flow({}), cookie: cookie("slot", { kind: "pool", id: 5 }) };
    expect(compiling(stray)).toThrow(CompileError);
    expect(compiling(stray)).toThrow(/slot, pool 5.*feature vip made it under the name of slot/);
  });

  test("a flow that is nobody's", () => {
    expect(compiling({ ...flow({}), cookie: 5n })).toThrow(/cookie 5.*under the name of undefined/);
  });

  test("a jump that the builder did not see", () => {
    const instructions = [{ kind: "goto_table", tableId: T.fdb }] as const;
    expect(compiling({ ...flow({}), instructions })).toThrow(/may not continue in table 25/);
  });

  test("two flows with one match, whatever order it was written in", () => {
    const a = flow({ match: { ...tcp, tcp_dst: 80, ip_dst: 9 }, object: { kind: "address", id: 9 } });
    const b = flow({ match: { ip_dst: 9, ...tcp, tcp_dst: 80 }, actions: [output(1)] });
    expect(compiling(a, b)).toThrow(/vip, none 0.*has the match of.*vip, address 9/);
  });

  test("flows of one priority that overlap and differ", () => {
    const net = (length: number, port: number): FlowSpec =>
      flow({
        match: { ...ipMatch, ip_dst: { value: 0x0a000000, mask: (0xffffffff << (32 - length)) >>> 0 } },
        actions: [output(port)],
      });
    expect(compiling(net(8, 1), net(16, 2))).toThrow(/overlaps/);
    expect(compiling(net(8, 1), net(16, 1))).not.toThrow();
    expect(compiling(net(8, 1), { ...net(16, 2), priority: 2 })).not.toThrow();
    const elsewhere = flow({
      match: { ...ipMatch, ip_dst: { value: 0x0b000000, mask: 0xffff0000 } },
      actions: [output(2)],
    });
    expect(compiling(net(8, 1), elsewhere)).not.toThrow();
  });

  test("a number that does not fit its field", () => {
    expect(compiling(flow({ actions: [setField("eth_dst", -1)] }))).toThrow(CompileError);
    expect(compiling(flow({ actions: [setField("eth_dst", -1)] }))).toThrow(/vip, none 0.*eth_dst/);
  });

  test("groups and meters that are not there", () => {
    expect(compiling(flow({ actions: [group(floodGroup(9))] }))).toThrow(/no group 653009/);
    expect(compiling(flow({ actions: [controller({ meterId: 6599 })] }))).toThrow(/no meter 6599/);
  });

  test("groups outside our range, and one group defined twice", () => {
    const groups = (...ids: readonly number[]): Feature => ({
      name: "vip",
      flows: () => [],
      groups: () => ids.map((groupId) => ({ groupId, groupType: 0, buckets: [] })),
    });
    expect(() => compile(state, [groups(9)])).toThrow(/group 9 is not in our range/);
    expect(() => compile(state, [groups(653001, 653001)])).toThrow(/two definitions of group 653001/);
  });
});

describe("a program", () => {
  test("does not depend on the order of anything in the state", () => {
    const seed = seedState();
    // Servers that are members of two pools, and twice of one.
    const twice = seed.loadBalancers.map((lb) => {
      const again = (add: number, port: number) => (m: Member) => ({
        ...m,
        id: m.id + add,
        uuid: `${m.uuid}-${add}`,
        port,
      });
      const [pool] = lb.pools;
      const members = [...pool!.members, ...pool!.members.map(again(100, 9090))];
      const second = { ...pool!, id: 2, uuid: "pool-2", name: "second", members: pool!.members.map(again(200, 8080)) };
      const listener = { ...lb.listeners[0]!, id: 2, uuid: "listener-2", name: "second", port: 81, poolId: 2 };
      return { ...lb, listeners: [...lb.listeners, listener], pools: [{ ...pool!, members }, second] };
    });
    const s = { ...seed, loadBalancers: twice };
    const turned = {
      ...s,
      segments: s.segments.toReversed(),
      ports: s.ports.toReversed(),
      neighbours: s.neighbours.toReversed(),
      loadBalancers: s.loadBalancers.map((lb) => ({
        ...lb,
        vips: lb.vips.toReversed(),
        listeners: lb.listeners.toReversed(),
        pools: lb.pools.map((p) => ({ ...p, members: p.members.toReversed() })).toReversed(),
      })),
      health: new Map([...s.health].toReversed()),
    };
    expect(compile(turned)).toEqual(compile(s));
  });

  test("is sorted by table, then by falling priority", () => {
    const order = compile(seedState(64)).flows.map((f) => f.tableId * 65536 + (65535 - f.priority));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  });

  test("has one counted flow at the bottom of every table", () => {
    const bottoms = compile(seedState(64)).flows.filter((f) => f.priority === 0);
    expect(bottoms.map((f) => f.tableId)).toEqual(tables.map((t) => t.id));
  });
});
