import { expect, test } from "vitest";
import { CliError, parseCall } from "../../../src/cli/command.ts";
import { verifyCommand } from "../../../src/cli/verify.ts";

const io = { out: () => {}, err: () => {} };

/** The error of `lbctl verify ARGS`. */
async function refusal(...args: string[]): Promise<CliError> {
  const error = await verifyCommand.run(parseCall(verifyCommand, args, io)).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(CliError);
  return error as CliError;
}

test("a group that does not exist is refused before anything is looked at", async () => {
  const error = await refusal("--group", "arp,arpp", "--lab", "nosuchlab");
  expect(error.message).toContain('no group "arpp"');
  expect(error.exitCode).toBe(2);
});

test("without such a lab the answer is a sentence", async () => {
  const error = await refusal("--lab", "nosuchlab");
  expect(error.message).toMatch(/lab "nosuchlab" is not running|need root/);
  expect(error.exitCode).toBe(1);
});

test("a lab's name that could be a path is refused", async () => {
  expect((await refusal("--lab", "../etc")).message).toContain("bad lab name");
});
