import { expect, test } from "vitest";
import { RateLimit } from "../../../controller/api/rate-limit.ts";

test("so much at once, then so much per second, for each caller", () => {
  let now = 0;
  const limit = new RateLimit({ burst: 3, perSecond: 2 }, () => now);
  expect([1, 2, 3, 4].map(() => limit.take("a"))).toEqual([0, 0, 0, 1]);
  expect(limit.take("b")).toBe(0);
  now = 500;
  expect(limit.take("a")).toBe(0);
  expect(limit.take("a")).toBe(1);
  now = 10_000;
  expect([1, 2, 3, 4].map(() => limit.take("a"))).toEqual([0, 0, 0, 1]);
});

test("a refused request costs nothing, and waiting says how long", () => {
  let now = 0;
  const limit = new RateLimit({ burst: 1, perSecond: 0.5 }, () => now);
  expect(limit.wait("a")).toBe(0);
  limit.take("a");
  for (let i = 0; i < 50; i++) expect(limit.take("a")).toBe(2);
  expect(limit.wait("a")).toBe(2);
  now = 2000;
  expect(limit.wait("a")).toBe(0);
  expect(limit.take("a")).toBe(0);
});

test("callers are bounded: the one that was quiet for longest is forgotten", () => {
  const limit = new RateLimit({ burst: 1, perSecond: 1 }, () => 0, 2);
  for (const caller of ["a", "b", "c"]) limit.take(caller);
  expect(limit.take("c")).toBe(1);
  expect(limit.take("a")).toBe(0);
});
