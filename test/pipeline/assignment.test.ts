import fc from "fast-check";
import { expect, test } from "vitest";
import { type AssignmentProblem, assign } from "../../pipeline/assignment.ts";
import { permutation } from "../../pipeline/preference.ts";

const total = ({ costs, room }: AssignmentProblem, placeOf: ArrayLike<number>): number =>
  Array.from(placeOf).reduce((sum, place, thing) => sum + costs[thing * room.length + place]!, 0);

/** The least cost there is, by trying every way. */
const leastCost = (problem: AssignmentProblem, thing = 0, room: readonly number[] = problem.room): number => {
  if (thing === problem.things) return 0;
  const ways = room.map((free, place) =>
    free === 0
      ? Number.POSITIVE_INFINITY
      : problem.costs[thing * room.length + place]! +
        leastCost(
          problem,
          thing + 1,
          room.map((n, i) => (i === place ? n - 1 : n)),
        ),
  );
  return Math.min(...ways);
};

const problems = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 4 }).chain((room) => {
  const things = room.reduce((a, b) => a + b, 0);
  return fc
    .array(fc.integer({ min: 0, max: 20 }), { minLength: things * room.length, maxLength: things * room.length })
    .map((costs): AssignmentProblem => ({ things, room, costs: Int32Array.from(costs) }));
});

test("places are filled exactly and no other way costs less", () => {
  fc.assert(
    fc.property(
      problems.filter((p) => p.things <= 8),
      (problem) => {
        const placeOf = assign(problem);
        expect(problem.room.map((_, place) => placeOf.filter((p) => p === place).length)).toEqual(problem.room);
        expect(total(problem, placeOf)).toBe(leastCost(problem));
      },
    ),
    { numRuns: 300 },
  );
});

/** Whether some things could change places in a ring and cost less in all (Floyd and Warshall's algorithm). */
const improvable = ({ costs, room }: AssignmentProblem, placeOf: Int32Array): boolean => {
  const n = room.length;
  const cost = room.map(() => room.map(() => Number.POSITIVE_INFINITY));
  placeOf.forEach((from, thing) => {
    for (let to = 0; to < n; to++) {
      cost[from]![to] = Math.min(cost[from]![to]!, costs[thing * n + to]! - costs[thing * n + from]!);
    }
  });
  for (let k = 0; k < n; k++) {
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) cost[i]![j] = Math.min(cost[i]![j]!, cost[i]![k]! + cost[k]![j]!);
    }
  }
  return cost.some((row, i) => row[i]! < 0);
};

test("no ring of moves improves a larger one", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 3, maxLength: 9 }).chain((room) => {
        const things = room.reduce((a, b) => a + b, 0);
        const size = things * room.length;
        return fc
          .array(fc.integer({ min: 0, max: 1000 }), { minLength: size, maxLength: size })
          .map((costs): AssignmentProblem => ({ things, room, costs: Int32Array.from(costs) }));
      }),
      (problem) => {
        expect(improvable(problem, assign(problem))).toBe(false);
      },
    ),
    { numRuns: 200 },
  );
});

test("a key's permutation contains every rank once and is its own", () => {
  for (const bits of [6, 10, 12]) {
    const ranks = permutation("10.20.0.2:8080", bits);
    expect(Array.from(ranks).sort((a, b) => a - b)).toEqual(Array.from({ length: 2 ** bits }, (_, i) => i));
  }
  expect(permutation("a", 6)).not.toEqual(permutation("b", 6));
});
