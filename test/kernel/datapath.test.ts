import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { patience } from "../../src/lab/patience.ts";
import { requestFrom } from "../../src/lab/requests.ts";
import { run } from "../../src/lab/shell.ts";
import { labRoot } from "../../src/lab/state.ts";
import { seedHosts, virtualServices } from "../../src/lab/topology.ts";

const name = "kernel";
const [publicService] = virtualServices;
const vip = "192.168.5.21";
const requests = 20;

/** The lab as its user starts it, and what it has printed. */
let lab: ChildProcess;
let printed = "";

async function printedText(text: string): Promise<void> {
  for (const deadline = Date.now() + patience(60_000); !printed.includes(text); await sleep(100)) {
    if (Date.now() > deadline || lab.exitCode !== null) throw new Error(`the lab did not print "${text}":\n${printed}`);
  }
}

const appctl = (...args: string[]) =>
  run(["ovs-appctl", ...args], { env: { OVS_RUNDIR: `${labRoot(name)}/run` }, timeoutMs: 10_000 });

describe("the lab on the kernel's datapath", () => {
  beforeAll(async () => {
    const main = fileURLToPath(new URL("../../src/lab/main.js", import.meta.url));
    lab = spawn(process.execPath, [main, "--datapath", "system", "--name", name], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [lab.stdout, lab.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        process.stdout.write(text);
        printed += text;
      });
    }
    await printedText("Ctrl-C removes the lab.");
    const { client, url } = publicService;
    const answers = await requestFrom(`${name}-${client}`, url, requests);
    expect(answers.filter((answer) => !answer.ok)).toEqual([]);
  });
  afterAll(() => void lab?.kill("SIGTERM"));

  test("says which datapath it has, and finds all clients served by all members", () => {
    expect(printed).toContain("kernel datapath (system)");
    for (const { client, address, url } of virtualServices) {
      expect(printed).toContain(`40 requests from ${client} (${address}) to ${url}`);
    }
    expect(printed.match(/ping .*: 3 of 3 answered/g)).toHaveLength(2);
    expect(printed).not.toContain("WRONG");
  });

  test("the bridge's ports are in the kernel, and nothing that it sent up was lost", async () => {
    const shown = await appctl("dpctl/show", "-s");
    expect(shown).toMatch(/^system@ovs-system:/m);
    for (const { port } of seedHosts) expect(shown).toMatch(new RegExp(`port \\d+: ${port}\\b`));
    const [, hit, missed, lost] = /lookups: hit:(\d+) missed:(\d+) lost:(\d+)/.exec(shown) ?? [];
    expect(Number(hit)).toBeGreaterThan(0);
    expect(Number(missed)).toBeGreaterThan(0);
    expect(lost).toBe("0");
    const log = readFileSync(`${labRoot(name)}/log/ovs-vswitchd.log`, "utf8");
    expect(log).not.toContain("Overriding n-handler-threads to 0");
  });

  test("its conntrack has each connection with both addresses: the client's view and the member's", async () => {
    const connections = (await appctl("dpctl/dump-conntrack")).split("\n");
    const balanced = connections.filter((line) => line.includes(`orig=(src=${publicService.address},dst=${vip},`));
    expect(balanced.length).toBeGreaterThanOrEqual(requests);
    for (const line of balanced) {
      expect(line).toMatch(/^tcp,.*reply=\(src=10\.[23]0\.0\.[23],dst=192\.168\.5\.13,sport=8080,/);
    }
  });

  test("the flows it has cached rewrite towards members, route, and turn answers back", async () => {
    await requestFrom(`${name}-${publicService.client}`, publicService.url, 4);
    const flows = await appctl("dpctl/dump-flows");
    expect(flows).toMatch(/dst=192\.168\.5\.21.*actions:ct\(commit,zone=\d+,nat\(dst=10\.[23]0\.0\.[23]:8080\)\)/);
    expect(flows).toMatch(/ipv4\(dst=10\.[23]0\.0\.[23],.*actions:set\(eth\(.*set\(ipv4\(ttl=63\)\)/);
    expect(flows).toMatch(/ipv4\(src=10\.[23]0\.0\.[23],dst=192\.168\.5\.\d+.*actions:ct\(zone=\d+,nat\),recirc/);
  });

  /** Captured packets of the main job are among these checks: addresses, MACs, TTLs and checksums on both sides. */
  test("all checks of `lbctl verify` hold", async () => {
    const lbctl = fileURLToPath(new URL("../../src/lbctl.js", import.meta.url));
    const checks = spawn(process.execPath, [lbctl, "verify", "--lab", name], { stdio: ["ignore", "pipe", "inherit"] });
    let lines = "";
    checks.stdout.setEncoding("utf8").on("data", (text: string) => {
      process.stdout.write(text);
      lines += text;
    });
    const [status] = await once(checks, "close");
    expect(lines.split("\n").filter((line) => line.includes("✗"))).toEqual([]);
    const [, passed, total] = /^(\d+) of (\d+) checks passed/m.exec(lines) ?? [];
    expect(passed).toBe(total);
    expect(Number(total)).toBeGreaterThan(110);
    expect(status).toBe(0);
  });

  test("goes when it is told to, and leaves nothing", async () => {
    const ended = new Promise((resolve) => lab.once("exit", resolve));
    lab.kill("SIGTERM");
    await ended;
    expect(printed).toContain("removing the lab");
    expect(existsSync(labRoot(name))).toBe(false);
    expect(await run(["ip", "netns", "list"])).not.toContain(`${name}-`);
    expect(await run(["ip", "-o", "link", "show"])).not.toMatch(/ovs-system|br-lb/);
  });
});
