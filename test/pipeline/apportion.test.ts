import fc from "fast-check";
import { expect, test } from "vitest";
import { apportion } from "../../pipeline/apportion.ts";

const claims = fc.array(fc.record({ weight: fc.integer({ min: 1, max: 256 }), seats: fc.constant(0) }), {
  minLength: 1,
  maxLength: 20,
});

test("seats go by weight, ties to the first", () => {
  const of = (seats: number, ...weights: readonly number[]) =>
    apportion(
      seats,
      weights.map((weight) => ({ weight, seats: 0 })),
    );
  expect(of(1024, 1, 1, 1)).toEqual([342, 341, 341]);
  expect(of(8, 1, 2, 5)).toEqual([1, 2, 5]);
  expect(of(2, 1, 1, 1)).toEqual([1, 1, 0]);
  expect(of(5)).toEqual([]);
});

test("seats held already count", () => {
  expect(
    apportion(4, [
      { weight: 1, seats: 4 },
      { weight: 1, seats: 2 },
      { weight: 1, seats: 2 },
    ]),
  ).toEqual([0, 2, 2]);
});

test("all seats are given, and nobody loses one when there are more or when another leaves", () => {
  fc.assert(
    fc.property(claims, fc.integer({ min: 0, max: 500 }), (list, seats) => {
      const given = apportion(seats, list);
      expect(given.reduce((a, b) => a + b, 0)).toBe(seats);
      const more = apportion(seats + 1, list);
      const without = apportion(seats, list.slice(1));
      given.forEach((n, i) => {
        expect(more[i]).toBeGreaterThanOrEqual(n);
        if (i > 0) expect(without[i - 1]).toBeGreaterThanOrEqual(n);
      });
    }),
  );
});
