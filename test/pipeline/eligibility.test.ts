import { describe, expect, test } from "vitest";
import { eligibility, healthOf, servingMembers } from "../../pipeline/eligibility.ts";
import type { Health, Member, Pool } from "../../pipeline/model.ts";

const member = (id: number, over: Partial<Member> = {}): Member => ({
  id,
  name: `m${id}`,
  uuid: `00000000-0000-0000-0000-00000000000${id}`,
  ip: 0x0a000000 + id,
  port: 80,
  weight: 1,
  adminUp: true,
  drain: false,
  backup: false,
  ...over,
});

const monitor = { type: "tcp", intervalMs: 2000, timeoutMs: 1000, rise: 2, fall: 3 } as const;
const pool = (members: readonly Member[], monitored = true): Pool => ({
  id: 1,
  name: "p",
  uuid: "p",
  algorithm: "consistent",
  slots: 1024,
  members,
  ...(monitored ? { healthMonitor: monitor } : {}),
});

describe("eligibility", () => {
  const cases: readonly (readonly [Partial<Member>, Health, string])[] = [
    [{}, "up", "eligible"],
    [{}, "unmonitored", "eligible"],
    [{}, "down", "down"],
    [{}, "unknown", "unproven"],
    [{ weight: 0 }, "up", "zero-weight"],
    [{ drain: true }, "up", "draining"],
    [{ adminUp: false }, "up", "disabled"],
    [{ adminUp: false, drain: true, weight: 0 }, "down", "disabled"],
    [{ drain: true, weight: 0 }, "down", "draining"],
  ];
  test.each(cases)("%j with health %s is %s", (over, health, want) => {
    expect(eligibility(member(1, over), health)).toBe(want);
  });
});

describe("servingMembers", () => {
  const ids = (p: Pool, health: readonly (readonly [number, Health])[]) =>
    servingMembers(p, new Map(health)).map((m) => m.id);

  test("a member nobody probed yet does not serve in a monitored pool, and does in another", () => {
    expect(ids(pool([member(1)]), [])).toEqual([]);
    expect(ids(pool([member(1)], false), [])).toEqual([1]);
    expect(healthOf(pool([member(1)], false), member(1), new Map([[1, "down"]]))).toBe("unmonitored");
  });

  test("backups serve only while no ordinary member is eligible", () => {
    const p = pool([member(1), member(2, { backup: true }), member(3, { backup: true })]);
    const up = (n: number): readonly [number, Health] => [n, "up"];
    expect(ids(p, [up(1), up(2), up(3)])).toEqual([1]);
    expect(ids(p, [[1, "down"], up(2), up(3)])).toEqual([2, 3]);
    expect(ids(p, [[1, "down"], [2, "down"], up(3)])).toEqual([3]);
    expect(ids(p, [])).toEqual([]);
  });
});
