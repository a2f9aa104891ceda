import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { assignIds, noIds } from "../../pipeline/ids.ts";
import { nameUuid } from "../../pipeline/uuid.ts";

const keys = (...names: readonly string[]) => names.map((key) => ({ key }));
const entries = (a: { readonly ids: ReadonlyMap<string, number> }) => Object.fromEntries(a.ids);

describe("assignIds", () => {
  test("a fresh start numbers the keys in their order, whatever order they come in", () => {
    expect(entries(assignIds(noIds, keys("c", "a", "b"), 10))).toEqual({ a: 1, b: 2, c: 3 });
    expect(entries(assignIds(noIds, keys("b", "c", "a", "a"), 10))).toEqual({ a: 1, b: 2, c: 3 });
  });

  test("an edit leaves the others alone and a freed number rests", () => {
    const first = assignIds(noIds, keys("a", "b", "c"), 10);
    const second = assignIds(first, keys("a", "aa", "c"), 10);
    expect(entries(second)).toEqual({ a: 1, aa: 4, c: 3 });
    expect(entries(assignIds(second, keys("a", "aa", "b", "c"), 10))).toEqual({ a: 1, aa: 4, b: 5, c: 3 });
  });

  test("after the last number comes the first free one", () => {
    const full = assignIds(noIds, keys("a", "b", "c"), 3);
    expect(entries(assignIds(full, keys("b", "c", "d"), 3))).toEqual({ b: 2, c: 3, d: 1 });
  });

  test("a number that is insisted on is given, and who had it moves", () => {
    const first = assignIds(noIds, keys("a", "b"), 10);
    expect(entries(assignIds(first, [{ key: "a" }, { key: "b" }, { key: "z", id: 1 }], 10))).toEqual({
      a: 3,
      b: 2,
      z: 1,
    });
  });

  test("what cannot be is refused", () => {
    expect(() => assignIds(noIds, keys("a", "b"), 1)).toThrow("2 ids wanted");
    expect(() =>
      assignIds(
        noIds,
        [
          { key: "a", id: 1 },
          { key: "b", id: 1 },
        ],
        9,
      ),
    ).toThrow("id 1 of b is taken");
    for (const id of [0, 10, 1.5]) expect(() => assignIds(noIds, [{ key: "a", id }], 9)).toThrow("want 1 to 9");
  });

  test("every history gives unique numbers in range that stay while they are wanted", () => {
    const wanted = fc.uniqueArray(fc.constantFrom(..."abcdefgh"), { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(wanted, { maxLength: 12 }), (history) => {
        let now = noIds;
        for (const names of history) {
          const next = assignIds(now, keys(...names), 8);
          expect([...next.ids.keys()].sort()).toEqual([...names].sort());
          expect(new Set(next.ids.values()).size).toBe(names.length);
          for (const [key, id] of next.ids) {
            expect(id).toBeGreaterThanOrEqual(1);
            expect(id).toBeLessThanOrEqual(8);
            if (now.ids.has(key)) expect(id).toBe(now.ids.get(key));
          }
          now = next;
        }
      }),
    );
  });
});

describe("nameUuid", () => {
  test("is a version 5 UUID that depends on every name and on where it stands", () => {
    const uuids = [nameUuid("segment", "p2"), nameUuid("segment", "p3"), nameUuid("segmentp", "2"), nameUuid("p2")];
    expect(new Set(uuids).size).toBe(4);
    for (const uuid of uuids)
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(nameUuid("segment", "p2")).toBe("4be8b564-b2a4-5bdd-b012-c43764cc7142");
  });
});
