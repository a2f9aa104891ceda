import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Lock, takeLock } from "../../../controller/store/lock.ts";

let folder: string;
const held: Lock[] = [];
const take = async (): Promise<Lock> => {
  const lock = await takeLock(folder);
  held.push(lock);
  return lock;
};
const path = (): string => join(folder, "lock");
const owner = async (): Promise<Record<string, unknown>> => JSON.parse(await readFile(path(), "utf8"));

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lock-"));
});
afterEach(async () => {
  for (const lock of held.splice(0)) await lock.release();
  await rm(folder, { recursive: true, force: true });
});

it("is had by one at a time", async () => {
  const lock = await take();
  await expect(take()).rejects.toThrow(new RegExp(`in use by process ${process.pid}\\. Stop that process`));
  await lock.release();
  await take();
  expect(await readdir(folder)).toEqual(["lock"]);
});

it("is refused while another process has it, and taken over when that was killed", async () => {
  const code = `import { takeLock } from "${new URL("../../../controller/store/lock.ts", import.meta.url).pathname}";
    await takeLock(${JSON.stringify(folder)}); console.log("has it"); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", code]);
  await new Promise((resolve) => child.stdout.once("data", resolve));
  await expect(take()).rejects.toThrow(`in use by process ${child.pid}`);
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("close", resolve));
  await take();
  expect(await owner()).toMatchObject({ pid: process.pid });
});

it("of a dead process is taken over though another one has its pid now", async () => {
  await (await take()).release();
  await take();
  const mine = await owner();
  await held.pop()!.release();
  await writeFile(path(), JSON.stringify({ ...mine, started: "1", token: "old" }));
  await take();
  expect(await owner()).toMatchObject({ started: mine["started"] });
});

it("of another host or container is taken only after it was left alone", async () => {
  await writeFile(path(), JSON.stringify({ pid: 1, started: "1", place: "elsewhere", token: "other" }));
  await expect(take()).rejects.toThrow(/in use by process 1/);
  const old = new Date(Date.now() - 11_000);
  await utimes(path(), old, old);
  await take();
  expect(await owner()).toMatchObject({ pid: process.pid });
});

it("that is nonsense is taken over", async () => {
  await writeFile(path(), "{");
  await take();
  expect(await owner()).toMatchObject({ pid: process.pid });
});

it("left behind is got by exactly one of many who come at once", async () => {
  for (let round = 0; round < 10; round++) {
    await writeFile(path(), JSON.stringify({ pid: 999_999_999, started: "1", place: "", token: "dead" }));
    const old = new Date(Date.now() - 11_000);
    await utimes(path(), old, old);
    const results = await Promise.allSettled(Array.from({ length: 8 }, take));
    expect(results.filter((r) => r.status === "fulfilled")).toHaveLength(1);
    for (const lock of held.splice(0)) await lock.release();
  }
});

it("notices that it was taken away and does not remove the other one's", async () => {
  const lock = await take();
  expect(lock.lost()).toBe(false);
  const other = JSON.stringify({ pid: 1, started: "1", place: "elsewhere", token: "other" });
  await writeFile(path(), other);
  await expect.poll(() => lock.lost(), { timeout: 5_000 }).toBe(true);
  await lock.release();
  expect(await readFile(path(), "utf8")).toBe(other);
});
