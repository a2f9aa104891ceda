import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type LoopOptions, ReconcileLoop, type RoundResult } from "../../controller/reconcile/loop.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const steady: RoundResult = { kind: "steady", changes: 0 };
const make = (round: LoopOptions["round"]) => {
  const ended: RoundResult[] = [];
  const loop = new ReconcileLoop({
    round,
    ended: (r) => void ended.push(r),
    refreshMs: 10_000,
    debounceMs: 5,
    backoffMs: { first: 100, longest: 30_000 },
  });
  return { loop, ended };
};

describe("reconcile loop", () => {
  test("reasons that come together share one round, in the order they came", async () => {
    const rounds: (readonly string[])[] = [];
    const { loop } = make(async (reasons) => {
      rounds.push(reasons);
      return steady;
    });
    loop.trigger("b");
    loop.trigger("a");
    loop.trigger("b");
    await vi.advanceTimersByTimeAsync(6);
    expect(rounds).toEqual([["b", "a"]]);
    loop.stop();
  });

  test("never two rounds at once; what comes during one starts the next", async () => {
    let running = 0;
    let most = 0;
    let count = 0;
    const { loop } = make(async () => {
      count++;
      most = Math.max(most, ++running);
      await new Promise((r) => setTimeout(r, 50));
      running--;
      return steady;
    });
    loop.trigger("one");
    await vi.advanceTimersByTimeAsync(20);
    loop.trigger("two");
    loop.trigger("three");
    await vi.advanceTimersByTimeAsync(200);
    expect([count, most]).toEqual([2, 1]);
    loop.stop();
  });

  test("looks again after the refresh time without any reason", async () => {
    const rounds: (readonly string[])[] = [];
    const { loop } = make(async (reasons) => {
      rounds.push(reasons);
      return steady;
    });
    loop.trigger("start");
    await vi.advanceTimersByTimeAsync(10_100);
    expect(rounds).toEqual([["start"], ["refresh"]]);
    loop.stop();
  });

  test("failures pause longer and longer, at most 30 s, and a throw counts as one", async () => {
    const at: number[] = [];
    const { loop, ended } = make(async () => {
      at.push(Date.now());
      if (at.length === 2) throw new Error("boom");
      return { kind: "refused", reason: "TABLE_FULL" };
    });
    loop.trigger("start");
    await vi.advanceTimersByTimeAsync(300_000);
    const gaps = at.slice(1).map((t, i) => t - (at[i] as number));
    expect(ended[1]).toEqual({ kind: "unknown", reason: "boom" });
    gaps.slice(0, 8).forEach((gap, i) => {
      const full = Math.min(30_000, 100 * 2 ** i);
      expect(gap).toBeGreaterThanOrEqual(Math.floor(full / 2));
      expect(gap).toBeLessThanOrEqual(full + 10);
    });
    expect(Math.max(...gaps)).toBeLessThanOrEqual(30_010);
    expect(at.length).toBeGreaterThan(12);
    loop.stop();
  });

  test("an urgent reason does not wait for the pause to end", async () => {
    let count = 0;
    const { loop } = make(async () => {
      count++;
      return { kind: "refused", reason: "x" };
    });
    loop.trigger("start");
    await vi.advanceTimersByTimeAsync(10_000);
    const before = count;
    loop.trigger("reconnected", true);
    await vi.advanceTimersByTimeAsync(10);
    expect(count).toBe(before + 1);
    loop.stop();
  });

  test("stop ends it for good", async () => {
    let count = 0;
    const { loop } = make(async () => {
      count++;
      return steady;
    });
    loop.trigger("start");
    loop.stop();
    loop.trigger("again");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(count).toBe(0);
  });
});
