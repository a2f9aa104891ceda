import { describe, expect, test } from "vitest";
import { formatMatch } from "../../../openflow/text/match.ts";
import { CtState } from "../../../pipeline/ct-state.ts";
import { answering, knownConnections } from "../../../pipeline/simulate/conntrack.ts";
import { simulator } from "../../../pipeline/simulate.ts";
import { flow, packet } from "../../support/flows.ts";

const TCP =
  "in_port=1,tcp,dl_src=02:00:00:00:00:01,dl_dst=02:00:00:00:00:02,nw_src=10.0.0.1,nw_dst=10.0.0.2,nw_ttl=64,tp_src=1000,tp_dst=80";

const run = (flows: readonly string[], what = TCP, groups: Parameters<typeof simulator>[1] = []) =>
  simulator(flows.map(flow), groups)(packet(what));
/** The packet at the end of the first pass. */
const finalOf = (actions: string, what = TCP) => run([`ip actions=${actions}`], what).passes[0]?.final;
const visited = (trace: ReturnType<typeof run>) => trace.passes.map((p) => p.steps.map((s) => s.tableId));

describe("look-ups", () => {
  test("the highest priority that matches wins", () => {
    const trace = run([
      "priority=1 actions=output:1",
      "priority=9,udp actions=output:2",
      "priority=5,tcp,nw_dst=10.0.0.0/24 actions=output:3",
    ]);
    expect(trace.outputs.map((o) => o.port)).toEqual([3]);
  });

  test("a table without a matching flow drops", () => {
    const trace = run(["tcp actions=goto_table:7", "table=7,udp actions=output:2"]);
    expect(visited(trace)).toEqual([[0, 7]]);
    expect(trace.dropped).toBe("No flow of table 7 matches.");
  });

  test("a flow without actions drops", () => {
    expect(run(["actions=drop"]).dropped).toBe("Dropped in table 0.");
  });

  test("fields that share bits are one: arp_spa does not match IP, xreg0 is reg0 and reg1", () => {
    expect(run(["arp,arp_spa=10.0.0.1 actions=output:2"]).outputs).toEqual([]);
    const trace = run([
      "ip actions=set_field:0x100000002->xreg0,goto_table:1",
      "table=1,reg0=1,reg1=2 actions=output:2",
    ]);
    expect(trace.outputs).toHaveLength(1);
  });
});

describe("writing fields", () => {
  test("set_field, whole and masked", () => {
    expect(finalOf("set_field:10.9.9.9->ip_dst")).toMatchObject({ ip_dst: 0x0a09_0909 });
    expect(finalOf("set_field:0xff->reg3,set_field:0x00/0x0f->reg3")).toMatchObject({ reg3: 0xf0 });
  });
  test("load and move of bits leave the other bits", () => {
    expect(finalOf("load:0xffff->NXM_NX_REG0[],load:0->NXM_NX_REG0[4..7]")).toMatchObject({ reg0: 0xff0f });
    expect(finalOf("move:NXM_OF_TCP_SRC[0..3]->NXM_NX_REG1[4..7]")).toMatchObject({ reg1: (1000 & 15) << 4 });
  });
  test("push and pop are a stack; an empty one changes nothing", () => {
    const swapped = finalOf("push:NXM_OF_IP_SRC[],push:NXM_OF_IP_DST[],pop:NXM_OF_IP_SRC[],pop:NXM_OF_IP_DST[]");
    expect(swapped).toMatchObject({ ip_src: 0x0a00_0002, ip_dst: 0x0a00_0001 });
    expect(finalOf("pop:NXM_OF_IP_SRC[]")).toMatchObject({ ip_src: 0x0a00_0001 });
  });
  test("dec_ttl counts down, and stops at the last hop with a copy for the controller", () => {
    expect(finalOf("dec_ttl")).toMatchObject({ nw_ttl: 63 });
    const trace = run(["ip actions=dec_ttl,output:2"], TCP.replace("nw_ttl=64", "nw_ttl=1"));
    expect(trace.outputs).toEqual([]);
    expect(trace.punts).toHaveLength(1);
  });
  test("write_metadata and mod_nw_ttl", () => {
    expect(finalOf("mod_nw_ttl:9")).toMatchObject({ nw_ttl: 9 });
    const trace = run(["actions=write_metadata:0x12/0xff,goto_table:1", "table=1,metadata=0x12 actions=output:2"]);
    expect(trace.outputs).toHaveLength(1);
  });
  test("multipath writes the link and says so", () => {
    const trace = run(["ip actions=multipath(symmetric_l4,1024,modulo_n,64,0,NXM_NX_REG1[0..5])"]);
    const link = trace.passes[0]?.final.reg1;
    expect(trace.passes[0]?.steps[0]?.notes).toEqual([`NXM_NX_REG1[0..5] is now 0x${link?.toString(16)}`]);
  });
});

describe("sending", () => {
  test("each output has the packet as it was then", () => {
    const { outputs } = run(["ip actions=output:2,set_field:9->nw_ttl,output:3,LOCAL"]);
    expect(outputs.map((o) => [o.port, o.fields.nw_ttl])).toEqual([
      [2, 64],
      [3, 9],
      [0xffff_fffe, 9],
    ]);
  });
  test("not to the ingress port by number, but by IN_PORT", () => {
    const skipped = run(["actions=output:1"]);
    expect(skipped.outputs).toEqual([]);
    expect(skipped.dropped).toMatch(/Port 1 is where the packet came from/);
    expect(run(["actions=IN_PORT"]).outputs.map((o) => o.port)).toEqual([1]);
  });
  test("a group of all copies, and what a bucket writes stays in it", () => {
    const bucket = (port: number, ttl: number) => ({
      weight: 0,
      watchPort: 0,
      watchGroup: 0,
      actions: [
        { kind: "mod_nw_ttl", ttl },
        { kind: "output", port, maxLen: 0 },
      ] as const,
    });
    const group = { groupId: 5, groupType: 0, buckets: [bucket(1, 7), bucket(2, 8), bucket(3, 9)] };
    const { outputs, passes } = run(["ip actions=group:5"], TCP, [group]);
    expect(outputs.map((o) => [o.port, o.fields.nw_ttl])).toEqual([
      [2, 8],
      [3, 9],
    ]);
    expect(passes[0]?.final.nw_ttl).toBe(64);
  });
  test("controller gives a copy with userdata and meter", () => {
    const { punts, dropped } = run(["actions=controller(userdata=00.00.00.03,meter_id=6533)"]);
    expect(punts).toMatchObject([{ userdata: Buffer.from([0, 0, 0, 3]), meterId: 6533 }]);
    expect(dropped).toBeUndefined();
    expect(run(["actions=CONTROLLER:65535"]).punts).toHaveLength(1);
  });
  test("clone works on a copy", () => {
    const { outputs } = run(["ip actions=clone(set_field:9->nw_ttl,output:2),output:3"]);
    expect(outputs.map((o) => o.fields.nw_ttl)).toEqual([9, 64]);
  });
});

describe("going on", () => {
  test("resubmit comes back, goto_table does not", () => {
    const trace = run([
      "ip actions=resubmit(,20),output:2,goto_table:5",
      "table=20,ip actions=set_field:7->nw_ttl,goto_table:21",
      "table=21 actions=output:3",
      "table=5 actions=output:4",
    ]);
    expect(visited(trace)).toEqual([[0, 20, 21, 5]]);
    expect(trace.passes[0]?.steps.map((s) => s.depth)).toEqual([0, 1, 1, 0]);
    expect(trace.outputs.map((o) => [o.port, o.fields.nw_ttl])).toEqual([
      [3, 7],
      [2, 7],
      [4, 7],
    ]);
  });
  test("resubmit as if from another port: for the look-up, not for where outputs may go", () => {
    const trace = run([
      "actions=resubmit(9,3),output:9",
      "table=3,in_port=9 actions=output:1,output:2,goto_table:4",
      "table=4,in_port=1 actions=output:3",
    ]);
    expect(trace.outputs.map((o) => o.port)).toEqual([2, 3, 9]);
  });
  test("endless resubmits end", () => {
    expect(run(["actions=resubmit(,0)"]).dropped).toBe("Too many resubmits.");
  });
  test("exit ends everything", () => {
    const trace = run(["actions=resubmit(,1),output:2", "table=1 actions=output:3,exit,output:4"]);
    expect(trace.outputs.map((o) => o.port)).toEqual([3]);
  });
  test("learn has an effect and changes nothing else", () => {
    const trace = run([
      "actions=learn(table=9,hard_timeout=30,priority=5,cookie=0x7,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],NXM_OF_VLAN_TCI[0..11],load:NXM_OF_IP_SRC[]->NXM_NX_REG5[],output:NXM_OF_IN_PORT[]),output:2",
    ]);
    const [learned] = trace.learned;
    expect(learned).toMatchObject({ tableId: 9, priority: 5, cookie: 7n, hardTimeout: 30, idleTimeout: 0 });
    expect(formatMatch(learned?.match ?? [])).toBe("vlan_tci=0x0000/0x0fff,dl_dst=02:00:00:00:00:01");
    expect(learned?.instructions).toMatchObject([
      {
        actions: [
          { kind: "load", value: 0x0a00_0001n },
          { kind: "output", port: 1 },
        ],
      },
    ]);
    expect(trace.outputs).toHaveLength(1);
  });
  test("what is not simulated is named", () => {
    expect(run(["actions=NORMAL"]).unknown).toEqual(["NORMAL"]);
    expect(run(["actions=group:77"]).unknown).toEqual(["group:77"]);
  });
});

describe("conntrack", () => {
  const balanced = [
    "tcp,ct_state=-trk actions=load:5->NXM_NX_REG2[],push:NXM_NX_REG2[],ct(commit,zone=3,nat(dst=10.7.7.7:8080),table=4,exec(set_field:0x9->ct_mark)),set_field:1->nw_ttl,output:9",
    "table=4,tcp,ct_state=+new+trk,ct_zone=3,ct_mark=9,reg2=5 actions=pop:NXM_NX_REG6[],output:2",
    "table=4,tcp,ct_state=+est-rpl+trk actions=output:3",
    "table=4,tcp,ct_state=+est+rpl+trk actions=output:4",
  ];
  const translated = { ip_dst: 0x0a07_0707, tcp_dst: 8080, nw_ttl: 64, reg6: 5 };

  test("hands the packet back later, translated, with registers and stack; the original goes on untracked", () => {
    const trace = run(balanced);
    expect(visited(trace)).toEqual([[0], [4]]);
    expect(trace.outputs.map((o) => o.port)).toEqual([9, 2]);
    expect(trace.passes[0]?.final).toMatchObject({ ip_dst: 0x0a00_0002, nw_ttl: 1 });
    expect(trace.passes[1]?.final).toMatchObject({
      ...translated,
      ct_state: CtState.new | CtState.tracked,
      ct_zone: 3,
    });
    expect(trace.passes[1]?.conntrack).toBe(
      "taken as the first packet of its connection; 10.0.0.1:1000 -> 10.0.0.2:80 becomes 10.0.0.1:1000 -> 10.7.7.7:8080",
    );
  });

  test("a state that was asked for", () => {
    const simulate = simulator(balanced.map(flow), []);
    const states = CtState.tracked | CtState.established;
    expect(simulate(packet(TCP), answering([states])).outputs.map((o) => o.port)).toEqual([9, 3]);
    expect(simulate(packet(TCP), answering([states | CtState.reply])).outputs.map((o) => o.port)).toEqual([9, 4]);
  });

  test("known connections: translated as they are, answers back to the VIP", () => {
    const connection = {
      zone: 3,
      proto: 6,
      original: { src: 0x0a00_0001, dst: 0x0a00_0002, srcPort: 1000, dstPort: 80 },
      reply: { src: 0x0a08_0808, dst: 0x0a00_0001, srcPort: 99, dstPort: 1000 },
    };
    const simulate = simulator(balanced.map(flow), []);
    const there = simulate(packet(TCP), knownConnections([connection]));
    expect(there.passes[1]?.final).toMatchObject({ ip_dst: 0x0a08_0808, tcp_dst: 99 });
    const answer = "in_port=2,tcp,nw_src=10.8.8.8,nw_dst=10.0.0.1,tp_src=99,tp_dst=1000,nw_ttl=64";
    const back = simulate(packet(answer), knownConnections([connection]));
    expect(back.outputs.map((o) => o.port)).toEqual([9, 4]);
    expect(back.passes[1]?.final).toMatchObject({ ip_src: 0x0a00_0002, tcp_src: 80, ip_dst: 0x0a00_0001 });
  });

  test("without a table it only tracks, and ct_clear forgets", () => {
    expect(visited(run(["tcp actions=ct(commit,zone=1)"]))).toEqual([[0]]);
    const trace = run([
      "tcp,ct_state=-trk actions=ct(table=1)",
      "table=1 actions=ct_clear,goto_table:2",
      "table=2,ct_state=-trk actions=output:2",
    ]);
    expect(trace.outputs).toHaveLength(1);
  });

  test("source translation, and protocols without ports", () => {
    const [, pass] = run(
      ["ip actions=ct(commit,nat(src=1.2.3.4),table=1)", "table=1 actions=output:2"],
      "in_port=1,icmp,nw_src=10.0.0.1,nw_dst=10.0.0.2,icmp_type=8",
    ).passes;
    expect(pass?.final).toMatchObject({ ip_src: 0x0102_0304, icmp_type: 8 });
  });

  test("endless recirculation ends", () => {
    expect(run(["tcp actions=ct(table=0)"]).passes.length).toBeLessThan(100);
  });
});
