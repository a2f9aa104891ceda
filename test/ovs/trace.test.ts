import { spawn } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ConnectionView, FdbView, TraceView } from "../../controller/api/trace-views.ts";
import { readPortNumbers, readTrace } from "../../controller/switch-trace.ts";
import { unixctl, vswitchdSocket } from "../../controller/unixctl.ts";
import { CliError, parseCall } from "../../src/cli/command.ts";
import { connsCommand } from "../../src/cli/conns.ts";
import { fdbCommand } from "../../src/cli/learned.ts";
import { metricsCommand } from "../../src/cli/metrics.ts";
import { traceCommand } from "../../src/cli/trace.ts";
import { attempt } from "../../src/lab/shell.ts";
import { disagreements } from "../../src/trace-agreement.ts";
import { type NodeUnderTest, startNode } from "../support/node-under-test.ts";
import { describeOvs } from "../support/ovs.ts";
import { packetKinds } from "../support/packet-kinds.ts";

let node: NodeUnderTest;
let socket: string;
let ofports: ReadonlyMap<number, number>;

const simulate = async (question: object): Promise<TraceView> => {
  const response = await fetch(new URL("/v1/trace", node.daemon.web), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(question),
  });
  const body = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(body));
  return body as TraceView;
};

const askSwitch = async (view: TraceView) => {
  const text = await unixctl(socket, "ofproto/trace", [node.lab.bridge, ...view.switchArguments]);
  return { text, passes: readTrace(text) };
};

describeOvs("the simulator and the switch", () => {
  beforeAll(async () => {
    node = await startNode("ttrace", { config: new URL("./trace-topology.yaml", import.meta.url).pathname });
    socket = await vswitchdSocket(node.lab.ovs.env["OVS_RUNDIR"]);
    ofports = readPortNumbers(await unixctl(socket, "dpif/show"), node.lab.bridge);
    await node.lab.curl("client", "http://192.168.5.21/", 8);
    await node.lab.curl("cli2", "http://10.20.0.100/", 8);
    await node.lab.curl("cli3", "http://10.30.0.100/", 8);
  });
  afterAll(async () => node?.end());

  describe.each(packetKinds)("$kind", ({ packets, outcome }) => {
    test.each(packets)("$name", async ({ packet, state = [] }) => {
      const view = await simulate({ packet, state });
      const { text, passes } = await askSwitch(view);
      expect(passes.flatMap((p) => p.steps).length, text).toBeGreaterThan(0);
      expect(disagreements(view, passes, ofports), `${text}\n${JSON.stringify(view, null, 1)}`).toEqual([]);
      expect(view.unknown).toEqual([]);
      outcome(view);
    });
  });

  /** Runs a command of lbctl against this node, in this process: starting a new one takes seconds each time. */
  const lbctl = async (name: string, ...args: readonly string[]) => {
    const command = [traceCommand, connsCommand, fdbCommand, metricsCommand].find((c) => c.name === name);
    if (!command) throw new Error(`no command ${name}`);
    let [stdout, stderr] = ["", ""];
    const io = {
      out: (text: string) => {
        stdout += `${text}\n`;
      },
      err: (text: string) => {
        stderr += `${text}\n`;
      },
    };
    const own = ["--server", node.daemon.web];
    if ("unixctl" in command.options && !args.includes("--unixctl")) own.push("--unixctl", socket);
    try {
      const code = await command.run(parseCall(command, [...args, ...own], io));
      return { code, stdout, stderr };
    } catch (e) {
      if (!(e instanceof CliError)) throw e;
      return { code: e.exitCode, stdout, stderr: e.message };
    }
  };

  test("lbctl as a program finds the switch by OVS_RUNDIR", async () => {
    const program = new URL("../../src/lbctl.ts", import.meta.url).pathname;
    const env = { LBCTL_SERVER: node.daemon.web, OVS_RUNDIR: node.lab.ovs.env["OVS_RUNDIR"] ?? "" };
    const argv = [process.execPath, "--import", "tsx", program, "trace", "10.20.0.10", "10.20.0.3", "--switch"];
    const { code, stdout, stderr } = await attempt(argv, { env });
    expect(stderr).toBe("");
    expect(stdout.trimEnd()).toMatch(/the simulation agrees$/);
    expect(code).toBe(0);
  });

  test("lbctl trace shows each table, what it is for, and where the packet goes", async () => {
    const { code, stdout } = await lbctl("trace", "192.168.5.13", "192.168.5.21:80");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ 0 ingress: Hosts of pub behind port pub0/m);
    expect(stdout).toMatch(/^11 slots: Slot \d+ of pool web is with member be\d\.$/m);
    expect(stdout).toMatch(/^-- back from conntrack: .*192\.168\.5\.21:80 becomes /m);
    expect(stdout).toMatch(/^=> out of port be\d, with .*tcp_dst=8080$/m);
  });

  test("lbctl trace --switch asks the switch and finds that the simulation agrees", async () => {
    const { code, stdout } = await lbctl("trace", "10.20.0.10", "10.20.0.100:80", "--switch");
    expect(stdout).toMatch(/^10 listeners: tcp,nw_dst=10\.20\.0\.100,tp_dst=80, priority 100$/m);
    expect(stdout.trimEnd()).toMatch(/the simulation agrees$/);
    expect(code).toBe(0);
  });

  test("lbctl trace --switch says so when the switch holds something else", async () => {
    const compared = () => lbctl("trace", "192.168.5.13", "10.20.0.2", "--switch");
    await node.lab.ovs.ofctl("add-flow", node.lab.bridge, "table=15,priority=999,icmp,cookie=0x77,actions=drop");
    const { code, stdout } = await compared();
    await node.lab.ovs.ofctl("del-flows", node.lab.bridge, "cookie=0x77/-1");
    expect(stdout).toMatch(/the simulation DIFFERS:/);
    expect(code).toBe(1);
    expect((await compared()).code).toBe(0);
  });

  test("lbctl trace --reply follows the answer back to the client, from the VIP", async () => {
    const { stdout } = await lbctl("trace", "192.168.5.13", "192.168.5.21:80", "--reply", "--json");
    const view = JSON.parse(stdout) as TraceView;
    expect(view.outputs).toHaveLength(1);
    expect(view.outputs[0]).toMatchObject({ port: "pub0", changed: { ip_src: "192.168.5.21", tcp_src: "80" } });
  });

  test("lbctl conns shows real connections with the member that serves them", async () => {
    // Neither side says anything, so the connection stays while slow machines start programs.
    const script = `const s = require("net").connect(80, "192.168.5.21", () => console.log(s.localPort)); setInterval(() => {}, 1e6);`;
    const child = spawn("ip", ["netns", "exec", node.lab.namespace("client"), process.execPath, "-e", script]);
    try {
      const port = await new Promise<string>((resolve) => child.stdout.once("data", (d) => resolve(String(d).trim())));
      const { stdout } = await lbctl("conns", "--client", `192.168.5.13:${port}`, "--json");
      const rows = JSON.parse(stdout) as readonly ConnectionView[];
      expect(rows).toHaveLength(1);
      const [row] = rows;
      expect(row).toMatchObject({ destination: "192.168.5.21:80", nat: "dnat", zone: 1, state: "ESTABLISHED" });
      expect(row?.members.some((m) => /^be[1-4]$/.test(m))).toBe(true);
      const table = await lbctl("conns", "--member", row?.server ?? "", "--state", "established");
      expect(table.stdout).toMatch(new RegExp(`^tcp +192\\.168\\.5\\.13:${port} +192\\.168\\.5\\.21:80 `, "m"));
      expect((await lbctl("conns", "--vip", "9.9.9.9")).stdout).toMatch(/^0 of \d+ connections$/m);
    } finally {
      child.kill();
    }
  });

  test("lbctl conns says what is wrong with the socket", async () => {
    const { code, stderr } = await lbctl("conns", "--unixctl", "/nowhere.ctl");
    expect(code).toBe(1);
    expect(stderr).toBe("there is no socket /nowhere.ctl: is ovs-vswitchd running on this machine?");
  });

  test("lbctl fdb shows who is where, and what was flooded", async () => {
    await node.lab.attempt("cli2", ["ping", "-c1", "-W1", "10.20.0.77"]);
    const views = JSON.parse((await lbctl("fdb", "--json")).stdout) as readonly FdbView[];
    expect(views.map((v) => v.segment)).toEqual(["pub", "p2", "p3"]);
    const p2 = views.find((v) => v.segment === "p2");
    expect(p2?.entries.find((e) => e.mac === "02:00:00:14:00:0a")).toMatchObject({
      port: "cli2",
      addresses: ["10.20.0.10"],
      secondsKept: 300,
    });
    expect(Number(p2?.floodedPackets)).toBeGreaterThan(0);
    expect((await lbctl("fdb", "p2")).stdout).toMatch(/^02:00:00:14:00:0a +cli2 +10\.20\.0\.10 /m);
    expect((await lbctl("fdb", "p9")).stderr).toMatch(/there is no segment "p9" \(segments: pub, p2, p3\)/);
  });

  test("lbctl metrics prints all, some, or none", async () => {
    const all = await lbctl("metrics");
    expect(all.stdout).toMatch(/^# TYPE \w+ counter$/m);
    const some = JSON.parse((await lbctl("metrics", "flow_mods", "--json")).stdout) as readonly { name: string }[];
    expect(some.length).toBeGreaterThan(0);
    expect(some.every((s) => s.name.includes("flow_mods"))).toBe(true);
    expect((await lbctl("metrics", "no_such_metric")).code).toBe(1);
  });
});
