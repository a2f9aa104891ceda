import { afterAll, beforeAll, expect, test } from "vitest";
import type { NeighbourView, PlanView, SlotsView, StatusView } from "../../controller/api/views.ts";
import { slowness } from "../../src/lab/patience.ts";
import { eventually, type NodeUnderTest, packets, startLoad, startNode } from "../support/node-under-test.ts";
import { describeOvs } from "../support/ovs.ts";

const VIP = "192.168.5.21";
const GATEWAY = "192.168.5.20";
const PUB_MAC = "02:42:c0:a8:05:14";
const P2_MAC = "02:42:0a:14:00:01";
const CLIENT = "192.168.5.13";
const CLIENT_MAC = "02:00:00:00:05:0d";
const SYN = 0x02;
const ACK = 0x10;

describeOvs("the main job on a real switch", () => {
  let node: NodeUnderTest;

  beforeAll(async () => {
    node = await startNode("tmain");
  });
  afterAll(async () => node?.end());

  const balance = async (count: number) => await node.lab.curl("client", `http://${VIP}/`, count);

  /** Fails with the operations of the plan unless it is empty, now or as soon as what is under way has ended. */
  const expectEmptyPlan = async (): Promise<void> => {
    let left: readonly PlanView[] = [];
    await eventually("an empty plan", 3_000, async () => {
      left = await node.api<readonly PlanView[]>("/v1/plan");
      return left.every((p) => p.error === null && p.operations.length === 0) ? true : undefined;
    }).catch(() => expect(left).toEqual([{ node: "lb1", operations: [], error: null }]));
  };

  test("40 requests reach all four members, and each member sees the client's address", async () => {
    const answers = await balance(40);
    expect(answers.filter((a) => !a.ok)).toEqual([]);
    expect(new Set(answers.map((a) => a.client))).toEqual(new Set([CLIENT]));
    expect([...new Set(answers.map((a) => a.backend))].sort()).toEqual(["be1", "be2", "be3", "be4"]);
    expect(new Set(answers.map((a) => a.served))).toEqual(
      new Set(["10.20.0.2:8080", "10.30.0.2:8080", "10.20.0.3:8080", "10.30.0.3:8080"]),
    );
  });

  test("once steady, nothing is left to change", async () => {
    await expectEmptyPlan();
  });

  test("the node and the VIP answer ping", async () => {
    for (const address of [GATEWAY, VIP]) {
      const out = await node.lab.exec("client", ["ping", "-c", "2", "-i", "0.2", "-W", "2", address]);
      expect(out).toContain("2 received");
      expect(out).toContain("ttl=64");
    }
  });

  test("a connection on the wire: rewritten towards the member, restored towards the client", async () => {
    const client = await node.lab.capture("client");
    const members = await Promise.all((["be1", "be2", "be3", "be4"] as const).map((h) => node.lab.capture(h)));
    await node.lab.exec("client", ["ip", "neigh", "flush", "all"]);
    const answers = await balance(12);
    await Promise.all([client, ...members].map((c) => c.stop()));
    expect(answers.every((a) => a.ok)).toBe(true);

    const seen = packets(client.path);
    const request = seen.find((p) => p.arpOp === 1 && p.arpTpa === VIP);
    const reply = seen.find((p) => p.arpOp === 2 && p.arpSpa === VIP);
    expect(request).toMatchObject({ arpSpa: CLIENT, arpSha: CLIENT_MAC });
    expect(reply).toMatchObject({ arpSha: PUB_MAC, ethSrc: PUB_MAC, arpTha: CLIENT_MAC, arpTpa: CLIENT });

    const answersSeen = seen.filter((p) => p.tcpFlags === (SYN | ACK));
    expect(answersSeen.length).toBeGreaterThanOrEqual(12);
    for (const p of answersSeen) {
      expect(p).toMatchObject({ ipSrc: VIP, tcpSrc: 80, ipDst: CLIENT, ethSrc: PUB_MAC, ethDst: CLIENT_MAC });
    }

    const addresses = ["10.20.0.2", "10.30.0.2", "10.20.0.3", "10.30.0.3"];
    const macs = ["02:00:00:14:00:02", "02:00:00:1e:00:02", "02:00:00:14:00:03", "02:00:00:1e:00:03"];
    const gateways = [P2_MAC, "02:42:0a:1e:00:01", P2_MAC, "02:42:0a:1e:00:01"];
    let syns = 0;
    members.forEach((capture, i) => {
      for (const p of packets(capture.path)) {
        if (p.ipProto !== 6) continue;
        expect([p.ipChecksumOk, p.l4ChecksumOk]).toEqual([true, true]);
        // Health probes come from the segment's own address.
        if (p.tcpFlags !== SYN || p.ipSrc?.endsWith(".253")) continue;
        syns++;
        expect(p).toMatchObject({
          ipSrc: CLIENT,
          ipDst: addresses[i],
          tcpDst: 8080,
          ipTtl: 63,
          ethSrc: gateways[i],
          ethDst: macs[i],
        });
      }
    });
    expect(syns).toBe(12);
    for (const p of seen) if (p.ipProto === 6) expect([p.ipChecksumOk, p.l4ChecksumOk]).toEqual([true, true]);
  });

  test("members are asked for by ARP from the gateway's address and MAC", async () => {
    const capture = await node.lab.capture("be1", { filter: "arp" });
    // The known MAC is confirmed again and again while the member is in use.
    const found = await eventually("an ARP request for be1", 10_000, async () => {
      const seen = packets(capture.path);
      const asked = seen.find((p) => p.arpOp === 1 && p.arpTpa === "10.20.0.2" && p.arpSha === P2_MAC);
      const answered = seen.find((p) => p.arpOp === 2 && p.arpSpa === "10.20.0.2" && p.arpTha === P2_MAC);
      return asked && answered ? { asked, answered } : undefined;
    });
    await capture.stop();
    expect(found.asked).toMatchObject({ ethSrc: P2_MAC, arpSpa: "10.20.0.1", arpSha: P2_MAC });
    expect(found.answered).toMatchObject({ arpTpa: "10.20.0.1", arpSha: "02:00:00:14:00:02" });
  });

  test("transit between the private segments is routed", async () => {
    const [answer] = await node.lab.curl("be1", "http://10.30.0.2:8080/");
    expect(answer).toMatchObject({ ok: true, backend: "be2", client: "10.20.0.2" });
  });

  test("a member that changes its MAC gets traffic again within 10 s, by itself", async () => {
    const { lab } = node;
    await lab.exec("be1", ["ip", "link", "set", "eth0", "down"]);
    await lab.setMac("be1", "02:00:00:14:00:99");
    await lab.exec("be1", ["ip", "link", "set", "eth0", "up"]);
    // Routes go with the link; the host's own configuration brings them back, as a DHCP client would.
    for (const route of ["default via 10.20.0.254", "192.168.5.0/24 via 10.20.0.1", "10.30.0.0/24 via 10.20.0.1"]) {
      await lab.exec("be1", ["ip", "route", "replace", ...route.split(" ")]);
    }
    await eventually("be1 serves again", 10_000, async () =>
      (await balance(12)).some((a) => a.backend === "be1") ? true : undefined,
    );
    const neighbours = await node.api<readonly NeighbourView[]>("/v1/neighbours");
    expect(neighbours.find((n) => n.ip === "10.20.0.2")?.mac).toBe("02:00:00:14:00:99");
    await lab.setMac("be1", "02:00:00:14:00:02");
    await eventually("be1 serves with its first MAC", 10_000, async () =>
      (await balance(12)).some((a) => a.backend === "be1") ? true : undefined,
    );
  });

  test("half the tables deleted under load: repaired, and a foreign flow stays", async () => {
    const { lab } = node;
    await lab.ovs.ofctl("add-flow", lab.bridge, "table=1,priority=7,cookie=0x1234,udp,tp_dst=9999,actions=drop");
    const load = await startLoad(lab, "client", `http://${VIP}/`, 50, 30);
    for (const table of [1, 10, 11, 12, 20])
      await lab.ovs.ofctl("del-flows", lab.bridge, `table=${table},cookie=0x4c42000000000000/0xffff000000000000`);
    await eventually("the deleted flows are back", 12_000, async () => {
      const dump = await lab.ovs.ofctl("dump-flows", lab.bridge, "table=11");
      return dump.split("\n").length > 1024 ? true : undefined;
    });
    await load.finish();
    expect(await lab.ovs.ofctl("dump-flows", lab.bridge, "cookie=0x1234/-1")).toContain("tp_dst=9999");
    await lab.ovs.ofctl("del-flows", lab.bridge, "cookie=0x1234/-1");
    expect((await balance(20)).filter((a) => !a.ok)).toEqual([]);
    await expectEmptyPlan();
  });

  test("the controller is killed and comes back under load: no request fails and no flow mod is sent", async () => {
    // A member that comes back after an earlier test would be a true difference.
    await eventually("all members serve their share", 30_000, async () => {
      const pools = await node.api<readonly SlotsView[]>("/v1/slots");
      return pools.every((p) => p.members.every((m) => m.slots === 256)) ? true : undefined;
    });
    const load = await startLoad(node.lab, "client", `http://${VIP}/`, 60, 60);
    await new Promise((r) => setTimeout(r, 1_000));
    const stored = async () => {
      const lists = await Promise.all(
        ["loadbalancers", "listeners", "pools"].map(async (kind) =>
          Object.values(await node.api<Readonly<Record<string, readonly { id?: string }[]>>>(`/v2.0/lbaas/${kind}`)),
        ),
      );
      return lists.flat(2).flatMap(({ id }) => id ?? []);
    };
    const before = await stored();
    await node.restartController();
    expect(await stored()).toEqual(before);
    expect(before).toHaveLength(3);
    await eventually("steady again", 20_000, async () => {
      const status = await node.api<StatusView>("/v1/status");
      return status.nodes.every((n) => n.state === "steady") ? true : undefined;
    });
    // Long enough for the first confirmation of every neighbour.
    await new Promise((r) => setTimeout(r, 6_000));
    const report = await load.finish();
    expect(report.failures).toEqual([]);
    expect(report.sent).toBeGreaterThan(300 / slowness);
    const status = await node.api<StatusView>("/v1/status");
    expect(status.nodes[0]?.flowModsSent).toBe(0);
    await expectEmptyPlan();
  });

  test("the switch restarts empty: everything is back, with new port numbers too", async () => {
    const { lab } = node;
    await lab.ovs.killSwitch();
    await lab.ovs.vsctlNoWait("set", "interface", "be1", "ofport_request=77");
    await lab.ovs.startSwitch();
    await eventually("requests are answered by all four again", 30_000, async () => {
      const answers = await balance(24);
      return answers.every((a) => a.ok) && new Set(answers.map((a) => a.backend)).size === 4 ? true : undefined;
    });
    await expectEmptyPlan();
  });

  test("a port that leaves and comes back under another number is used again at once", async () => {
    const { lab } = node;
    await lab.ovs.vsctl("del-port", lab.bridge, "be3");
    await eventually("be3's port is gone from the flows", 3_000, async () => {
      const dump = await lab.ovs.ofctl("dump-flows", lab.bridge, "table=0");
      return dump.includes("in_port=be3") || dump.includes("in_port=11,") ? undefined : true;
    });
    await lab.ovs.vsctl("add-port", lab.bridge, "be3", "--", "set", "interface", "be3", "ofport_request=78");
    await eventually("be3 serves again", 5_000, async () =>
      (await balance(12)).some((a) => a.backend === "be3") ? true : undefined,
    );
  });
});
