import { expect, test } from "vitest";
import { globMatches } from "../../pipeline/port-glob.ts";

test.each([
  ["be1", "be1", true],
  ["be1", "be10", false],
  ["tap*", "tap", true],
  ["tap*", "tap12", true],
  ["tap*", "xtap1", false],
  ["be?", "be7", true],
  ["be?", "be", false],
  ["a.c", "abc", false],
  ["[ab]", "a", false],
  ["*-*-in", "vm-3-in", true],
  ["***************x", "aaaaaaaaaaaaaaa", false],
])("%s and %s: %s", (glob, name, want) => {
  expect(globMatches(glob, name)).toBe(want);
});
