import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { currentDaemon } from "../../src/lab/daemon.ts";
import type { CheckResult, VerifyReport } from "../../src/lab/verify/check.ts";
import { verify } from "../../src/lab/verify/run.ts";
import { type NodeUnderTest, startNode } from "../support/node-under-test.ts";
import { describeOvs } from "../support/ovs.ts";

const minutes = 60_000;

/** What the node promises, line by line, and the checks that are the witness: "group/name". */
const promises: readonly (readonly [promise: string, checks: readonly string[]])[] = [
  [
    "every machine of a private segment is a port of the bridge",
    ["be1 belongs to segment p2", "be3 belongs to segment p2", "cli2 belongs to segment p2"].map(
      (s) => `ports/port ${s}`,
    ),
  ],
  [
    "and so in the other segment",
    ["be2 belongs to segment p3", "be4 belongs to segment p3", "cli3 belongs to segment p3"].map(
      (s) => `ports/port ${s}`,
    ),
  ],
  [
    "the node's and the VIPs' addresses answer ARP and pings, and exist in flows only",
    [
      "arp/100 questions for 192.168.5.20 in pub",
      "arp/100 questions for 192.168.5.21 in pub",
      "arp/100 questions for 10.20.0.100 in p2",
      "icmp/client pings 192.168.5.20",
      "icmp/client pings 192.168.5.21",
      "icmp/cli2 pings 10.20.0.100",
    ],
  ],
  [
    "a private client's requests reach all four members",
    ["private/requests of cli2 to 10.20.0.100", "private/cli2 is served by all members"],
  ],
  [
    "members see the client's own address",
    ["private/members see cli2's own address", "public/members see client's own address"],
  ],
  ["port 80 becomes 8080", ["private/port 80 becomes 8080 for cli2", "public/port 80 becomes 8080 for client"]],
  [
    "answers come from the VIP, for both kinds of clients",
    ["private/all answers to cli2 come from the VIP", "public/all answers to client come from the VIP"],
  ],
  [
    "a neighbour's answer is translated on its way through table 24",
    ["private/answers inside p2 are translated in table 24"],
  ],
  [
    "TTL 64 from members of the client's segment, 63 from the others",
    [
      "private/answers of be1 to cli2: TTL 64, from the neighbour",
      "private/answers of be3 to cli2: TTL 64, from the neighbour",
      "private/answers of be2 to cli2: TTL 63, from the gateway",
      "private/answers of be4 to cli2: TTL 63, from the gateway",
    ],
  ],
  [
    "a private client has no routes",
    ["private/cli2 has no route but its own subnet", "private/cli3 has no route but its own subnet"],
  ],
  [
    "inside a segment machines reach each other and the uplink as ever",
    [
      "switching/a neighbour's own service is reached as it is",
      "switching/members ping each other directly",
      "routing/ping from be1 to the uplink's router is switched",
    ],
  ],
  [
    "a member killed under load leaves in time: only its slots move, only its share fails, nothing else breaks",
    [
      "health/a killed member is out within fall × interval",
      "health/its slots are shared by the others",
      "health/its slots move, of the others' at most 1 %",
      "health/requests of cli2 fail in that time only",
      "health/and no more of cli2's than the dead member's share",
      "health/connections of cli2 to other members do not break",
      "health/connections of client to other members do not break",
      "health/a member that is back serves within rise × interval",
      "health/with the slots it had",
    ],
  ],
  [
    "a member's own way out leads past the node",
    ["routing/be1's own way out leads to the uplink's router, not to the node"],
  ],
  [
    "a listener that is off in one segment: its drops are counted, its segment stays connected",
    [
      "reload/a listener is off for one VIP",
      "reload/and are counted at priority 125",
      "reload/the segment is as connected as before",
      "reload/the other VIPs serve on",
    ],
  ],
  [
    "machines of different segments reach each other through the node, and clients reach them directly",
    ["routing/be1 reaches be2 through the node", "routing/client reaches be1 directly, its address kept"],
  ],
  [
    "connections of one client spread over members, the packets of one connection do not",
    ["public/different connections of one client go to different members", "public/a connection stays with its member"],
  ],
  [
    "probes leave from an address of their own",
    ["be1", "be2", "be3", "be4"].map(
      (host) => `health/probes of ${host} come from the segment's probe address and the gateway's MAC`,
    ),
  ],
  [
    "a drained member finishes what it has",
    [
      "drain/no new connection reaches it",
      "drain/it is still probed",
      "drain/connections of client to the drained member went on",
      "drain/connections of cli2 to the drained member went on",
    ],
  ],
  [
    "no live member: dropped with a count, not sent to the dead",
    [
      "fail-close/no slot leads anywhere",
      "fail-close/every SYN is counted as dropped",
      "fail-close/no member is sent anything by clients",
    ],
  ],
  [
    "the same members have the same slots, over restarts too",
    ["restart/the same slots lead to the same members", "fail-close/with the slots as they were"],
  ],
  ["slot flows count packets", ["public/slot flows count the connections"]],
  [
    "MAC addresses of members are found out and followed",
    [
      "mac/table 21 has be1's own MAC and port",
      "mac/one that changes without a word is found out",
      "mac/a MAC that is announced when it changes is followed at once",
    ],
  ],
  [
    "a change of the program leaves no gap",
    ["reload/no request failed through all of this", "reload/no flow that was there is touched"],
  ],
];

describeOvs("the checks of a running lab", () => {
  let node: NodeUnderTest;
  let report: VerifyReport;

  beforeAll(async () => {
    node = await startNode("tverify");
    report = await verify(node.lab);
  }, 8 * minutes);
  afterAll(async () => node?.end());

  const failures = (results: readonly CheckResult[]) =>
    results.filter((r) => !r.ok).map((r) => `${r.group}/${r.name}: expected ${r.expected}, saw ${r.saw}`);

  test("all pass on a sound node", () => {
    expect(failures(report.results)).toEqual([]);
    expect(report.total).toBeGreaterThanOrEqual(110);
    expect(report.passed).toBe(report.total);
  });

  test("no two checks have one name", () => {
    const names = report.results.map((r) => `${r.group}/${r.name}`);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });

  describe("what the node promises", () => {
    test.each(promises)("%s", (_promise, checks) => {
      const found = checks.map((name) => {
        const result = report.results.find((r) => `${r.group}/${r.name}` === name);
        return result === undefined ? `${name}: not checked` : `${name}: ${result.ok ? "ok" : result.saw}`;
      });
      expect(found).toEqual(checks.map((name) => `${name}: ok`));
    });
  });

  describe("notice a broken pipeline", () => {
    /** Breaks something behind the paused controller's back, runs one group, and lets the controller repair it. */
    async function failuresOf(group: string, ...ofctl: readonly string[]): Promise<readonly string[]> {
      const [command = "", ...args] = ofctl;
      // The checks have started it again in between.
      const daemon = currentDaemon(node.lab);
      daemon.pause();
      try {
        await node.lab.ovs.ofctl(command, node.lab.bridge, ...args);
        return failures((await verify(node.lab, { groups: [group] })).results);
      } finally {
        daemon.resume();
        await expect
          .poll(async () => failures((await verify(node.lab, { groups: ["ports"] })).results), { timeout: 60_000 })
          .toEqual([]);
      }
    }

    test("a neighbour's answers that are not translated any more", { timeout: 4 * minutes }, async () => {
      const failed = await failuresOf("private", "del-flows", "table=24,tcp,reg0=2,nw_src=10.20.0.2");
      expect(failed.join("\n")).toMatch(/requests of cli2 .*\n(.*\n)*.*cli2 sees no member's address/);
      expect(failed.filter((line) => line.includes("cli3 has no route"))).toEqual([]);
    });

    test("a wrong MAC for one member", { timeout: 4 * minutes }, async () => {
      const failed = await failuresOf(
        "public",
        "mod-flows",
        "table=21,ip,nw_dst=10.30.0.2,actions=set_field:02:00:00:00:66:66->eth_dst,output:20",
      );
      expect(failed.join("\n")).toMatch(/client to be2: routed, translated.*02:00:00:00:66:66/);
      expect(failed.filter((line) => line.includes("client to be1"))).toEqual([]);
    });

    test("a segment that floods to nobody", { timeout: 4 * minutes }, async () => {
      const failed = await failuresOf("switching", "mod-group", "group_id=653002,type=all");
      expect(failed.join("\n")).toContain(
        "a broadcast reaches its segment once, not its sender, nobody else: expected be1 be3 up2, saw nobody",
      );
    });
  });
});
