import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PortView, SlotsView } from "../../controller/api/views.ts";
import { monitor } from "../../src/lab/balancer.ts";
import { patience } from "../../src/lab/patience.ts";
import { dumpFlows } from "../../src/lab/verify/dump.ts";
import { brokenKept, startLoad } from "../../src/lab/verify/load.ts";
import { onWire, tcp } from "../../src/lab/verify/wire.ts";
import { eventually, type NodeUnderTest, startNode } from "../support/node-under-test.ts";
import { describeOvs } from "../support/ovs.ts";

const VIP = "10.20.0.100";
const CLIENT = "10.20.0.10";
const CLIENT_MAC = "02:00:00:14:00:0a";
const GATEWAY_MAC = "02:42:0a:14:00:01";
const MEMBERS = {
  be1: { ip: "10.20.0.2", mac: "02:00:00:14:00:02", ttl: 64, nextHop: "02:00:00:14:00:02" },
  be2: { ip: "10.30.0.2", mac: "02:00:00:1e:00:02", ttl: 63, nextHop: GATEWAY_MAC },
  be3: { ip: "10.20.0.3", mac: "02:00:00:14:00:03", ttl: 64, nextHop: "02:00:00:14:00:03" },
  be4: { ip: "10.30.0.3", mac: "02:00:00:1e:00:03", ttl: 63, nextHop: GATEWAY_MAC },
} as const;
type MemberName = keyof typeof MEMBERS;
const NAMES = Object.keys(MEMBERS) as readonly MemberName[];

/** What a listener inside a private segment promises, line by line; captures are the witness. */
describeOvs("a listener inside a private segment", () => {
  let node: NodeUnderTest;

  beforeAll(async () => {
    node = await startNode("tprom");
  });
  afterAll(async () => node?.end());

  const balanced = (count: number) =>
    onWire(node.lab, ["cli2", ...NAMES], () => node.lab.curl("cli2", `http://${VIP}/`, count), { filter: "tcp" });

  test("machines of the segments are at ports of the bridge", async () => {
    const ports = await node.api<readonly PortView[]>("/v1/ports");
    const hosts = ports.filter((p) => p.role === "host" && p.segment !== "pub");
    expect(hosts.map((p) => `${p.segment} ${p.name} ${p.state}`).sort()).toEqual(
      ["p2 be1 up", "p2 be3 up", "p2 cli2 up", "p3 be2 up", "p3 be4 up", "p3 cli3 up"].sort(),
    );
  });

  test("the VIP answers ARP and ping of the client by the switch alone", async () => {
    await node.lab.exec("cli2", ["ip", "neigh", "flush", "all"]);
    const ping = () => node.lab.exec("cli2", ["ping", "-c", "2", "-i", "0.2", "-W", "2", VIP]);
    const { wire, result } = await onWire(node.lab, ["cli2", ...NAMES], ping, { filter: "arp or icmp" });
    expect(result).toContain("2 received");
    const arp = wire("cli2").filter((f) => f.arpOp === 2 && f.arpSpa === VIP && f.arpTpa === CLIENT);
    expect(arp.map((f) => [f.ethSrc, f.arpSha])).toEqual([[GATEWAY_MAC, GATEWAY_MAC]]);
    const echoes = wire("cli2").filter((f) => f.ipProto === 1 && f.ipSrc === VIP);
    expect(echoes.map((f) => [f.ethSrc, f.ethDst, f.ipTtl])).toEqual([
      [GATEWAY_MAC, CLIENT_MAC, 64],
      [GATEWAY_MAC, CLIENT_MAC, 64],
    ]);
    for (const name of NAMES) expect(wire(name).filter((f) => f.ipProto === 1)).toEqual([]);
  });

  test("all members serve it, see the client's address and their own port, and TTL tells who is a neighbour", async () => {
    const { wire, result } = await balanced(40);
    expect(result.filter((a) => !a.ok)).toEqual([]);
    expect(new Set(result.map((a) => `${a.backend} ${a.client} ${a.served}`))).toEqual(
      new Set(NAMES.map((n) => `${n} ${CLIENT} ${MEMBERS[n].ip}:8080`)),
    );
    for (const name of NAMES) {
      const { ip, mac, ttl, nextHop } = MEMBERS[name];
      const syns = wire(name).filter((f) => f.tcpFlags === tcp.syn && f.ipSrc === CLIENT);
      expect(syns.length).toBe(result.filter((a) => a.backend === name).length);
      const neighbour = ttl === 64;
      for (const f of syns) {
        expect(f).toMatchObject({ ipDst: ip, tcpDst: 8080, ethDst: mac, ipTtl: ttl, l4ChecksumOk: true });
        expect(f.ethSrc === CLIENT_MAC).toBe(neighbour);
      }
      const ports = new Set(syns.map((f) => f.tcpSrc));
      const answers = wire("cli2").filter((f) => f.tcpFlags === tcp.synAck && ports.has(f.tcpDst));
      expect(answers).toHaveLength(syns.length);
      for (const f of answers) {
        expect(f).toMatchObject({ ipSrc: VIP, tcpSrc: 80, ethSrc: nextHop, ipTtl: ttl, l4ChecksumOk: true });
      }
    }
    await eventually("answers of neighbours are translated in table 24", 5_000, async () => {
      const replies = await dumpFlows(node.lab, "table=24");
      return replies.some((f) => f.match.includes("nw_src=10.20.0.2") && f.packets > 0) ? true : undefined;
    });
  });

  test("the client knows no route but its subnet's", async () => {
    const routes = (await node.lab.exec("cli2", ["ip", "route"])).trim().split("\n");
    expect(routes).toHaveLength(1);
    expect(routes[0]).toMatch(/^10\.20\.0\.0\/24 dev eth0 .*src 10\.20\.0\.10/);
  });

  test("machines of a segment reach each other and their way out untouched", async () => {
    for (const [from, to] of [
      ["cli2", "be1"],
      ["be1", "be3"],
    ] as const) {
      const request = () => node.lab.curl(from, `http://${MEMBERS[to].ip}:8080/`);
      const { wire, result } = await onWire(node.lab, [from, to], request, { filter: "tcp" });
      expect(result).toMatchObject([{ ok: true, backend: to }]);
      const port = result[0]!.localPort;
      const sent = wire(from).find((f) => f.tcpFlags === tcp.syn && f.tcpSrc === port)!;
      const arrived = wire(to).find((f) => f.tcpFlags === tcp.syn && f.tcpSrc === port)!;
      expect(Buffer.from(arrived.bytes.subarray(0, 34)).equals(Buffer.from(sent.bytes.subarray(0, 34)))).toBe(true);
      expect(arrived.ipTtl).toBe(64);
    }
    const uplink = await node.lab.exec("be1", ["ping", "-c", "1", "-W", "2", "10.20.0.254"]);
    expect(uplink).toContain("1 received");
  });

  test("what a member sends out by itself goes to the uplink's MAC, not to the router's", async () => {
    const up2 = node.lab.hosts.find((h) => h.name === "up2")!;
    const ping = () => node.lab.attempt("be1", ["ping", "-c", "1", "-W", "1", "203.0.113.9"]);
    const { wire } = await onWire(node.lab, ["be1", "up2"], ping, { filter: "icmp and dst host 203.0.113.9" });
    expect(wire("be1").map((f) => f.ethDst)).toEqual([up2.mac]);
    expect(wire("up2").map((f) => [f.ethSrc, f.ethDst, f.ipSrc])).toEqual([[MEMBERS.be1.mac, up2.mac, "10.20.0.2"]]);
  });

  test("a member killed under load leaves in time; only that time's requests fail, and no other connection breaks", async () => {
    const load = await startLoad(node.lab, "cli2", `http://${VIP}/`, { perSecond: 20, kept: 8 });
    await sleep(patience(1_000));
    const died = Date.now();
    await node.lab.backend("be3").kill();
    // A probe may just have ended; each of the failing ones takes up to its timeout.
    const bound = patience((monitor.max_retries_down * monitor.delay + monitor.timeout) * 1000);
    await eventually("be3 has no slots", bound, async () => {
      const [pool] = await node.api<readonly SlotsView[]>("/v1/slots");
      return pool!.members.find((m) => m.name === "be3")?.slots === 0 ? pool : undefined;
    });
    const left = Date.now();
    await sleep(patience(1_500));
    const report = await load.finish();
    const [pool] = await node.api<readonly SlotsView[]>("/v1/slots");
    expect(pool!.members.map((m) => m.slots).sort()).toEqual([0, 341, 341, 342]);
    expect(report.sent).toBeGreaterThan(10);
    const outside = report.failures.filter(({ at }) => at < died - 200 || at > left + 500);
    expect(outside).toEqual([]);
    expect(brokenKept(report).filter((text) => !/^be3\b/.test(text))).toEqual([]);
    expect(report.kept.filter((c) => c.backends[0] !== "be3").length).toBeGreaterThan(0);
    await node.lab.backend("be3").start();
    await eventually("be3 serves again", 15_000, async () => {
      const [now] = await node.api<readonly SlotsView[]>("/v1/slots");
      return now!.members.every((m) => m.slots === 256) ? true : undefined;
    });
  });

  test("a listener that is off in one segment: dropped and counted there, machines still reach each other", async () => {
    const api = async (path: string, body?: unknown) => {
      const options = body === undefined ? {} : { method: "PUT", body: JSON.stringify(body) };
      const headers = { "content-type": "application/json" };
      const url = new URL(`/v2.0/lbaas/${path}`, node.daemon.web);
      const answer = await fetch(url, { ...options, ...(body === undefined ? {} : { headers }) });
      expect(answer.ok).toBe(true);
      return (await answer.json()) as { readonly listeners: readonly { readonly id: string }[] };
    };
    const [listener] = (await api("listeners")).listeners;
    const dropped = async () => {
      const flows = await dumpFlows(node.lab, "table=1");
      const off = flows.find((f) => f.match.includes("nw_dst=10.30.0.100") && f.actions === "drop");
      return off?.packets ?? 0;
    };
    await api(`listeners/${listener!.id}`, { listener: { vips: ["192.168.5.21", VIP] } });
    await eventually("it is off in p3", 5_000, async () => {
      const [answer] = await node.lab.curl("cli3", "http://10.30.0.100/", 1, { maxTime: 1 });
      return answer!.ok ? undefined : true;
    });
    const before = await dropped();
    const [refused] = await node.lab.curl("cli3", "http://10.30.0.100/", 1, { maxTime: 1 });
    expect(refused!.ok).toBe(false);
    await eventually("the drop is counted", 5_000, async () => ((await dropped()) > before ? true : undefined));
    expect(await node.lab.curl("cli3", "http://10.30.0.2:8080/")).toMatchObject([{ ok: true, backend: "be2" }]);
    expect((await node.lab.curl("cli2", `http://${VIP}/`, 8)).filter((a) => !a.ok)).toEqual([]);
    expect((await node.lab.curl("client", "http://192.168.5.21/", 8)).filter((a) => !a.ok)).toEqual([]);
    await api(`listeners/${listener!.id}`, { listener: { vips: null } });
    await eventually("it is on again", 5_000, async () => {
      const [answer] = await node.lab.curl("cli3", "http://10.30.0.100/", 1, { maxTime: 1 });
      return answer!.ok ? true : undefined;
    });
  });
});
