import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readPortNumbers, readTrace, traceArgument } from "../../controller/switch-trace.ts";
import { unixctl, vswitchdSocket } from "../../controller/unixctl.ts";
import { formatMatch } from "../../openflow/text/match.ts";
import { CtState } from "../../pipeline/ct-state.ts";
import { answering } from "../../pipeline/simulate/conntrack.ts";
import { exactMatch, stateOf } from "../../pipeline/simulate/packet.ts";
import { simulator } from "../../pipeline/simulate.ts";
import { down, type Lab, up } from "../../src/lab/lab.ts";
import { disagreements } from "../../src/trace-agreement.ts";
import { flow, packet } from "../support/flows.ts";
import { describeOvs } from "../support/ovs.ts";

const BRIDGE = "br-act";
const GROUP = 5;
const TCP =
  "in_port=1,tcp,dl_src=02:00:00:00:00:01,dl_dst=02:00:00:00:00:02,nw_src=10.0.0.1,nw_dst=10.0.0.2,nw_ttl=64,tp_src=1000,tp_dst=80";

/** Flows that use one action in a telling way; what they leave behind is compared with the switch. */
type Case = readonly [name: string, flows: readonly string[], packet?: string, states?: readonly number[]];

const cases: readonly Case[] = [
  ["set_field", ["ip actions=set_field:10.9.9.9->ip_dst,set_field:02:00:00:00:00:09->eth_src,output:2"]],
  ["set_field with a mask", ["ip actions=set_field:0xff->reg3,set_field:0x00/0x0f->reg3,output:2"]],
  ["load of bits", ["ip actions=load:0xffff->NXM_NX_REG0[],load:0x5->NXM_NX_REG0[4..7],output:2"]],
  ["load of an IPv4 address", ["ip actions=load:0xa090909->NXM_OF_IP_DST[],output:2"]],
  [
    "move of bits",
    ["tcp actions=move:NXM_OF_TCP_SRC[1..5]->NXM_NX_REG1[0..4],move:NXM_OF_IP_SRC[0..4]->NXM_NX_REG1[5..9]"],
  ],
  ["move of a whole field", ["ip actions=move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],output:2"]],
  [
    "wide registers",
    ["ip actions=set_field:0x1234567800000009->xreg1,goto_table:1", "table=1,reg2=0x12345678,reg3=9 actions=output:2"],
  ],
  [
    "push and pop",
    ["ip actions=push:NXM_OF_IP_SRC[],push:NXM_OF_IP_DST[],pop:NXM_OF_IP_SRC[],pop:NXM_OF_IP_DST[],output:2"],
  ],
  ["pop of an empty stack", ["ip actions=pop:NXM_NX_REG5[],output:2"]],
  ["dec_ttl", ["ip actions=dec_ttl,output:2"]],
  ["dec_ttl at the end", ["ip actions=dec_ttl,output:2"], TCP.replace("nw_ttl=64", "nw_ttl=1")],
  [
    "dec_ttl at the end, inside a resubmit",
    ["ip actions=resubmit(,1),output:2", "table=1,ip actions=dec_ttl,output:3"],
    TCP.replace("nw_ttl=64", "nw_ttl=1"),
  ],
  ["mod_nw_ttl", ["ip actions=mod_nw_ttl:9,output:2"]],
  ["metadata", ["actions=write_metadata:0x12/0xff,goto_table:1", "table=1,metadata=0x12/0x12 actions=output:2"]],
  ["output to the ingress port", ["actions=output:1,output:2"]],
  ["output to the ingress port only", ["actions=output:1"]],
  ["IN_PORT", ["actions=IN_PORT"]],
  ["LOCAL", ["actions=LOCAL,output:3"]],
  ["outputs between changes", ["ip actions=output:2,set_field:9->nw_ttl,output:3"]],
  ["group of all", [`ip actions=group:${GROUP},output:3`]],
  ["controller", ["actions=controller(userdata=00.00.00.03),output:2"]],
  ["clone", ["ip actions=clone(set_field:9->nw_ttl,output:2),output:3"]],
  [
    "resubmit, then on",
    [
      "ip actions=resubmit(,20),output:2,goto_table:5",
      "table=20,ip actions=set_field:7->nw_ttl,goto_table:21",
      "table=21 actions=output:3",
      "table=5 actions=LOCAL",
    ],
  ],
  [
    "resubmit as from another port",
    [
      "actions=resubmit(9,3),output:2",
      "table=3,in_port=9 actions=output:1,output:3,goto_table:4",
      "table=4,in_port=1 actions=LOCAL",
    ],
  ],
  ["resubmit to a table without flows", ["actions=resubmit(,3),output:2"]],
  ["learn", ["actions=learn(table=9,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[]),output:2"]],
  ["exit", ["actions=resubmit(,1),output:2", "table=1 actions=output:3,exit,output:2"]],
  [
    "ct with nat",
    [
      "tcp,ct_state=-trk actions=load:5->NXM_NX_REG2[],push:NXM_NX_REG2[],ct(commit,zone=3,table=4,nat(dst=10.7.7.7:8080)),set_field:1->nw_ttl,output:3",
      "table=4,tcp,ct_state=+new+trk,ct_zone=3,reg2=5 actions=pop:NXM_NX_REG6[],output:2",
    ],
  ],
  [
    "ct twice",
    [
      "tcp actions=ct(zone=1,table=1),ct(zone=2,table=2)",
      "table=1,ct_zone=1 actions=output:2",
      "table=2,tcp,ct_zone=2 actions=ct(zone=4,table=3)",
      "table=3,ct_zone=4 actions=output:3",
    ],
  ],
  [
    "ct of a known connection",
    ["tcp actions=ct(table=1,nat)", "table=1,tcp,ct_state=+est+rpl actions=output:2"],
    TCP,
    [CtState.tracked | CtState.established | CtState.reply],
  ],
  ["ct without a table", ["tcp,ct_state=-trk actions=ct(commit),output:2"]],
  [
    "ct_clear",
    [
      "tcp actions=ct(table=1)",
      "table=1,ct_state=+trk actions=ct_clear,goto_table:2",
      "table=2,ct_state=-trk actions=output:2",
    ],
  ],
  ["nothing matches", ["udp actions=output:2"]],
];

describeOvs("actions, simulated and on a switch", () => {
  const name = "tact";
  let lab: Lab;
  let socket: string;
  let ofports: ReadonlyMap<number, number>;

  beforeAll(async () => {
    lab = await up({ name });
    const port = (n: number) => [
      "--",
      "add-port",
      BRIDGE,
      `act${n}`,
      "--",
      "set",
      "interface",
      `act${n}`,
      "type=internal",
      `ofport_request=${n}`,
    ];
    const bridge = [
      "add-br",
      BRIDGE,
      "--",
      "set",
      "bridge",
      BRIDGE,
      "datapath_type=netdev",
      "fail_mode=secure",
      "protocols=OpenFlow13",
    ];
    await lab.ovs.vsctl(...bridge, ...port(1), ...port(2), ...port(3));
    await lab.ovs.ofctl(
      "add-group",
      BRIDGE,
      `group_id=${GROUP},type=all,bucket=actions=set_field:7->nw_ttl,output:1,bucket=actions=set_field:8->nw_ttl,output:2`,
    );
    socket = await vswitchdSocket(lab.ovs.env["OVS_RUNDIR"]);
    ofports = readPortNumbers(await unixctl(socket, "dpif/show"), BRIDGE);
  });
  afterAll(async () => {
    await down({ name });
  });

  const bucket = (port: number, ttl: number) => ({
    weight: 0,
    watchPort: 0,
    watchGroup: 0,
    actions: [
      { kind: "mod_nw_ttl", ttl },
      { kind: "output", port, maxLen: 0 },
    ] as const,
  });
  const groups = [{ groupId: GROUP, groupType: 0, buckets: [bucket(1, 7), bucket(2, 8)] }];

  const named = cases.map(([what, flows, asked = TCP, states = []]) => ({ what, flows, asked: packet(asked), states }));

  test.each(named)("$what", async ({ flows, asked, states }) => {
    await lab.ovs.ofctlWith("OpenFlow13", ["replace-flows", BRIDGE, "-"], { input: `${flows.join("\n")}\n` });
    const next = states.length === 0 ? [] : ["--ct-next", "trk,est,rpl"];
    const text = await unixctl(socket, "ofproto/trace", [BRIDGE, traceArgument(asked), ...next]);
    const trace = simulator(flows.map(flow), groups)(asked, answering(states));
    const seen = {
      node: "",
      packet: "",
      switchArguments: [],
      assumptions: [],
      passes: trace.passes.map((p) => ({
        from: p.from,
        conntrack: null,
        steps: p.steps.map((s) => ({ table: s.tableId, cookie: String(s.flow?.cookie ?? 0n) }) as never),
        final: formatMatch(exactMatch(stateOf(p.final))),
      })),
      outputs: trace.outputs.map((o) => ({ port: "", ofport: o.port, packet: "", changed: {} })),
      punts: trace.punts.map(() => ({ class: "", purpose: "" })),
      learned: [],
      dropped: null,
      unknown: [],
    };
    expect(trace.unknown).toEqual([]);
    expect(disagreements(seen, readTrace(text), ofports), text).toEqual([]);
  });

  test("this switch hashes as the recorded one did", async () => {
    const lines = readFileSync(new URL("../../fixtures/multipath.txt", import.meta.url), "utf8")
      .trim()
      .split("\n");
    const actions = lines.flatMap((l) => /^# (\S+,\d+,\w+,\d+,\d+)$/.exec(l)?.[1] ?? []);
    const input = `actions=${actions.map((a, i) => `multipath(${a},NXM_NX_REG${i}[])`).join(",")}\n`;
    await lab.ovs.ofctlWith("OpenFlow13", ["replace-flows", BRIDGE, "-"], { input });
    const vectors = lines.filter((l) => l.includes(" | ")).map((l) => l.split(" | "));
    expect(vectors.length).toBeGreaterThan(10);
    for (const [match = "", registers] of vectors) {
      const [pass] = readTrace(await unixctl(socket, "ofproto/trace", [BRIDGE, match]));
      const got = Object.entries(pass?.final ?? {}).filter(([field]) => /^reg\d+$/.test(field));
      expect(got.map(([r, value]) => `${r}=${value}`).join(" "), match).toBe(registers);
    }
  });
});
