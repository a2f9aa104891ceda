import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HealthView, MemberHealthView, StatusView } from "../../controller/api/views.ts";
import type { HostName } from "../../src/lab/topology.ts";
import { eventually, type NodeUnderTest, packets, startLoad, startNode } from "../support/node-under-test.ts";
import { describeOvs } from "../support/ovs.ts";

const URL_OF_VIP = "http://192.168.5.21/";
const PROBE_P2 = "10.20.0.253";
const MEMBERS = ["be1", "be2", "be3", "be4"] as const;
const INTERVAL = 2;
const RISE = 2;
const FALL = 3;
const SYN = 0x02;
const RST = 0x04;
const MONITOR = 'health_monitor: { type: http, path: /, codes: "200", interval: 2, timeout: 1, rise: 2, fall: 3 }';

describeOvs("health checks on a real switch", () => {
  let node: NodeUnderTest;
  const folder = mkdtempSync(join(tmpdir(), "openflow-lb-health-"));
  const config = join(folder, "topology.yaml");
  const fixture = readFileSync(new URL("../../fixtures/topology.yaml", import.meta.url), "utf8");

  beforeAll(async () => {
    writeFileSync(config, fixture);
    node = await startNode("thealth", { config });
  });
  afterAll(async () => {
    await node?.end();
    rmSync(folder, { recursive: true, force: true });
  });

  const pool = async (): Promise<HealthView> => (await node.api<readonly HealthView[]>("/v1/health"))[0]!;
  const members = async (): Promise<ReadonlyMap<string, MemberHealthView>> =>
    new Map((await pool()).members.map((m) => [m.name, m]));
  const reasonOf = (m: MemberHealthView | undefined) => m?.nodes[0]?.reason;
  const post = async (path: string): Promise<MemberHealthView> => {
    const response = await fetch(new URL(path, node.daemon.web), { method: "POST" });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as MemberHealthView;
  };

  /** Seconds until each of `names` is in a state, and its slots with it. */
  const untilState = async (names: readonly string[], state: string, seconds: number): Promise<number> => {
    const begin = performance.now();
    await eventually(`${names.join(", ")} ${state}`, seconds * 1000, async () => {
      const now = await members();
      return names.every((n) => now.get(n)?.state === state) ? true : undefined;
    });
    return (performance.now() - begin) / 1000;
  };

  /** Slot number → member id, as the switch has it. */
  const slots = async (): Promise<ReadonlyMap<number, string>> => {
    const dump = await node.lab.ovs.ofctl("dump-flows", node.lab.bridge, "table=11");
    const found = [...dump.matchAll(/reg1=(0x[0-9a-f]+|0)\b.*?actions=(?:set_field:|load:)(0x[0-9a-f]+)/g)];
    return new Map(found.map(([, slot, member]) => [Number(slot), member as string]));
  };

  /** Connections a member's kernel holds with the prober, in any state. */
  const connections = async (host: HostName): Promise<readonly string[]> => {
    const lines = (await node.lab.exec(host, ["ss", "-Htan"])).split("\n");
    return lines.filter((line) => /10\.[23]0\.0\.253:/.test(line));
  };

  test("all members are up, with equal shares", async () => {
    const view = await pool();
    expect(view.monitor).toEqual({ type: "http", interval: 2, timeout: 1, rise: 2, fall: 3 });
    expect(view.members.map((m) => [m.name, m.state, m.admin, m.inPool, m.slots, reasonOf(m)])).toEqual(
      MEMBERS.map((name) => [name, "up", "enabled", true, 256, "status 200"]),
    );
    expect(view.members.map((m) => m.nodes[0]?.source)).toEqual([PROBE_P2, "10.30.0.253", PROBE_P2, "10.30.0.253"]);
  });

  test("probes on the wire: from the probe address and the gateway's MAC, right sums, ended by a reset", async () => {
    const capture = await node.lab.capture("be1", { filter: `host ${PROBE_P2} and tcp` });
    await sleep(7_000);
    await capture.stop();
    const seen = packets(capture.path);
    const ours = seen.filter((p) => p.ipSrc === PROBE_P2);
    const probes = ours.filter((p) => p.tcpFlags === SYN);
    expect(probes.length).toBeGreaterThanOrEqual(3);
    expect(new Set(probes.map((p) => p.tcpSrc)).size).toBe(probes.length);
    for (const p of ours) {
      expect(p).toMatchObject({
        ethSrc: "02:42:0a:14:00:01",
        ethDst: "02:00:00:14:00:02",
        ipDst: "10.20.0.2",
        tcpDst: 8080,
        ipTtl: 64,
        ipChecksumOk: true,
        l4ChecksumOk: true,
      });
    }
    const ended = new Set(ours.filter((p) => ((p.tcpFlags ?? 0) & RST) !== 0).map((p) => p.tcpSrc));
    // The last one may have been under way.
    for (const p of probes.slice(0, -1)) expect(ended).toContain(p.tcpSrc);
    for (const host of MEMBERS) {
      await eventually(`no connection of the prober's on ${host}`, 2_000, async () =>
        (await connections(host)).length === 0 ? true : undefined,
      );
    }
  });

  test("every way to be down has its reason; with nobody left the pool drops and counts; all come back", async () => {
    const { lab } = node;
    lab.backend("be1").behave({ status: 301 });
    lab.backend("be2").behave({ delayMs: 1_500 });
    await lab.backend("be3").kill();
    await lab.exec("be4", ["ip", "link", "set", "eth0", "arp", "off"]);
    await untilState(MEMBERS, "down", 25);
    await eventually("all four reasons", 20_000, async () => {
      const now = await members();
      return reasonOf(now.get("be4")) === "no MAC (neighbour failed)" ? true : undefined;
    });
    const now = await members();
    expect(MEMBERS.map((name) => reasonOf(now.get(name)))).toEqual([
      "status 301 not in 200",
      "connected, but no answer within 1 s",
      "connection refused",
      "no MAC (neighbour failed)",
    ]);
    expect([...now.values()].map((m) => [m.inPool, m.slots])).toEqual(MEMBERS.map(() => [false, 0]));

    await eventually("no slot left", 3_000, async () => ((await slots()).size === 0 ? true : undefined));
    const [answer] = await lab.curl("client", URL_OF_VIP, 1, { maxTime: 1 });
    expect(answer?.ok).toBe(false);
    const dump = await lab.ovs.ofctl("dump-flows", lab.bridge, "table=11");
    const dropped = /n_packets=(\d+),[^\n]*priority=10,reg3=0x1 actions=drop/.exec(dump);
    expect(Number(dropped?.[1])).toBeGreaterThan(0);

    lab.backend("be1").behave({});
    lab.backend("be2").behave({});
    await lab.backend("be3").start();
    await lab.exec("be4", ["ip", "link", "set", "eth0", "arp", "on"]);
    await untilState(["be1", "be2", "be3"], "up", RISE * INTERVAL + 2);
    // Its neighbour entry is asked for again first.
    await untilState(["be4"], "up", 20);
    expect((await lab.curl("client", URL_OF_VIP, 12)).every((a) => a.ok)).toBe(true);
  });

  test("a paused member leaves in time, moves no slot but its own, and returns in time", async () => {
    const { lab } = node;
    const before = await slots();
    const own = (await members()).get("be1")?.id;
    lab.backend("be1").pause();
    const left = await untilState(["be1"], "down", FALL * INTERVAL + 1.2);
    expect(left).toBeLessThanOrEqual(FALL * INTERVAL + 1.2);
    expect(reasonOf((await members()).get("be1"))).toBe("connected, but no answer within 1 s");
    const without = await eventually("be1's slots are gone", 1_000, async () => {
      const now = await slots();
      return [...now.values()].every((id) => Number(id) !== own) ? now : undefined;
    });
    const moved = [...before].filter(([slot, id]) => without.get(slot) !== id);
    expect(moved).toHaveLength(256);
    expect(new Set(moved.map(([, id]) => Number(id)))).toEqual(new Set([own]));
    lab.backend("be1").resume();
    const back = await untilState(["be1"], "up", RISE * INTERVAL + 1.2);
    expect(back).toBeLessThanOrEqual(RISE * INTERVAL + 1.2);
    await eventually("the old slots", 1_000, async () => {
      const now = await slots();
      return [...before].every(([slot, id]) => now.get(slot) === id) ? true : undefined;
    });
  });

  test("draining under load breaks no connection, lasts over a restart, and ends", async () => {
    const { lab } = node;
    const load = await startLoad(lab, "client", URL_OF_VIP, 40, 60);
    const slow = Array.from({ length: 16 }, () => lab.curl("client", `${URL_OF_VIP}slow?ms=4000`, 1, { maxTime: 10 }));
    await sleep(1_000);
    expect(await post("/v1/members/be1/drain")).toMatchObject({
      name: "be1",
      admin: "draining",
      slots: 0,
      state: "up",
    });
    const started = (await Promise.all(slow)).flat();
    expect(started.filter((a) => !a.ok)).toEqual([]);
    expect(new Set(started.map((a) => a.backend))).toContain("be1");
    const later = await lab.curl("client", URL_OF_VIP, 30);
    expect(new Set(later.map((a) => a.backend))).toEqual(new Set(["be2", "be3", "be4"]));
    const probes = (await members()).get("be1")?.nodes[0]?.probes ?? 0;

    await node.restartController();
    await eventually("steady again", 20_000, async () =>
      (await node.api<StatusView>("/v1/status")).nodes[0]?.state === "steady" ? true : undefined,
    );
    await untilState(["be1"], "up", 5);
    await sleep(5_000);
    const be1 = (await members()).get("be1");
    expect(be1).toMatchObject({ admin: "draining", state: "up", inPool: false });
    expect(be1?.nodes[0]?.probes).toBeGreaterThanOrEqual(3);
    expect(probes).toBeGreaterThan(3);
    expect((await node.api<StatusView>("/v1/status")).nodes[0]?.flowModsSent).toBe(0);

    await post("/v1/members/web%2Fbe1/enable");
    await eventually("be1 serves again", 3_000, async () =>
      (await lab.curl("client", URL_OF_VIP, 12)).some((a) => a.backend === "be1") ? true : undefined,
    );
    const report = await load.finish();
    expect(report.failures).toEqual([]);
    expect(report.sent).toBeGreaterThan(300);
    expect((await members()).get("be1")).toMatchObject({ admin: "enabled", slots: 256 });
  });

  test("a member that does not exist, and a command that would not help, are refused", async () => {
    await expect(post("/v1/members/be9/drain")).rejects.toThrow('404 {"statusCode":404');
    await expect(node.api("/v1/health?pool=nope")).rejects.toThrow("there is no pool");
  });

  test.each([
    ["tcp", "connected", "connection refused"],
    ["udp", "answered", "port unreachable"],
    ["icmp", "answered", "answered"],
  ])("a monitor of type %s", async (type, good, bad) => {
    const { lab } = node;
    const monitor = `health_monitor: { type: ${type}, interval: 1, timeout: 0.5, rise: 1, fall: 2 }`;
    expect(fixture).toContain(MONITOR);
    writeFileSync(config, fixture.replace(MONITOR, monitor));
    await node.restartController();
    await eventually(`all members "${good}"`, 15_000, async () => {
      const all = [...(await members()).values()];
      return all.every((m) => m.state === "up" && reasonOf(m) === good) ? true : undefined;
    });
    await lab.backend("be3").kill();
    await sleep(3_500);
    const be3 = (await members()).get("be3");
    expect([be3?.state, reasonOf(be3)]).toEqual([good === bad ? "up" : "down", bad]);
    await lab.backend("be3").start();
    await untilState(MEMBERS, "up", 5);
    for (const host of MEMBERS) {
      await eventually(`no connection of the prober's on ${host}`, 2_000, async () =>
        (await connections(host)).length === 0 ? true : undefined,
      );
    }
  });
});
