import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { waitSteady } from "../../src/lab/daemon.ts";
import { patience } from "../../src/lab/patience.ts";
import { eventually, type NodeUnderTest, startNode } from "../support/node-under-test.ts";
import { describeOvs } from "../support/ovs.ts";

const original = new URL("./cases-topology.yaml", import.meta.url).pathname;
/** Milliseconds from when the switch has a change to the first datagram at a member that serves. */
const BOUND = 1500;

interface Report {
  readonly sent: number;
  readonly failures: readonly string[];
  readonly answers: readonly (readonly [at: number, backend: string])[];
}

describeOvs("clients that come again from the same port", () => {
  let node: NodeUnderTest;
  const folder = mkdtempSync(join(tmpdir(), "oflb-stale-"));
  const config = join(folder, "topology.yaml");

  beforeAll(async () => {
    cpSync(original, config);
    node = await startNode("tstale", { config });
  });
  beforeEach(async () => {
    await write(readFileSync(original, "utf8"));
  });
  afterAll(async () => {
    await node?.end();
    rmSync(folder, { recursive: true });
  });

  const write = async (text: string): Promise<void> => {
    writeFileSync(config, text);
    node.daemon.reload();
    await sleep(150);
    await waitSteady(node.daemon.web, 10_000);
  };
  /** The topology with other members in a pool. */
  const withMembers = (pool: string, members: readonly string[]): string => {
    const text = readFileSync(original, "utf8");
    const rows = members.map((m) => `          - ${m}\n`).join("");
    const found = new RegExp(`(- name: ${pool}\\n +slots: 64\\n +members:)\\n(?: +- \\{ name: be.*\\n)+`);
    expect(text).toMatch(found);
    return text.replace(found, members.length === 0 ? "$1 []\n" : `$1\n${rows}`);
  };
  const row: Readonly<Record<string, string>> = {
    be1: "{ name: be1, ip: 10.20.0.2, port: 8080 }",
    be2: "{ name: be2, ip: 10.30.0.2, port: 8080 }",
    be3: "{ name: be3, ip: 10.20.0.3, port: 8080 }",
    be4: "{ name: be4, ip: 10.30.0.3, port: 8080 }",
  };
  const all = Object.keys(row);
  const drained = (name: string): string => row[name]!.replace(" }", ", drain: true }");

  const client = async (...args: readonly (string | number)[]) => {
    const script = new URL("../support/same-ports.mjs", import.meta.url).pathname;
    const argv = ["netns", "exec", node.lab.namespace("client"), process.execPath, script, ...args.map(String)];
    const child = spawn("ip", argv, { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (text: string) => {
      output += text;
    });
    const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
    while (!output.includes("started")) await sleep(10);
    const began = Date.now();
    return {
      now: () => Date.now() - began,
      finish: async (): Promise<Report> => {
        child.kill("SIGTERM");
        await ended;
        return JSON.parse(output.slice(output.indexOf("{"))) as Report;
      },
    };
  };
  /** Who answered last before `at`. */
  const before = (r: Report, at: number): string | undefined => r.answers.filter(([t]) => t <= at).at(-1)?.[1];
  const after = (r: Report, at: number): readonly string[] => [
    ...new Set(r.answers.filter(([t]) => t > at + patience(BOUND)).map(([, b]) => b)),
  ];

  test.each([
    ["removed", (name: string) => all.filter((m) => m !== name).map((m) => row[m]!)],
    ["drained", (name: string) => all.map((m) => (m === name ? drained(m) : row[m]!))],
    [
      "disabled",
      (name: string) => all.map((m) => (m === name ? row[m]!.replace(" }", ", enabled: false }") : row[m]!)),
    ],
  ])("a UDP sender whose member is %s reaches another one", async (_how, change) => {
    const sender = await client("udp", "192.168.5.21", 5300, 45_001, 100);
    await sleep(1000);
    const first = await eventually("an answer", 5000, async () => {
      const { stdout } = await node.lab.attempt("ovs", ["ovs-appctl", "dpctl/dump-conntrack"]);
      return /sport=45001,dport=5300\),reply=\(src=([\d.]+)/.exec(stdout)?.[1];
    });
    const name = all.find((m) => row[m]!.includes(`${first},`))!;
    const at = sender.now();
    await write(withMembers("lines", change(name)));
    const done = sender.now();
    await sleep(patience(BOUND) + 1500);
    const report = await sender.finish();
    expect(before(report, at)).toBe(name);
    expect(after(report, done)).toHaveLength(1);
    expect(after(report, done)).not.toContain(name);
    expect(report.failures).toEqual([]);
  });

  test("a UDP sender reaches the first member that is added after the last was removed", async () => {
    await write(withMembers("lines", [row["be1"]!]));
    const sender = await client("udp", "192.168.5.21", 5300, 45_002, 100);
    await sleep(1000);
    await write(withMembers("lines", []));
    const emptied = sender.now();
    await sleep(1000);
    const at = sender.now();
    await write(withMembers("lines", [row["be4"]!]));
    await sleep(patience(BOUND) + 1000);
    const report = await sender.finish();
    expect(before(report, emptied)).toBe("be1");
    expect(report.answers.filter(([t]) => t > emptied + 500 && t < at)).toEqual([]);
    expect(after(report, at)).toEqual(["be4"]);
  });

  test("a UDP sender that began before the VIP was there is served when it comes", async () => {
    const text = readFileSync(original, "utf8");
    const vip = "      - { segment: pub, ip: 192.168.5.21 }\n";
    await write(text.replace(vip, "").replaceAll(", vips: [192.168.5.21]", ""));
    const sender = await client("udp", "192.168.5.21", 5300, 45_003, 100);
    await sleep(1500);
    const at = sender.now();
    await write(text);
    await sleep(patience(BOUND) + 2500);
    const report = await sender.finish();
    expect(report.answers.filter(([t]) => t < at)).toEqual([]);
    expect(after(report, at)).toHaveLength(1);
  });

  test("a UDP sender stays on its member when the controller is restarted and nothing has changed", async () => {
    const sender = await client("udp", "192.168.5.21", 5300, 45_004, 100);
    await sleep(1000);
    await node.restartController();
    await waitSteady(node.daemon.web, 20_000);
    await sleep(2000);
    const report = await sender.finish();
    expect(new Set(report.answers.map(([, b]) => b)).size).toBe(1);
    expect(report.answers.length).toBeGreaterThan(report.sent - 5);
  });

  test("one port that connects again and again follows its member's removal, drain and return", async () => {
    const cycle = await client("tcp", "192.168.5.21", 80, 45_000, 1);
    for (const gone of all) {
      await write(
        withMembers(
          "web",
          all.map((m) => (m === gone ? drained(m) : row[m]!)),
        ),
      );
      await write(
        withMembers(
          "web",
          all.filter((m) => m !== gone).map((m) => row[m]!),
        ),
      );
    }
    await write(readFileSync(original, "utf8"));
    const report = await cycle.finish();
    expect(report.failures).toEqual([]);
    expect(new Set(report.answers.map(([, b]) => b)).size).toBeGreaterThan(1);
  });

  test("all members are replaced while a client cycles over 1,000 ports: no connect fails", async () => {
    await write(withMembers("web", [row["be1"]!, row["be2"]!]));
    const cycle = await client("tcp", "192.168.5.21", 80, 46_000, 1000);
    await sleep(4000);
    await write(withMembers("web", [drained("be1"), row["be2"]!, row["be3"]!]));
    await sleep(500);
    await write(withMembers("web", [row["be2"]!, row["be3"]!]));
    await sleep(1000);
    await write(withMembers("web", [row["be3"]!, drained("be2"), row["be4"]!]));
    await sleep(500);
    await write(withMembers("web", [row["be3"]!, row["be4"]!]));
    const at = cycle.now();
    await sleep(patience(BOUND) + 4000);
    const report = await cycle.finish();
    expect(report.failures).toEqual([]);
    // Every port more than once.
    expect(report.sent).toBeGreaterThan(2000);
    expect([...after(report, at)].sort()).toEqual(["be3", "be4"]);
  });

  test("a member that is removed and comes back within a second keeps the connections it gets then", async () => {
    await write(withMembers("web", [row["be1"]!, row["be2"]!]));
    await sleep(2000);
    await write(withMembers("web", [row["be2"]!]));
    await write(withMembers("web", [row["be1"]!]));
    // Its answers come when entries have been taken out for the last time; what has no entry then is not translated back.
    const url = "http://192.168.5.21/slow?ms=2000";
    const asked = Array.from({ length: 8 }, () => node.lab.curl("client", url, 1, { maxTime: 6 }));
    const answers = (await Promise.all(asked)).flat();
    expect(answers.map((a) => (a.ok ? a.backend : a.error))).toEqual(Array.from({ length: 8 }, () => "be1"));
  });

  test("a connection whose member was removed ends at once, others go on", async () => {
    const script = `
      const { connect } = require("net");
      for (let i = 0; i < 8; i++) {
        const s = connect(80, "192.168.5.21");
        let from;
        const ask = () => s.write("GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n");
        s.on("connect", ask);
        s.on("data", (d) => { from = /backend=(\\S+)/.exec(d)?.[1] ?? from; });
        s.on("error", (e) => console.log("end", from, e.code));
        setInterval(ask, 200);
        setTimeout(() => { if (!s.destroyed) console.log("alive", from); s.destroy(); }, 5000);
      }
      setTimeout(() => process.exit(0), 5200);
    `;
    const running = node.lab.exec("client", [process.execPath, "-e", script]);
    await sleep(1500);
    await write(
      withMembers(
        "web",
        all.filter((m) => m !== "be1").map((m) => row[m]!),
      ),
    );
    const lines = (await running).trim().split("\n");
    expect(lines).toHaveLength(8);
    expect(lines.filter((l) => !/^(end be1 ECONNRESET|alive be[234])$/.test(l))).toEqual([]);
    expect(lines.filter((l) => l.startsWith("alive")).length).toBeGreaterThan(0);
  });
});
