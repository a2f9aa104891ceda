import { expect, test } from "vitest";
import { attempt, CommandError, run } from "../../../src/lab/shell.ts";

test("gives output, status and input of a command", async () => {
  expect(await run(["cat"], { input: "hello" })).toBe("hello");
  expect(await run(["sh", "-c", "echo $WORD"], { env: { WORD: "set" } })).toBe("set\n");
  expect(await attempt(["sh", "-c", "echo out; echo err >&2; exit 3"])).toEqual({
    code: 3,
    stdout: "out\n",
    stderr: "err\n",
  });
});

test("an error names the command and what it said", async () => {
  const failure = run(["sh", "-c", "echo no luck >&2; exit 4"]);
  await expect(failure).rejects.toThrow(CommandError);
  await expect(failure).rejects.toThrow("`sh -c echo no luck >&2; exit 4` failed (status 4): no luck");
});

test("a missing program, a hanging one and a killed one have statuses of their own", async () => {
  expect(await attempt(["no-such-program-anywhere"])).toMatchObject({ code: 127, stderr: "no such program" });
  expect(await attempt(["sleep", "10"], { timeoutMs: 50 })).toMatchObject({ code: 124 });
  expect(await attempt(["sh", "-c", "kill -9 $$"])).toMatchObject({ code: 128 });
});

test("input for a command that does not read it is no error", async () => {
  expect(await attempt(["true"], { input: "x".repeat(1_000_000) })).toMatchObject({ code: 0 });
});
