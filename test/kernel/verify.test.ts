import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** Captured packets of the main job are among these checks: addresses, MACs, TTLs and checksums on both sides. */
test("all checks of `lbctl verify` hold on the kernel's datapath", async () => {
  const main = fileURLToPath(new URL("../../src/lab/main.js", import.meta.url));
  const args = ["--once", "--verify", "--datapath", "system", "--name", "kverify"];
  const lab = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  lab.stdout.setEncoding("utf8").on("data", (text: string) => {
    process.stdout.write(text);
    printed += text;
  });
  const status = await new Promise((resolve) => lab.once("close", resolve));
  expect(printed.split("\n").filter((line) => line.includes("✗"))).toEqual([]);
  const [, passed, total] = /^(\d+) of (\d+) checks passed/m.exec(printed) ?? [];
  expect(passed).toBe(total);
  expect(Number(total)).toBeGreaterThan(110);
  expect(status).toBe(0);
});
