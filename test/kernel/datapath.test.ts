import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attempt } from "../../src/lab/shell.ts";
import { type NodeUnderTest, startNode } from "../support/node-under-test.ts";

const vip = "192.168.5.21";

test("`lab --once`: all clients are served by all members on the kernel's datapath", async () => {
  const main = fileURLToPath(new URL("../../src/lab/main.js", import.meta.url));
  const { code, stdout, stderr } = await attempt([process.execPath, main, "--once", "--name", "kernel"], {
    timeoutMs: 60_000,
  });
  console.log(stdout);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("kernel datapath (system)");
  expect(stdout).toContain("all backends served all clients, no request failed, every client address was kept");
});

describe("what the kernel holds", () => {
  let node: NodeUnderTest;
  const requests = 20;

  beforeAll(async () => {
    node = await startNode("tkernel");
    const answers = await node.lab.curl("client", `http://${vip}/`, requests);
    expect(answers.filter((answer) => !answer.ok)).toEqual([]);
  });
  afterAll(async () => node?.end());

  test("the bridge's ports are in the kernel, and nothing that it sent up was lost", async () => {
    const shown = await node.lab.ovs.appctl("dpctl/show", "-s");
    expect(shown).toMatch(/^system@ovs-system:/m);
    for (const { port } of node.lab.hosts) expect(shown).toMatch(new RegExp(`port \\d+: ${port}\\b`));
    const [, hit, missed, lost] = /lookups: hit:(\d+) missed:(\d+) lost:(\d+)/.exec(shown) ?? [];
    expect(Number(hit)).toBeGreaterThan(0);
    expect(Number(missed)).toBeGreaterThan(0);
    expect(lost).toBe("0");
    const log = readFileSync(`${node.lab.root}/log/ovs-vswitchd.log`, "utf8");
    expect(log).not.toContain("Overriding n-handler-threads to 0");
  });

  test("its conntrack has each connection with both addresses: the client's view and the member's", async () => {
    const connections = (await node.lab.ovs.appctl("dpctl/dump-conntrack")).split("\n");
    const balanced = connections.filter((line) => line.includes(`orig=(src=192.168.5.13,dst=${vip},`));
    expect(balanced.length).toBeGreaterThanOrEqual(requests);
    for (const line of balanced) {
      expect(line).toMatch(/^tcp,.*reply=\(src=10\.[23]0\.0\.[23],dst=192\.168\.5\.13,sport=8080,/);
    }
  });

  test("its cached flows rewrite towards members and turn answers back", async () => {
    const flows = await node.lab.ovs.appctl("dpctl/dump-flows");
    expect(flows).toMatch(/actions:.*ct\(commit,zone=\d+,.*nat\(dst=10\.[23]0\.0\.[23]:8080\)/);
    expect(flows).toMatch(/ct_state\([^)]*\+est[^)]*\).*actions:/);
  });
});
