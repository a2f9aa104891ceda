import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const run = promisify(execFile);
const repository = fileURLToPath(new URL("../../", import.meta.url));

/** What the first stage of the Dockerfile copies from the repository. */
function copied(dockerfile: string): readonly string[] {
  const [first = ""] = dockerfile.split(/^FROM /m).slice(1);
  return [...first.matchAll(/^COPY (?<sources>.+) \S+$/gm)].flatMap((line) => line[1]?.split(" ") ?? []);
}

test("what the controller's image is made of compiles to a program that runs by itself", {
  timeout: 300_000,
}, async () => {
  const build = mkdtempSync(join(tmpdir(), "openflow-lb-image-"));
  onTestFinished(() => rmSync(build, { recursive: true, force: true }));
  const sources = copied(readFileSync(join(repository, "docker/controller/Dockerfile"), "utf8"));
  expect(sources).toContain("src");
  for (const source of sources) cpSync(join(repository, source), join(build, source), { recursive: true });
  symlinkSync(join(repository, "node_modules"), join(build, "node_modules"));

  await run("npm", ["run", "-s", "build"], { cwd: build });
  rmSync(join(build, "src"), { recursive: true });
  const files = ["--config", "dist/fixtures/topology.yaml", "--data", join(build, "data")];
  const argv = ["dist/src/lbctl.js", "serve", ...files, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"];
  const daemon = spawn(process.execPath, argv, { cwd: build, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void daemon.kill("SIGKILL"));
  const [line] = (await once(createInterface(daemon.stdout), "line")) as [string];
  const { http } = JSON.parse(line) as { http: { host: string; port: number } };
  const server = `http://${http.host}:${http.port}`;
  expect((await fetch(`${server}/healthz`)).status).toBe(200);
  const page = await fetch(server, { headers: { accept: "text/html" } });
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("<script")]);
  const { stdout } = await run(process.execPath, ["dist/src/lbctl.js", "metrics", "--server", server], { cwd: build });
  expect(stdout).toContain("oflb_");
  daemon.kill("SIGTERM");
  expect(await once(daemon, "exit")).toEqual([0, null]);
});
