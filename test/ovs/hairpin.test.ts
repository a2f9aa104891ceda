import { afterAll, beforeAll, expect, test } from "vitest";
import { type NodeUnderTest, startNode } from "../support/node-under-test.ts";
import { describeOvs } from "../support/ovs.ts";

const config = new URL("./cases-topology.yaml", import.meta.url).pathname;

/** Sends a datagram and prints the answer; fails after 2 s without one. */
const ASK_UDP = `
const s = require("dgram").createSocket("udp4");
const [port, ip] = process.argv.slice(1);
s.on("message", (m, from) => { console.log(from.address + ":" + from.port, String(m)); process.exit(0); });
s.bind(() => s.send("x", Number(port), ip));
setTimeout(() => process.exit(1), 2000);
`;

describeOvs("members that call their own VIP", () => {
  let node: NodeUnderTest;

  beforeAll(async () => {
    node = await startNode("thair", { config });
  });
  afterAll(async () => node?.end());

  test.each([
    ["VIP of its segment", "http://10.20.0.100:82/"],
    ["VIP of another segment", "http://10.30.0.100:82/"],
    ["public VIP", "http://192.168.5.21:82/"],
  ])("the only member is given itself by the %s, and sees the VIP as the caller", async (_name, url) => {
    const answers = await node.lab.curl("be1", url, 20);
    expect(answers.filter((a) => !a.ok)).toEqual([]);
    expect(new Set(answers.map((a) => `${a.backend} ${a.client}`))).toEqual(new Set([`be1 ${new URL(url).hostname}`]));
  });

  test("one of two members is given itself and the other: all calls succeed, the other sees its address", async () => {
    const answers = await node.lab.curl("be1", "http://10.20.0.100:81/", 100);
    expect(answers.filter((a) => !a.ok)).toEqual([]);
    expect(new Set(answers.map((a) => `${a.backend} ${a.client}`))).toEqual(
      new Set(["be1 10.20.0.100", "be3 10.20.0.2"]),
    );
  });

  test("members of both segments call all four", async () => {
    for (const [host, vip] of [
      ["be2", "10.30.0.100"],
      ["be3", "192.168.5.21"],
      ["be4", "10.20.0.100"],
    ] as const) {
      const answers = await node.lab.curl(host, `http://${vip}/`, 40);
      expect(answers.filter((a) => !a.ok)).toEqual([]);
      expect(new Set(answers.map((a) => a.backend)).size).toBe(4);
      const own = node.lab.hosts.find((h) => h.name === host)?.address.split("/")[0];
      expect(new Set(answers.map((a) => `${a.backend === host} ${a.client}`))).toEqual(
        new Set([`true ${vip}`, `false ${own}`]),
      );
    }
  });

  test("UDP to itself", async () => {
    const said = await node.lab.exec("be1", [process.execPath, "-e", ASK_UDP, "5301", "10.20.0.100"]);
    expect(said).toMatch(/^10\.20\.0\.100:5301 backend=be1 .*client=10\.20\.0\.100:/);
  });

  test("clients are seen with their own address as before", async () => {
    const answers = await node.lab.curl("cli2", "http://10.20.0.100:82/", 10);
    expect(new Set(answers.map((a) => `${a.backend} ${a.client}`))).toEqual(new Set(["be1 10.20.0.10"]));
  });
});
