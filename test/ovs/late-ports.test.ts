import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { NeighbourView, PortView } from "../../controller/api/views.ts";
import { patience } from "../../src/lab/patience.ts";
import { dumpFlows } from "../../src/lab/verify/dump.ts";
import { eventually, type NodeUnderTest, startNode } from "../support/node-under-test.ts";
import { describeOvs } from "../support/ovs.ts";

const BE3 = "10.20.0.3";
/** Seconds without an answer; questions are 8 s apart by then. */
const LONG = 10;

/** Members that are configured before they can be reached, and say nothing by themselves when they come. */
describeOvs("a member that comes late", () => {
  let node: NodeUnderTest;

  beforeAll(async () => {
    node = await startNode("tlate");
  });
  afterAll(async () => node?.end());

  const port = async () => (await node.api<readonly PortView[]>("/v1/ports")).find((p) => p.name === "be3");
  const neighbour = async () =>
    (await node.api<readonly NeighbourView[]>("/v1/neighbours")).find((n) => n.ip === BE3)?.state;
  /** Who answers new connections, "" for those that nobody answers. */
  const answering = async () =>
    new Set((await node.lab.curl("client", "http://192.168.5.21/", 24, { maxTime: 0.5 })).map((a) => a.backend));
  const others = new Set(["be1", "be2", "be4"]);
  const failed = () =>
    eventually("be3 is given up, and the others serve", 40_000, async () => {
      const names = await answering();
      return (await neighbour()) === "failed" && !names.has("") && !names.has("be3") ? true : undefined;
    });
  const back = (ms: number) =>
    eventually("be3 serves again", ms, async () => ((await answering()).has("be3") ? true : undefined));

  test("whose port is not there when the controller starts: is used when the port is attached", async () => {
    const { lab } = node;
    await lab.ovs.vsctl("del-port", lab.bridge, "be3");
    await node.restartController();
    await failed();
    expect(await answering()).toEqual(others);
    await sleep(LONG * 1000);
    await lab.ovs.vsctl("add-port", lab.bridge, "be3", "--", "set", "interface", "be3", "ofport_request=91");
    await eventually("the port is up", 3_000, async () => ((await port())?.ofport === 91 ? true : undefined));
    // It is asked for when its port comes up, and has to pass two probes.
    await back(8_000);
    expect((await dumpFlows(lab, "table=0,in_port=91")).length).toBeGreaterThan(0);
    expect(await dumpFlows(lab, "table=0,in_port=11")).toEqual([]);
  });

  test("that did not answer for long and now would: is asked again without saying a word", async () => {
    const { lab } = node;
    await lab.exec("be3", ["ip", "link", "set", "dev", "eth0", "arp", "off"]);
    await failed();
    await sleep(LONG * 1000);
    await lab.exec("be3", ["ip", "link", "set", "dev", "eth0", "arp", "on"]);
    // Probes want it every two seconds, and each asks anew.
    await back(10_000);
  });

  test("that goes down while it sends: nothing that was learned behind its port stays or comes back", async () => {
    const { lab } = node;
    const { ofport } = (await port())!;
    const behind = async () =>
      (await dumpFlows(lab)).filter((f) => f.actions === `output:${ofport}` || f.actions.endsWith(`,output:${ofport}`));
    const sending = lab.exec("be3", ["ping", "-q", "-i", "0.01", "-w", `${patience(12)}`, "10.20.0.1"]).catch(() => "");
    for (let i = 0; i < 5; i++) {
      await eventually("it is learned", 5_000, async () => ((await behind()).length > 1 ? true : undefined));
      await sleep(600);
      await lab.exec("ovs", ["ip", "link", "set", "be3", "down"]);
      await eventually("its port is down", 3_000, async () => ((await port())?.state === "down" ? true : undefined));
      await sleep(patience(1_000));
      expect((await behind()).map((f) => `${f.table} ${f.match}`)).toEqual([]);
      await lab.exec("ovs", ["ip", "link", "set", "be3", "up"]);
    }
    await sending;
    await back(10_000);
  });

  test("that goes down while no controller is there: the next one forgets what was learned behind its port", async () => {
    const { lab } = node;
    const { ofport } = (await port())!;
    const behind = async () => (await dumpFlows(lab)).filter((f) => f.actions.endsWith(`output:${ofport}`));
    await eventually("it is learned", 5_000, async () => ((await behind()).length > 1 ? true : undefined));
    await node.daemon.kill();
    await lab.exec("ovs", ["ip", "link", "set", "be3", "down"]);
    await sleep(500);
    expect((await behind()).length).toBeGreaterThan(1);
    await node.restartController();
    await eventually("nothing leads to its port", 5_000, async () =>
      (await behind()).length === 0 ? true : undefined,
    );
    await lab.exec("ovs", ["ip", "link", "set", "be3", "up"]);
    await back(10_000);
  });

  test("whose port's number changes while it is down: what was known by the old one is gone", async () => {
    const { lab } = node;
    const old = (await port())!.ofport;
    const withIt = new RegExp(`(in_port=|output:)${old}\\b`);
    await lab.exec("ovs", ["ip", "link", "set", "be3", "down"]);
    let seen: readonly string[] = [];
    await eventually("its flows and what was learned behind it are gone", 5_000, async () => {
      const left = (await dumpFlows(lab)).filter((f) => withIt.test(`${f.match} ${f.actions}`));
      seen = left.map((f) => `${f.table} ${f.match} ${f.actions}`);
      return left.length === 0 ? true : undefined;
    }).catch(() => expect(seen).toEqual([]));
    await lab.ovs.vsctl("del-port", lab.bridge, "be3");
    await lab.ovs.vsctl("add-port", lab.bridge, "be3", "--", "set", "interface", "be3", "ofport_request=92");
    await lab.exec("ovs", ["ip", "link", "set", "be3", "up"]);
    await back(8_000);
  });
});
