import { afterAll, beforeAll, expect, test } from "vitest";
import { type NodeUnderTest, packets, startNode } from "../support/node-under-test.ts";
import { describeOvs } from "../support/ovs.ts";

const config = new URL("./cases-topology.yaml", import.meta.url).pathname;

/** Sends a datagram on a connected socket, and prints what becomes of it and after how many ms. */
const ASK_UDP = `
const s = require("dgram").createSocket("udp4");
const [port, ip] = process.argv.slice(1);
const begin = performance.now();
const end = (what) => { console.log(what, Math.round(performance.now() - begin)); process.exit(0); };
s.on("error", (e) => end(e.code)).on("message", () => end("answered"));
s.connect(Number(port), ip, () => s.send("x"));
setTimeout(() => end("silence"), 2000);
`;

/** 300 connects at once; prints how many were refused, and the rest. */
const MANY = `
const [port, ip] = process.argv.slice(1);
let [refused, other] = [0, 0];
const report = () => { console.log(refused, other); process.exit(0); };
for (let i = 0; i < 400; i++) {
  const s = require("net").connect(Number(port), ip);
  s.on("error", (e) => { e.code === "ECONNREFUSED" ? refused++ : other++; }).on("connect", () => other++);
}
setTimeout(report, 700);
`;

describeOvs("a pool without members", () => {
  let node: NodeUnderTest;

  beforeAll(async () => {
    node = await startNode("trej", { config });
  });
  afterAll(async () => node?.end());

  const callers = [
    ["client", "192.168.5.21"],
    ["cli2", "10.20.0.100"],
    ["be2", "10.20.0.100"],
    ["be2", "192.168.5.21"],
  ] as const;

  test.each(callers)("refuses %s by %s at once, from the VIP", async (host, vip) => {
    const capture = await node.lab.capture(host, { filter: "tcp or icmp" });
    const [answer] = await node.lab.curl(host, `http://${vip}:83/`, 1);
    const udp = await node.lab.exec(host, [process.execPath, "-e", ASK_UDP, "84", vip]);
    await capture.stop();
    expect(answer?.error).toMatch(/Connection refused|Failed to connect|Couldn't connect/);
    expect(answer?.seconds).toBeLessThan(1);
    const [what, ms] = udp.trim().split(" ");
    expect(what).toBe("ECONNREFUSED");
    expect(Number(ms)).toBeLessThan(1000);
    const refusals = packets(capture.path).filter((p) => p.ipSrc === vip);
    expect(refusals.map((p) => p.tcpFlags ?? `icmp ${p.icmpType}/${p.icmpCode}`)).toEqual([0x14, "icmp 3/3"]);
    expect(refusals.map((p) => [p.ipChecksumOk, p.l4ChecksumOk])).toEqual([
      [true, true],
      [true, true],
    ]);
  });

  test.each([
    ["a pool that is empty, policy drop", "192.168.5.21", 85],
    ["a port without a listener", "192.168.5.21", 99],
    ["a port without a listener in another segment", "10.20.0.100", 99],
  ])("%s is silence, and nothing leaves by a route", async (_name, vip, port) => {
    const { lab } = node;
    const everybody = lab.hosts.map((h) => h.name).filter((name) => name !== "be2");
    const captures = await Promise.all(everybody.map((host) => lab.capture(host, { filter: `tcp port ${port}` })));
    const [answer] = await lab.curl("be2", `http://${vip}:${port}/`, 1, { maxTime: 1 });
    await Promise.all(captures.map((c) => c.stop()));
    expect(answer?.error).toMatch(/timed out/i);
    expect(captures.flatMap((c) => packets(c.path))).toEqual([]);
  });

  test("the VIP answers pings", async () => {
    expect(await node.lab.exec("client", ["ping", "-c2", "-i0.2", "-W1", "192.168.5.21"])).toContain(" 0% packet loss");
  });

  test("refusals are limited, and the limit is counted by the meter", async () => {
    const [refused, other] = (await node.lab.exec("client", [process.execPath, "-e", MANY, "83", "192.168.5.21"]))
      .trim()
      .split(" ")
      .map(Number);
    expect(other).toBe(0);
    expect(refused).toBeGreaterThan(50);
    // 100 at once and 200 a second; a second more for a slow machine.
    expect(refused).toBeLessThan(400);
    const meters = await node.lab.ovs.ofctl("meter-stats", node.lab.bridge, "meter=6537");
    expect(Number(/packet_count:(\d+)/.exec(meters.split("bands:")[1] ?? "")?.[1])).toBeGreaterThan(0);
  });
});
