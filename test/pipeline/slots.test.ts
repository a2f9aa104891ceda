import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Health, Member, Pool } from "../../pipeline/model.ts";
import {
  isSlotCount,
  layoutDigest,
  poolLayout,
  type SlotLayout,
  type SlotMember,
  shortDigest,
  slotLayout,
} from "../../pipeline/slots.ts";

const count = (layout: SlotLayout, id: number): number => layout.filter((m) => m === id).length;
const equal = (n: number): readonly SlotMember[] =>
  Array.from({ length: n }, (_, i) => ({ id: i + 1, key: `10.20.0.${i + 2}:8080`, weight: 1 }));
const four = equal(4);

/** Slots that neither belonged to `left` before nor stayed where they were. */
const disturbed = (before: SlotLayout, after: SlotLayout, left: number): number =>
  before.filter((id, slot) => id !== left && after[slot] !== id).length;

const pools = fc
  .uniqueArray(fc.integer({ min: 1, max: 0xffff }), { minLength: 2, maxLength: 24 })
  .chain((hosts) =>
    fc.tuple(...hosts.map((host) => fc.integer({ min: 1, max: 256 }).map((weight) => ({ host, weight })))),
  )
  .map((rows) => rows.map(({ host, weight }, i): SlotMember => ({ id: i + 1, key: `10.20.${host}:80`, weight })));

/** At most one slot or 2 % of the share away from it. */
const expectShares = (layout: SlotLayout, members: readonly SlotMember[]): void => {
  const total = members.reduce((sum, m) => sum + m.weight, 0);
  for (const m of members) {
    const share = (layout.length * m.weight) / total;
    expect(Math.abs(count(layout, m.id) - share), `member ${m.id}, share ${share}`).toBeLessThanOrEqual(
      Math.max(1, 0.02 * share) + 1e-9,
    );
  }
};

describe("shares", () => {
  test("four equal members get 256 of 1024 slots each", () => {
    const layout = slotLayout(1024, four, four);
    expect([1, 2, 3, 4].map((id) => count(layout, id))).toEqual([256, 256, 256, 256]);
  });

  test("three that are left of four get 341 or 342", () => {
    const layout = slotLayout(1024, four, four.slice(1));
    expect([2, 3, 4].map((id) => count(layout, id)).sort()).toEqual([341, 341, 342]);
  });

  test("every slot count keeps weights 1:2:5", () => {
    const members = equal(3).map((m, i) => ({ ...m, weight: [1, 2, 5][i]! }));
    for (const slots of [64, 128, 256, 512, 1024, 2048, 4096]) {
      const layout = slotLayout(slots, members, members);
      expect([1, 2, 3].map((id) => count(layout, id))).toEqual([slots / 8, slots / 4, (5 * slots) / 8]);
    }
  });

  test("weights are kept by any pool, whoever serves", () => {
    fc.assert(
      fc.property(pools, fc.nat(), (members, pick) => {
        expectShares(slotLayout(1024, members, members), members);
        const serving = members.filter((_, i) => i === 0 || (pick >> (i % 30)) & 1);
        expectShares(slotLayout(1024, members, serving), serving);
      }),
      { numRuns: 60 },
    );
  });

  test("64 members get 16 slots each", () => {
    const layout = slotLayout(1024, equal(64), equal(64));
    expect(new Set(equal(64).map((m) => count(layout, m.id)))).toEqual(new Set([16]));
  });
});

describe("determinism", () => {
  test("the order of the members does not matter", () => {
    fc.assert(
      fc.property(
        pools.chain((p) => fc.tuple(fc.constant(p), fc.shuffledSubarray([...p], { minLength: p.length }))),
        ([members, shuffled]) => {
          expect(slotLayout(256, shuffled, shuffled)).toEqual(slotLayout(256, members, members));
        },
      ),
      { numRuns: 60 },
    );
  });

  test("ids and weights of the same proportion do not matter to who is where", () => {
    const plain = slotLayout(1024, four, four);
    const other = four.map((m) => ({ ...m, id: m.id + 40, weight: 7 }));
    expect(slotLayout(1024, other, other)).toEqual(plain.map((id) => id + 40));
  });

  test("the digest is that of the member ids, four bytes each", () => {
    expect(shortDigest([])).toBe("e3b0c44298fc1c14");
    // sha256 of 00000001 00000002, as `printf '\0\0\0\1\0\0\0\2' | sha256sum` prints it
    expect(layoutDigest([1, 2])).toBe("0f585dd518ed0644f3edfd3f7d5012cc9f445c4c9d24e168e694c4d6f36faea6");
    expect(shortDigest(slotLayout(1024, four, four))).not.toBe(shortDigest(slotLayout(1024, four, four.slice(1))));
  });
});

describe("disturbance", () => {
  test("a member that stops serving moves its own slots only, and they come back", () => {
    fc.assert(
      fc.property(pools, fc.nat(), (members, n) => {
        const left = members[n % members.length]!;
        const before = slotLayout(1024, members, members);
        const after = slotLayout(
          1024,
          members,
          members.filter((m) => m !== left),
        );
        expect(disturbed(before, after, left.id)).toBe(0);
        expect(after).not.toContain(left.id);
        expect(slotLayout(1024, members, members)).toEqual(before);
      }),
      { numRuns: 60 },
    );
  });

  test("a second failure moves no slot that is at home, and hardly any substitute", () => {
    let moved = 0;
    let others = 0;
    for (let net = 0; net < 16; net++) {
      const pool = four.map((m, i) => ({ ...m, key: `10.${net}.0.${i + 2}:8080` }));
      const home = slotLayout(1024, pool, pool);
      const one = slotLayout(1024, pool, pool.slice(1));
      const two = slotLayout(1024, pool, pool.slice(2));
      expect(home.filter((id, slot) => id > 2 && two[slot] !== id)).toEqual([]);
      moved += disturbed(one, two, 2);
      others += one.filter((id) => id !== 2).length;
    }
    expect(moved / others).toBeLessThan(0.01);
  });

  test("removing a member from the pool moves about one per cent of the others' slots", () => {
    let moved = 0;
    let others = 0;
    for (let net = 0; net < 16; net++) {
      const pool = four.map((m, i) => ({ ...m, key: `10.${net}.0.${i + 2}:8080` }));
      const before = slotLayout(1024, pool, pool);
      for (const left of pool) {
        const rest = pool.filter((m) => m !== left);
        moved += disturbed(before, slotLayout(1024, rest, rest), left.id);
        others += 768;
      }
    }
    expect(moved / others).toBeLessThan(0.0125);
  });
});

describe("edges", () => {
  test("nobody serves: no slots", () => {
    expect(slotLayout(1024, four, [])).toEqual([]);
    expect(slotLayout(1024, [], [])).toEqual([]);
    expect(slotLayout(64, four, [{ ...four[0]!, weight: 0 }])).toEqual([]);
  });

  test("weight 0 gets no slot", () => {
    const members = four.map((m) => (m.id === 3 ? { ...m, weight: 0 } : m));
    const layout = slotLayout(1024, members, members);
    expect(count(layout, 3)).toBe(0);
    expectShares(
      layout,
      members.filter((m) => m.id !== 3),
    );
  });

  test("members that have no home slots can stand in for those that have", () => {
    const backups = [1, 2].map((i) => ({ id: 10 + i, key: `10.9.0.${i}:80`, weight: i }));
    const layout = slotLayout(1024, four, backups);
    expect([count(layout, 11), count(layout, 12)]).toEqual([341, 683]);
  });

  test("more members than slots: one each for some", () => {
    const layout = slotLayout(64, equal(100), equal(100));
    expect(new Set(layout).size).toBe(64);
  });

  test.each([0, 32, 63, 100, 1000, 8192, 64.5, Number.NaN])("%d slots are refused", (n) => {
    expect(isSlotCount(n)).toBe(false);
    expect(() => slotLayout(n, four, four)).toThrow(RangeError);
  });
});

describe("poolLayout", () => {
  const member = (id: number, over: Partial<Member> = {}): Member => ({
    id,
    name: "",
    uuid: "",
    ip: 0x0a140001 + id,
    port: 8080,
    weight: 1,
    adminUp: true,
    drain: false,
    backup: false,
    ...over,
  });
  const pool = (...members: readonly Member[]): Pool => ({
    id: 1,
    name: "web",
    uuid: "",
    algorithm: "consistent",
    slots: 1024,
    members,
    healthMonitor: { type: "tcp", intervalMs: 2000, timeoutMs: 1000, rise: 2, fall: 3 },
  });
  const up = (...ids: readonly number[]): ReadonlyMap<number, Health> => new Map(ids.map((id) => [id, "up"]));

  test("draining, disabling and failing a member give the same layout", () => {
    const failed = poolLayout(pool(member(1), member(2), member(3)), up(1, 2));
    expect(poolLayout(pool(member(1), member(2), member(3, { drain: true })), up(1, 2, 3))).toEqual(failed);
    expect(poolLayout(pool(member(1), member(2), member(3, { adminUp: false })), up(1, 2, 3))).toEqual(failed);
    expect(count(failed, 3)).toBe(0);
  });

  test("a backup holds nothing while an ordinary member serves, and all when none does", () => {
    const p = pool(member(1), member(2), member(3, { backup: true }));
    expect(count(poolLayout(p, up(1, 2, 3)), 3)).toBe(0);
    expect(count(poolLayout(p, up(3)), 3)).toBe(1024);
    expect(poolLayout(p, up())).toEqual([]);
  });

  test("a member that is removed and added again under another name gets the same slots", () => {
    const named = poolLayout(pool(member(1), member(2, { name: "old" })), up(1, 2));
    expect(poolLayout(pool(member(2, { name: "new" }), member(1)), up(1, 2))).toEqual(named);
  });
});
