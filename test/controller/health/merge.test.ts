import { expect, test } from "vitest";
import { mergeHealth, type Observations } from "../../../controller/health/merge.ts";
import type { Health } from "../../../pipeline/model.ts";

const node = (connected: boolean, ...health: readonly (readonly [number, Health])[]): Observations => ({
  connected,
  health: new Map(health),
});
const merged = (...nodes: readonly Observations[]) => Object.fromEntries(mergeHealth(nodes));

test("one node that reaches a member is enough; down outweighs not knowing", () => {
  expect(
    merged(node(true, [1, "up"], [2, "down"], [3, "unknown"]), node(true, [1, "down"], [2, "unknown"], [3, "unknown"])),
  ).toEqual({ 1: "up", 2: "down", 3: "unknown" });
  expect(merged(node(true, [1, "down"]), node(true, [1, "up"]))).toEqual({ 1: "up" });
});

test("a node without its switch has no say, unless all are without", () => {
  expect(merged(node(false, [1, "up"]), node(true, [1, "down"]))).toEqual({ 1: "down" });
  expect(merged(node(false, [1, "up"]), node(false, [1, "down"]))).toEqual({ 1: "up" });
  expect(merged()).toEqual({});
});
