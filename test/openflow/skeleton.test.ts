import { expect, test } from "vitest";

test("runner runs", () => expect(1 + 1).toBe(2));
