import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { firstProbe, nextProbe, startable } from "../../../controller/health/schedule.ts";

const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const intervals = fc.integer({ min: 100, max: 3_600_000 });

describe("when probes start", () => {
  test("one after another never comes later than an interval after the one before, nor much earlier", () => {
    fc.assert(
      fc.property(fc.constantFrom("up" as const, "down" as const), intervals, random, (state, intervalMs, r) => {
        const times = { startedAt: 1_000, now: 1_000 + intervalMs / 2, intervalMs };
        const at = nextProbe({ state }, state, times, r);
        expect(at).toBeLessThanOrEqual(1_000 + intervalMs);
        expect(at).toBeGreaterThanOrEqual(1_000 + intervalMs * 0.9);
      }),
    );
  });

  test("an unknown member is probed again at once: two successes take less than half a second", () => {
    const times = { startedAt: 0, now: 3, intervalMs: 2_000 };
    expect(nextProbe({ state: "unknown" }, "unknown", times, 0.5)).toBe(150);
    expect(nextProbe({ state: "unknown" }, "unknown", { ...times, now: 1_000 }, 0.5)).toBe(1_000);
    expect(nextProbe({ state: "unknown" }, "unknown", { ...times, intervalMs: 100 }, 0.5)).toBe(100);
  });

  test("members that become known together spread over the interval", () => {
    const times = { startedAt: 0, now: 10, intervalMs: 2_000 };
    const at = [0, 0.25, 0.5, 0.75].map((r) => nextProbe({ state: "up" }, "unknown", times, r));
    expect(at).toEqual([10, 510, 1_010, 1_510]);
  });

  test("the first is at once, or spread for members that serve already", () => {
    expect(firstProbe(false, 7, 2_000, 0.5)).toBe(7);
    expect(firstProbe(true, 7, 2_000, 0.5)).toBe(1_007);
  });
});

describe("how many may start", () => {
  const at = (...times: number[]) => times.map((dueAt) => ({ dueAt, intervalMs: 2_000 }));
  test("only what is due, the longest overdue first, within the room there is", () => {
    expect(startable(at(5, 3, 9, 1, 111), 9, 3)).toEqual(at(1, 3, 5));
    expect(startable(at(5, 3), 9, 3)).toEqual(at(5, 3));
    expect(startable(at(5, 3), 9, 0)).toEqual([]);
    expect(startable(at(105, 103), 2, 9)).toEqual([]);
  });

  test("what is nearly due joins in: 50 ms, or a twentieth of the interval", () => {
    expect(startable(at(100, 150, 151), 100, 9)).toEqual(at(100, 150));
    const fast = [105, 106].map((dueAt) => ({ dueAt, intervalMs: 100 }));
    expect(startable(fast, 100, 9)).toEqual(fast.slice(0, 1));
  });
});
