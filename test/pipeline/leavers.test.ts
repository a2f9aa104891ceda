import { describe, expect, test } from "vitest";
import { compile } from "../../pipeline/compile.ts";
import { isBack, leaving, leavingFlows, placesOf } from "../../pipeline/leavers.ts";
import type { DesiredState, Health, Member, Protocol } from "../../pipeline/model.ts";
import { ip, seedState } from "../support/topology.ts";

const seed = seedState(64);
const [lb] = seed.loadBalancers;
const vip = { ip: ip("10.20.0.100"), port: 80 };
const be1 = { ip: ip("10.20.0.2"), port: 8080 };

/** The seed's network with one VIP, and its first member changed or taken away. */
const withFirst = (protocol: Protocol, change: Partial<Member> | null, health = seed.health): DesiredState => ({
  ...seed,
  health,
  loadBalancers: [
    {
      ...lb!,
      vips: [{ ip: vip.ip, segment: 2 }],
      listeners: [{ ...lb!.listeners[0]!, protocol }],
      pools: lb!.pools.map((pool) => ({
        ...pool,
        members: pool.members.flatMap((m, i) => (i > 0 ? [m] : change === null ? [] : [{ ...m, ...change }])),
      })),
    },
  ],
});
const health = (state: Health): ReadonlyMap<number, Health> => new Map([...seed.health, [1, state]]);

describe.each(["tcp", "udp"] as const)("connections by %s", (protocol) => {
  const before = placesOf(withFirst(protocol, {}));
  const goneIn = (s: DesiredState) => leaving(before, placesOf(s));
  const gone = [{ protocol, called: vip, member: be1 }];

  test.each([
    ["removed", withFirst(protocol, null)],
    ["disabled", withFirst(protocol, { adminUp: false })],
    ["down", withFirst(protocol, {}, health("down"))],
  ])("of a member that is %s are forgotten", (_how, state) => {
    expect(goneIn(state)).toEqual(gone);
    expect(leaving(placesOf(state), placesOf(state))).toEqual([]);
  });

  test.each([
    ["drained", withFirst(protocol, { drain: true })],
    ["of weight 0", withFirst(protocol, { weight: 0 })],
  ])("of a member that is %s stay if they end by themselves", (_how, state) => {
    expect(goneIn(state)).toEqual(protocol === "udp" ? gone : []);
    expect(leaving(placesOf(state), placesOf(withFirst(protocol, { drain: true }, health("down"))))).toEqual(gone);
    const disabled = withFirst(protocol, { drain: true, adminUp: false });
    expect(leaving(placesOf(state), placesOf(disabled))).toEqual(gone);
  });

  test("are good again when the member serves again, there and by that protocol", () => {
    const [what] = gone;
    expect(isBack(what!, before)).toBe(true);
    expect(isBack({ member: be1 }, before)).toBe(true);
    expect(isBack({ protocol, called: vip }, before)).toBe(true);
    for (const state of [
      withFirst(protocol, null),
      withFirst(protocol, { drain: true }),
      withFirst(protocol, { adminUp: false }),
    ])
      expect(isBack(what!, placesOf(state))).toBe(false);
    expect(isBack({ ...what!, protocol: protocol === "tcp" ? "udp" : "tcp" }, before)).toBe(false);
    expect(isBack({ ...what!, called: { ...vip, port: 81 } }, before)).toBe(false);
    expect(isBack({ protocol, called: vip }, placesOf({ ...seed, loadBalancers: [] }))).toBe(false);
  });

  test("of a listener that is gone are forgotten all at once", () => {
    expect(goneIn({ ...seed, loadBalancers: [] })).toEqual([{ protocol, called: vip }]);
  });

  test("stay where nothing has changed or somebody came", () => {
    expect(goneIn(withFirst(protocol, {}))).toEqual([]);
    expect(leaving(placesOf(withFirst(protocol, null)), before)).toEqual([]);
  });
});

test("flows tell who was removed while no controller was there", () => {
  const flows = (s: DesiredState) => compile(s).flows;
  expect(leavingFlows(flows(withFirst("tcp", {})), flows(withFirst("tcp", null)))).toEqual([{ member: be1 }]);
  expect(leavingFlows(flows(withFirst("tcp", {})), flows(withFirst("tcp", { drain: true })))).toEqual([]);
});
