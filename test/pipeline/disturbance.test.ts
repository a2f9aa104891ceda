import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { compile } from "../../pipeline/compile.ts";
import type { Member } from "../../pipeline/model.ts";
import { poolLayout } from "../../pipeline/slots.ts";
import { T } from "../../pipeline/tables.ts";
import { disturbance, disturbanceTable } from "../bench/disturbance.ts";
import { seedState } from "../support/topology.ts";

const rows = disturbance();

describe("slots that move when one member changes", () => {
  test("are its own only when it fails, whatever the pool", () => {
    expect(rows.map((r) => r.drained.others)).toEqual(rows.map(() => 0));
  });

  test("are hardly more than its own when the pool is configured anew", () => {
    for (const r of rows) {
      const others = Math.max(r.removed.others, r.added.others, r.heavier.others);
      expect(others, `${r.members} members, ${r.weights}`).toBeLessThanOrEqual(1024 * 0.04);
    }
  });

  test("stand in the README as they are", () => {
    const readme = readFileSync(new URL("../../pipeline/README.md", import.meta.url), "utf8");
    expect(readme).toContain(disturbanceTable(rows));
  });
});

describe("flows that change with one member", () => {
  const before = seedState(1024);
  const pool = before.loadBalancers[0]!.pools[0]!;
  const withFirst = (change: Partial<Member>) => ({
    ...before,
    loadBalancers: before.loadBalancers.map((lb) => ({
      ...lb,
      pools: lb.pools.map((p) => ({
        ...p,
        members: p.members.map((m) => (m.id === pool.members[0]!.id ? { ...m, ...change } : m)),
      })),
    })),
  });

  test.each([
    ["drained", { drain: true }],
    ["given another weight", { weight: 3 }],
  ])("%s: those of the slots that move, and no other", (_name, change) => {
    const after = withFirst(change);
    const was = new Map(compile(before).flows.map((f) => [f.key, Buffer.from(f.body).toString("hex")]));
    const changed = compile(after).flows.filter((f) => was.get(f.key) !== Buffer.from(f.body).toString("hex"));
    const [old, now] = [before, after].map((s) => poolLayout(s.loadBalancers[0]!.pools[0]!, s.health));
    const moved = old!.filter((id, slot) => now![slot] !== id).length;
    expect(moved).toBeGreaterThan(0);
    expect(changed.map((f) => f.tableId)).toEqual(Array.from({ length: moved }, () => T.slots));
  });
});
