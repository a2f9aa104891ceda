import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { NeighbourView, PlanView, PortView, StatusView } from "../../controller/api/views.ts";
import { encode } from "../../openflow/codec.ts";
import { Role } from "../../openflow/messages/role.ts";
import { patience } from "../../src/lab/patience.ts";
import { dumpFlows } from "../../src/lab/verify/dump.ts";
import { eventually, type NodeUnderTest, startNode } from "../support/node-under-test.ts";
import { describeOvs } from "../support/ovs.ts";

const TOPOLOGY = new URL("../../fixtures/topology.yaml", import.meta.url).pathname;
const OURS = "cookie=0x4c42000000000000/0xffff000000000000";
const VIP = "http://192.168.5.21/";

describeOvs("reconciling a real switch", () => {
  let node: NodeUnderTest;
  const folder = mkdtempSync(join(tmpdir(), "oflb-reconcile-"));
  const config = join(folder, "topology.yaml");

  beforeAll(async () => {
    cpSync(TOPOLOGY, config);
    node = await startNode("trec", { config });
  });
  afterAll(async () => {
    await node?.end();
    rmSync(folder, { recursive: true });
  });

  const status = async () => (await node.api<StatusView>("/v1/status")).nodes[0]!;
  const settled = async (): Promise<void> => {
    await eventually("a steady node with an empty plan", 15_000, async () => {
      const plans = await node.api<readonly PlanView[]>("/v1/plan");
      const empty = plans.every((p) => p.error === null && p.operations.length === 0);
      return empty && (await status()).state === "steady" ? true : undefined;
    });
  };
  const dump = async (filter: string): Promise<string[]> =>
    (await node.lab.ovs.ofctl("--no-stats", "dump-flows", node.lab.bridge, filter))
      .split("\n")
      .filter((line) => line.includes("actions="));
  const edit = (from: string | RegExp, to: string): void => {
    const text = readFileSync(config, "utf8");
    expect(text).toMatch(from);
    writeFileSync(config, text.replace(from, to));
  };

  test("an idle system is looked at again and again without one flow mod", async () => {
    await settled();
    const before = await status();
    await eventually("two more looks", 25_000, async () => {
      const text = await (await fetch(new URL("/metrics", node.daemon.web))).text();
      const rounds = Number(/oflb_reconcile_rounds_total\{node="lb1",result="steady"\} (\d+)/.exec(text)?.[1]);
      return rounds >= 4 ? true : undefined;
    });
    expect((await status()).flowModsSent).toBe(before.flowModsSent);
  });

  test.each([
    ["an action", "table=6,icmp,icmp_type=8", (f: string) => f.replace(/actions=.*/, "actions=drop")],
    [
      "a timeout",
      "table=20,ip,nw_dst=10.20.0.0/24",
      (f: string) => f.replace(" actions", ",hard_timeout=7000 actions"),
    ],
    ["a flag", "table=20,ip,nw_dst=10.30.0.0/24", (f: string) => f.replace(" actions", ",send_flow_rem actions")],
    [
      "what a learn() learns",
      "table=0,in_port=be1",
      (f: string) => f.replaceAll("hard_timeout=300", "hard_timeout=299"),
    ],
  ])("%s of one flow changed by hand is found and repaired", async (_what, filter, change) => {
    const before = await dump(`${filter},${OURS}`);
    expect(before.length).toBeGreaterThan(0);
    const [flow] = before as [string];
    const changed = change(flow.trim());
    expect(changed).not.toBe(flow.trim());
    await node.lab.ovs.ofctl("add-flow", node.lab.bridge, changed);
    await eventually("the flow is as before", 12_000, async () => {
      const now = await dump(`${filter},${OURS}`);
      return now.sort().join() === [...before].sort().join() ? true : undefined;
    });
  });

  test("what was removed while the controller was away, and a stray flow with our cookie, go; foreign flows and counters stay", async () => {
    const { lab } = node;
    await lab.curl("client", VIP, 4);
    await node.daemon.kill();
    edit("      - { segment: p3, ip: 10.30.0.100 }\n", "");
    await lab.ovs.ofctl(
      "add-flow",
      lab.bridge,
      "table=1,priority=9,cookie=0x4c42020000000000,udp,tp_dst=1,actions=drop",
    );
    await lab.ovs.ofctl("add-flow", lab.bridge, "table=1,priority=9,cookie=0xabc,udp,tp_dst=2,actions=drop");
    const duration = async () => {
      const text = await lab.ovs.ofctl("dump-flows", lab.bridge, "table=6,icmp,icmp_type=8");
      return Number(/duration=([\d.]+)s/.exec(text)?.[1]);
    };
    const age = await duration();
    await node.restartController();
    await settled();
    expect((await dump("table=1")).filter((f) => f.includes("tp_dst=1 "))).toEqual([]);
    expect((await dump("table=1")).filter((f) => f.includes("tp_dst=2 "))).toHaveLength(1);
    expect(await dump("table=5,arp,arp_tpa=10.30.0.100")).toEqual([]);
    expect(await dump("table=5,arp,arp_tpa=10.20.0.100")).not.toEqual([]);
    expect(await duration()).toBeGreaterThan(age);
    await lab.ovs.ofctl("del-flows", lab.bridge, "cookie=0xabc/-1");
  });

  test("a reload of a faulty file changes nothing and is shown; a good one is taken at once", async () => {
    const good = readFileSync(config, "utf8");
    edit("subnet: 10.20.0.0/24", "subnet: 10.20.0.0/244");
    node.daemon.reload();
    const refused = await eventually("the refusal", 5_000, async () => {
      const { reloadError } = await node.api<StatusView>("/v1/status");
      return reloadError ?? undefined;
    });
    expect(refused).toMatch(new RegExp(`${config}:\\d+:\\d+: segments\\[1\\]\\.subnet: "10\\.20\\.0\\.0/244"`));
    expect((await node.lab.curl("client", VIP, 8)).filter((a) => !a.ok)).toEqual([]);
    writeFileSync(config, good.replace("    vips:\n", "    vips:\n      - { ip: 192.168.5.22, segment: pub }\n"));
    node.daemon.reload();
    await eventually("the new VIP serves", 5_000, async () =>
      (await node.lab.curl("client", "http://192.168.5.22/", 1))[0]?.ok ? true : undefined,
    );
    expect((await node.api<StatusView>("/v1/status")).reloadError).toBeNull();
  });

  test("a port that is given to another segment takes nothing along that was learned behind it", async () => {
    const { lab } = node;
    const before = readFileSync(config, "utf8");
    const port = (await node.api<readonly PortView[]>("/v1/ports")).find((p) => p.name === "cli2")!;
    const learned = async (segment: number) =>
      (await dumpFlows(lab, `table=25,reg0=${segment}`)).filter((f) => f.actions === `output:${port.ofport}`);
    const sending = lab.attempt("cli2", ["ping", "-q", "-i", "0.02", "-w", `${patience(6)}`, "10.20.0.2"]);
    await eventually("it is learned", 5_000, async () => ((await learned(2)).length > 0 ? true : undefined));
    edit("      - cli2\n", "");
    edit("      - cli3\n", "      - cli3\n      - cli2\n");
    node.daemon.reload();
    await eventually("it is in the other segment", 5_000, async () =>
      (await node.api<readonly PortView[]>("/v1/ports")).find((p) => p.name === "cli2")?.segment === "p3"
        ? true
        : undefined,
    );
    await eventually("it is learned there", 5_000, async () => ((await learned(3)).length > 0 ? true : undefined));
    await sending;
    expect(await learned(2)).toEqual([]);
    expect(port.segment).toBe("p2");
    writeFileSync(config, before);
    node.daemon.reload();
    await settled();
    expect(await learned(3)).toEqual([]);
  });

  test("the switch refuses a flow: nothing of the change is applied, the object is named, and it heals", async () => {
    const { lab } = node;
    await settled();
    const flows = (await dump("table=1")).length;
    // The table may hold what it has and not one flow more.
    await lab.ovs.vsctl(
      ...["--", "--id=@t", "create", "Flow_Table", `flow_limit=${flows}`, "overflow_policy=refuse"],
      ...["--", "set", "bridge", lab.bridge, "flow_tables:1=@t"],
    );
    edit("    vips:\n", "    vips:\n      - { ip: 192.168.5.23, segment: pub }\n");
    node.daemon.reload();
    const refused = await eventually("the refusal", 5_000, async () => {
      const s = await status();
      return s.state === "refused" ? s : undefined;
    });
    expect(refused.lastError).toContain("OFPFMFC_TABLE_FULL");
    expect(refused.lastError).toMatch(/table 1 \(classify\)/);
    expect(await dump("table=5,arp,arp_tpa=192.168.5.23")).toEqual([]);
    expect((await lab.curl("client", VIP, 4)).filter((a) => !a.ok)).toEqual([]);
    await lab.ovs.vsctl("clear", "bridge", lab.bridge, "flow_tables");
    await settled();
    expect(await dump("table=5,arp,arp_tpa=192.168.5.23")).not.toEqual([]);
  });

  test("a port that flaps: the end counts, and there is no storm of changes", async () => {
    const { lab } = node;
    const before = (await status()).flowModsSent;
    for (let i = 0; i < 20; i++) {
      await lab.exec("ovs", ["ip", "link", "set", "be3", "down"]);
      await lab.exec("ovs", ["ip", "link", "set", "be3", "up"]);
    }
    await settled();
    const ports = await node.api<readonly PortView[]>("/v1/ports");
    expect(ports.find((p) => p.name === "be3")?.state).toBe("up");
    await eventually("be3 serves", 5_000, async () =>
      (await lab.curl("client", VIP, 12)).some((a) => a.backend === "be3") ? true : undefined,
    );
    expect((await status()).flowModsSent - before).toBeLessThan(20 * 40);
    await lab.ovs.ofctl("mod-port", lab.bridge, "be3", "down");
    await eventually("the port is seen down", 3_000, async () =>
      (await node.api<readonly PortView[]>("/v1/ports")).find((p) => p.name === "be3")?.state === "down"
        ? true
        : undefined,
    );
    await eventually("its flows are gone", 3_000, async () =>
      (await dump("table=0,in_port=be3")).length === 0 ? true : undefined,
    );
    await lab.ovs.ofctl("mod-port", lab.bridge, "be3", "up");
    await eventually("be3 serves again", 6_000, async () =>
      (await lab.curl("client", VIP, 12)).some((a) => a.backend === "be3") ? true : undefined,
    );
  });

  test("hosts that moved while the switch was away are asked for before they are used", async () => {
    const { lab } = node;
    await lab.ovs.killSwitch();
    await lab.exec("be1", ["ip", "link", "set", "eth0", "down"]);
    await lab.setMac("be1", "02:00:00:14:00:77");
    await lab.exec("be1", ["ip", "link", "set", "eth0", "up"]);
    for (const route of ["default via 10.20.0.254", "192.168.5.0/24 via 10.20.0.1", "10.30.0.0/24 via 10.20.0.1"]) {
      await lab.exec("be1", ["ip", "route", "replace", ...route.split(" ")]);
    }
    await lab.ovs.startSwitch();
    await eventually("be1 under its new MAC", 5_000, async () => {
      const neighbours = await node.api<readonly NeighbourView[]>("/v1/neighbours");
      return neighbours.find((n) => n.ip === "10.20.0.2")?.mac === "02:00:00:14:00:77" ? true : undefined;
    });
    await settled();
    expect((await dump("table=21")).filter((f) => f.includes("02:00:00:14:00:02"))).toEqual([]);
    expect((await lab.curl("client", VIP, 16)).filter((a) => !a.ok)).toEqual([]);
  });

  test("another controller makes itself primary: we stop writing, say so, and no error floods the log", async () => {
    const { lab } = node;
    await settled();
    const errors = async () => {
      const text = await (await fetch(new URL("/metrics", node.daemon.web))).text();
      return Number(/oflb_switch_errors_total\{node="lb1",code="OFPBRC_IS_SECONDARY"\} (\d+)/.exec(text)?.[1] ?? 0);
    };
    // A controller of ours that only takes the role: the switch connects to it as to any other.
    const { createServer } = await import("node:net");
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.write(Buffer.from("0400000800000001", "hex"));
      socket.write(encode({ type: "role_request", xid: 2, role: Role.primary, generationId: 77n }));
    });
    await new Promise<void>((resolve) => server.listen(0, lab.controllerAddress, () => resolve()));
    const address = server.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    try {
      await lab.ovs.vsctl("set-controller", lab.bridge, node.daemon.target, `tcp:${lab.controllerAddress}:${port}`);
      await eventually("the role is seen", 20_000, async () => {
        await lab.ovs.ofctl("del-flows", lab.bridge, "table=6");
        return (await status()).role === "secondary" ? true : undefined;
      });
      const mods = (await status()).flowModsSent;
      const before = await errors();
      await new Promise((r) => setTimeout(r, 3_000));
      expect((await status()).flowModsSent).toBe(mods);
      expect((await errors()) - before).toBeLessThan(5);
    } finally {
      server.close();
      await lab.ovs.vsctl("set-controller", lab.bridge, node.daemon.target);
    }
    // A new connection takes the role again, and everything is repaired.
    await eventually("the role is ours again", 45_000, async () =>
      (await status()).role === "primary" ? true : undefined,
    );
    await settled();
    expect(await dump("table=6,icmp,icmp_type=8")).not.toEqual([]);
  }, 120_000);
});
