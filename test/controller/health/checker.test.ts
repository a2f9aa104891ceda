import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { parseEthernet } from "../../../openflow/packet/ethernet.ts";
import { TCP_FLAG } from "../../../openflow/packet/tcp.ts";
import type { Member, Topology } from "../../../pipeline/model.ts";
import { type Mood, ProbeNet, probedTopology, tcpMonitor } from "../../support/probe-net.ts";
import { ip } from "../../support/topology.ts";

const { rst: RST, ack: ACK, syn: SYN } = TCP_FLAG;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] }));
afterEach(() => void vi.useRealTimers());

const start = (topology: Topology, adopted: readonly number[] = []): ProbeNet => {
  const net = new ProbeNet();
  net.checker.setTopology(topology);
  net.checker.adopt(new Set(adopted));
  net.checker.setConnected(true);
  return net;
};
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe("the run of a member", () => {
  test("is up in less than a second, and probed about every interval from then on", async () => {
    const net = start(probedTopology(4));
    await pass(500);
    expect(net.states()).toEqual({ 1: "up", 2: "up", 3: "up", 4: "up" });
    expect(net.changes).toHaveLength(4);
    const from = net.syns().length;
    await pass(20_000);
    const probes = net.syns().length - from;
    expect(probes).toBeGreaterThanOrEqual(4 * 10);
    expect(probes).toBeLessThanOrEqual(4 * 12 + 4);
  });

  test("goes down after three failures and comes back after two successes", async () => {
    const net = start(probedTopology(2));
    await pass(2_500);
    net.moods.set(ip("10.20.0.2"), "silent");
    const before = performance.now();
    while (net.states()[1] === "up") await pass(10);
    expect(performance.now() - before).toBeLessThanOrEqual(7_020);
    expect(performance.now() - before).toBeGreaterThanOrEqual(4_600);
    expect(net.states()).toEqual({ 1: "down", 2: "up" });
    expect(net.results.findLast((r) => r.id === 1)?.reason).toBe("no answer within 1 s");
    net.moods.set(ip("10.20.0.2"), "accept");
    const dead = performance.now();
    while (net.states()[1] === "down") await pass(10);
    expect(performance.now() - dead).toBeLessThanOrEqual(4_020);
  });

  test("adopted members are up at once and stay so when the probes agree", async () => {
    const net = start(probedTopology(3), [1, 3]);
    expect(net.states()).toEqual({ 1: "up", 2: "unknown", 3: "up" });
    net.moods.set(ip("10.20.0.4"), "refuse");
    await pass(9_000);
    expect(net.states()).toEqual({ 1: "up", 2: "up", 3: "down" });
    expect(net.changes.filter((c) => c.includes("be1 "))).toEqual([]);
  });

  test("a disabled member is not probed, and starts anew when it is enabled", async () => {
    const off = probedTopology(1, tcpMonitor, { adminUp: false });
    const net = start(probedTopology(1));
    await pass(1_000);
    net.checker.setTopology(off);
    expect([net.states(), net.forgotten]).toEqual([{}, [1]]);
    const sent = net.sent.length;
    await pass(10_000);
    expect(net.sent.length).toBe(sent);
    net.checker.setTopology(probedTopology(1));
    expect(net.states()).toEqual({ 1: "unknown" });
    await pass(500);
    expect(net.states()).toEqual({ 1: "up" });
  });

  test("a draining member is probed on, and its health stays", async () => {
    const net = start(probedTopology(1));
    await pass(1_000);
    net.checker.setTopology(probedTopology(1, tcpMonitor, { drain: true }));
    const sent = net.syns().length;
    await pass(10_000);
    expect(net.states()).toEqual({ 1: "up" });
    expect(net.syns().length).toBeGreaterThanOrEqual(sent + 4);
  });

  test("a member that moves its monitor is probed there from now on", async () => {
    const net = start(probedTopology(1));
    await pass(1_000);
    const monitor: Member["monitor"] = { ip: ip("10.20.0.2"), port: 9_000 };
    net.checker.setTopology(probedTopology(1, tcpMonitor, { monitor }));
    const from = net.sent.length;
    await pass(4_000);
    expect(new Set(net.sent.slice(from).map((f) => f.tcp.dstPort))).toEqual(new Set([9_000]));
    expect(net.states()).toEqual({ 1: "up" });
  });
});

describe("what is not the member's fault", () => {
  test("packets that cannot be sent are no failures", async () => {
    const net = start(probedTopology(1));
    await pass(1_000);
    net.blocked = true;
    await pass(30_000);
    expect(net.states()).toEqual({ 1: "up" });
    expect(net.results.every((r) => r.ok)).toBe(true);
  });

  test("a switch that is away is no failure, and the probes spread out when it is back", async () => {
    const net = start(probedTopology(50));
    await pass(1_000);
    for (let i = 2; i < 52; i++) net.moods.set(ip("10.20.0.0") + i, "silent");
    await pass(500);
    net.checker.setConnected(false);
    const results = net.results.length;
    await pass(60_000);
    expect(net.results.length).toBe(results);
    net.moods.clear();
    const from = net.sent.length;
    net.checker.setConnected(true);
    await pass(100);
    expect(net.sent.length - from).toBeLessThan(2 * 25);
    await pass(2_000);
    expect(new Set(Object.values(net.states()))).toEqual(new Set(["up"]));
  });

  test("time that the process stood still does not count", async () => {
    const net = start(probedTopology(2, { ...tcpMonitor, intervalMs: 5_000 }));
    net.moods.set(ip("10.20.0.2"), "silent");
    await pass(900);
    const [syn] = net.syns();
    // The tick that would end the probe comes 700 ms late; the answer was waiting all the while.
    const { now } = performance;
    const late = vi.spyOn(performance, "now").mockImplementation(() => now.call(performance) + 700);
    await pass(110);
    net.answer(syn!.bytes, { flags: SYN | ACK });
    late.mockRestore();
    expect(net.results.find((r) => r.id === 1)).toMatchObject({ ok: true, reason: "connected" });

    await pass(5_000);
    vi.spyOn(performance, "now").mockImplementation(() => now.call(performance) + 60_000);
    await pass(3_000);
    vi.restoreAllMocks();
    expect(net.results.findLast((r) => r.id === 1)).toMatchObject({ ok: false, reason: "no answer within 1 s" });
    net.checker.stop();
  });

  test("an unknown MAC is waited for within the timeout; a failed neighbour is a reason at once", async () => {
    const net = new ProbeNet();
    net.lookup = () => ({ kind: "asking" });
    net.checker.setTopology(probedTopology(1));
    net.checker.setConnected(true);
    await pass(600);
    expect(net.sent).toEqual([]);
    net.lookup = () => ({ kind: "known", mac: 5, ofport: 3 });
    net.checker.neighboursChanged();
    await pass(500);
    expect(net.states()).toEqual({ 1: "up" });
    expect(new Set(net.sent.map((f) => f.ofport))).toEqual(new Set([3]));
    net.lookup = () => ({ kind: "failed" });
    await pass(7_000);
    expect(net.states()).toEqual({ 1: "down" });
    expect(net.results.at(-1)?.reason).toBe("no MAC (neighbour failed)");
    net.lookup = () => ({ kind: "asking" });
    await pass(4_000);
    expect(net.results.at(-1)?.reason).toBe("no MAC (no ARP answer within 1 s)");
  });
});

describe("a next hop that moves", () => {
  /** The member answers at this MAC, or at none. */
  const move = (net: ProbeNet, mac: number, mood: Mood): void => {
    net.lookup = () => ({ kind: "known", mac, ofport: 10 });
    net.moods.set(ip("10.20.0.2"), mood);
    net.checker.neighboursChanged();
  };

  test("is probed at its new place at once; the probe that went to the old one is no failure", async () => {
    const net = start(probedTopology(1));
    await pass(1_000);
    net.moods.set(ip("10.20.0.2"), "silent");
    const failures = () => net.results.filter((r) => !r.ok).length;
    while (failures() < 2) await pass(10);
    const sent = net.syns().length;
    while (net.syns().length === sent) await pass(10);
    move(net, 7, "accept");
    await pass(10);
    expect(net.results.at(-1)).toMatchObject({ ok: true, reason: "connected" });
    expect(parseEthernet(net.syns().at(-1)!.bytes)?.dst).toBe(7);
    await pass(3_000);
    expect([failures(), net.states()]).toEqual([2, { 1: "up" }]);
  });

  test("does not escape its verdict by moving all the time", async () => {
    const net = start(probedTopology(1));
    await pass(1_000);
    for (let mac = 100; net.states()[1] === "up" && mac < 300; mac++) {
      move(net, mac, "silent");
      await pass(100);
    }
    expect(net.states()).toEqual({ 1: "down" });
  });
});

describe("packets", () => {
  test("no source port comes twice within a minute, and initial numbers are not to be guessed", async () => {
    const net = start(probedTopology(2, { ...tcpMonitor, intervalMs: 100, timeoutMs: 100 }));
    await pass(60_000);
    for (const address of [ip("10.20.0.2"), ip("10.20.0.3")]) {
      const syns = net.syns().filter((f) => f.to === address);
      expect(syns.length).toBeGreaterThan(550);
      expect(new Set(syns.map((f) => f.tcp.srcPort)).size).toBe(syns.length);
      expect(new Set(syns.map((f) => f.tcp.seq)).size).toBe(syns.length);
      expect(Math.min(...syns.map((f) => f.tcp.srcPort))).toBeGreaterThanOrEqual(49_152);
    }
  });

  test("every connection that was opened is reset", async () => {
    const net = start(probedTopology(5));
    await pass(10_000);
    const ended = net.sent.filter((f) => (f.tcp.flags & RST) !== 0).map((f) => `${f.to} ${f.tcp.srcPort}`);
    expect(new Set(net.syns().map((f) => `${f.to} ${f.tcp.srcPort}`))).toEqual(new Set(ended));
  });

  test("what comes for a probe that is long over is answered by a reset, unless it crossed ours; resets and other things are not", async () => {
    const net = start(probedTopology(1));
    await pass(170);
    const crossing = net.syns().at(-1);
    let from = net.sent.length;
    net.answer(crossing!.bytes, { flags: ACK, ack: 4_711 });
    expect(net.sent.length).toBe(from);
    await pass(500);
    const [syn] = net.syns();
    from = net.sent.length;
    net.answer(syn!.bytes, { flags: ACK, ack: 4_711 });
    expect(net.sent.slice(from).map((f) => [f.tcp.flags, f.tcp.seq, f.to])).toEqual([[RST, 4_711, ip("10.20.0.2")]]);
    net.answer(syn!.bytes, { flags: RST });
    net.checker.handle(2, 10, Buffer.alloc(60));
    expect(net.sent.length).toBe(from + 1);
  });

  test("an answer from another port of the member is none", async () => {
    const net = start(probedTopology(1));
    net.moods.set(ip("10.20.0.2"), "silent");
    await pass(10);
    const [syn] = net.syns();
    net.answer(syn!.bytes, { flags: SYN | ACK, srcPort: 9 });
    expect(net.results).toEqual([]);
    net.answer(syn!.bytes, { flags: SYN | ACK });
    expect(net.results.map((r) => r.reason)).toEqual(["connected"]);
  });

  test("no more than 500 probes are under way at a time", async () => {
    const net = new ProbeNet();
    const topology = probedTopology(1_200);
    for (let i = 0; i < 1_200; i++) net.moods.set(ip("10.20.0.2") + i, "silent");
    net.checker.setTopology(topology);
    net.checker.setConnected(true);
    await pass(200);
    expect(net.syns().length).toBe(500);
    await pass(1_000);
    expect(new Set(net.syns().map((f) => f.to)).size).toBe(1_000);
    await pass(1_000);
    expect(new Set(net.syns().map((f) => f.to)).size).toBe(1_200);
    net.checker.stop();
  });

  test("a probe that is called off leaves nothing at the member", async () => {
    const net = start(probedTopology(1));
    net.moods.set(ip("10.20.0.2"), "silent");
    await pass(10);
    const [syn] = net.syns();
    net.checker.stop();
    expect(net.sent.at(-1)?.tcp).toMatchObject({ flags: RST, seq: (syn!.tcp.seq + 1) >>> 0 });
    await pass(10_000);
    expect(net.results).toEqual([]);
  });
});
