import { describe, expect, test, vi } from "vitest";
import { compile } from "../../pipeline/compile.ts";
import { memo } from "../../pipeline/memo.ts";
import type { DesiredState } from "../../pipeline/model.ts";
import { seedState } from "../support/topology.ts";

describe("memo", () => {
  test("computes what it has not kept, and keeps what was used last", () => {
    const computed: number[] = [];
    const square = memo(
      2,
      (n: number) => n,
      () => "",
      (n) => {
        computed.push(n);
        return n * n;
      },
    );
    expect([1, 2, 1, 3, 1, 2].map(square)).toEqual([1, 4, 1, 9, 1, 4]);
    expect(computed).toEqual([1, 2, 3, 2]);
  });

  test("keeps one result of each place", () => {
    let computed = 0;
    const join = memo(
      9,
      (place: string, _: string) => place,
      (_, value) => value,
      (place, value) => `${place}${value}${++computed}`,
    );
    expect([join("a", "x"), join("b", "x"), join("a", "x"), join("a", "y"), join("a", "x")]).toEqual([
      "ax1",
      "bx2",
      "ax1",
      "ay3",
      "ax4",
    ]);
  });
});

/** The state with another name, id, weight and health for what its slots are made of. */
const variants = (): readonly DesiredState[] => {
  const base = seedState(64);
  const [lb] = base.loadBalancers;
  const [pool] = lb!.pools;
  const withPool = (change: Partial<NonNullable<typeof pool>>): DesiredState => ({
    ...base,
    loadBalancers: [{ ...lb!, pools: [{ ...pool!, ...change }] }],
  });
  const member = (change: object) =>
    withPool({ members: pool!.members.map((m, i) => (i === 0 ? { ...m, ...change } : m)) });
  return [
    base,
    withPool({ name: "other" }),
    withPool({ slots: 128 }),
    member({ name: "other" }),
    member({ weight: 9 }),
    member({ id: 77 }),
    member({ port: 81 }),
    { ...base, health: new Map([[1, "up"]]) },
    { ...base, health: new Map() },
    base,
  ];
};

test("a compilation is the same whatever was compiled before", async () => {
  for (const state of variants()) {
    const after = compile(state);
    vi.resetModules();
    const { compile: first } = await import("../../pipeline/compile.ts");
    expect(after.flows.map((f) => [f.key, f.body, f.cookie, f.why])).toEqual(
      first(state).flows.map((f) => [f.key, f.body, f.cookie, f.why]),
    );
  }
});
