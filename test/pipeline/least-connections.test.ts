import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countedMembers, followConnections } from "../../pipeline/least-connections.ts";
import type { Health, Member, Pool } from "../../pipeline/model.ts";
import { poolLayout } from "../../pipeline/slots.ts";

const member = (id: number, more: Partial<Member> = {}): Member => ({
  id,
  name: `m${id}`,
  uuid: `u${id}`,
  ip: 0x0a00_0000 + id,
  port: 80,
  weight: 1,
  adminUp: true,
  drain: false,
  backup: false,
  ...more,
});

const pool = (members: readonly Member[], algorithm: Pool["algorithm"] = "least-connections"): Pool => ({
  id: 1,
  name: "p",
  uuid: "p",
  algorithm,
  slots: 1024,
  members,
});

const four = pool([member(1), member(2), member(3), member(4)]);
const none = new Map<number, Health>();

/** Slots by member, as `open` connections make them. */
const shares = (p: Pool, open: ReadonlyMap<number, number>, before = new Map<number, number>()): number[] => {
  const layout = poolLayout(p, none, followConnections([p], open, before));
  return p.members.map((m) => layout.filter((id) => id === m.id).length);
};

describe("slots that follow open connections", () => {
  test("are equal while all have the same", () => {
    expect(shares(four, new Map([1, 2, 3, 4].map((id) => [id, 50])))).toEqual([256, 256, 256, 256]);
    expect(shares(four, new Map())).toEqual([256, 256, 256, 256]);
  });

  test("go away from who has more, and the others keep theirs", () => {
    const open = new Map([
      [1, 100],
      [2, 10],
      [3, 10],
      [4, 10],
    ]);
    const [busy = 0, ...others] = shares(four, open);
    expect(busy).toBeLessThan(50);
    for (const n of others) expect(n).toBeGreaterThan(300);
    const before = poolLayout(four, none);
    const after = poolLayout(four, none, followConnections([four], open, new Map()));
    // What the others have, they had, or it was the busy one's.
    expect(after.filter((id, slot) => id !== before[slot] && before[slot] !== 1)).toEqual([]);
  });

  test("are by weight", () => {
    const p = pool([member(1, { weight: 3 }), member(2)]);
    const open = new Map([
      [1, 300],
      [2, 100],
    ]);
    expect(shares(p, open)).toEqual([768, 256]);
  });

  test("a handful of connections is no reason", () => {
    const [one = 0] = shares(four, new Map([[1, 2]]));
    expect(one).toBeGreaterThan(128);
  });

  test("stay where they are as long as nothing changes noticeably", () => {
    const before = followConnections([four], new Map([[1, 40]]), new Map());
    expect(followConnections([four], new Map([[1, 42]]), before)).toBe(before);
    expect(followConnections([four], new Map([[1, 400]]), before)).not.toBe(before);
  });

  test("only pools that want it are followed, and no member that may not serve", () => {
    const plain = pool([member(9)], "consistent");
    const mixed = pool([
      member(1),
      member(2, { drain: true }),
      member(3, { weight: 0 }),
      member(4, { adminUp: false }),
    ]);
    expect(countedMembers([plain, mixed]).map((m) => m.id)).toEqual([1]);
    expect([...followConnections([plain, mixed], new Map(), new Map()).keys()]).toEqual([1]);
  });

  test("whatever the numbers, nobody is left without a slot and all are given out", () => {
    const counts = fc.array(fc.nat(1_000_000), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(counts, (list) => {
        const p = pool(list.map((_, i) => member(i + 1)));
        const result = shares(p, new Map(list.map((n, i) => [i + 1, n])));
        expect(result.reduce((a, b) => a + b)).toBe(1024);
        expect(Math.min(...result)).toBeGreaterThan(0);
      }),
      { numRuns: 50 },
    );
  });
});
