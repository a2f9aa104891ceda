import { describe, expect, test } from "vitest";
import type { TraceView } from "../../controller/api/trace-views.ts";
import type { SwitchPass } from "../../controller/switch-trace.ts";
import { disagreements } from "../../src/trace-agreement.ts";

const step = (table: number, cookie: string) =>
  ({
    table,
    cookie,
    tableName: "",
    depth: 0,
    flow: "",
    feature: "",
    object: "",
    why: "",
    notes: [],
    registers: {},
  }) as const;

const view: TraceView = {
  node: "lb1",
  packet: "",
  switchArguments: [],
  assumptions: [],
  passes: [
    {
      from: 0,
      conntrack: null,
      steps: [step(0, "0x1"), step(1, "0x2")],
      final: "tcp,reg0=0x1,nw_dst=10.0.0.2,ct_state=+new+trk",
    },
  ],
  outputs: [{ port: "be1", ofport: 10, packet: "", changed: {} }],
  punts: [],
  learned: [],
  dropped: null,
  unknown: [],
};

const pass: SwitchPass = {
  steps: [
    { tableId: 0, flow: "", cookie: 1n, lines: [] },
    { tableId: 1, flow: "", cookie: 2n, lines: [] },
  ],
  final: {
    recirc_id: "0x1",
    eth: "",
    ct_state: "new|trk",
    tcp: "",
    reg0: "0x1",
    vlan_tci: "0x0000",
    nw_dst: "10.0.0.2",
    nw_tos: "0",
    nw_frag: "no",
  },
  datapathActions: "set(ipv4(ttl=63)),3",
};
const ofports = new Map([[3, 10]]);

describe("disagreements", () => {
  test("none when both say the same, however they print it", () => {
    expect(disagreements(view, [pass], ofports)).toEqual([]);
  });

  test.each([
    ["another table", { ...pass, steps: pass.steps.slice(0, 1) }, "pass 1: tables 0 1 here, 0 there"],
    [
      "another flow",
      { ...pass, steps: [{ ...pass.steps[0]!, cookie: 9n }, pass.steps[1]!] },
      "pass 1: table 0: cookie 0x1 here, 0x9 there",
    ],
    [
      "another field",
      { ...pass, final: { ...pass.final, nw_dst: "10.0.0.3" } },
      "pass 1: nw_dst is 10.0.0.2 here and 10.0.0.3 there",
    ],
    ["a field more", { ...pass, final: { ...pass.final, reg5: "0x7" } }, "pass 1: reg5 is nothing here and 0x7 there"],
    ["another port", { ...pass, datapathActions: "4" }, "ports 10 here, datapath port 4 there"],
    ["no port", { ...pass, datapathActions: "drop" }, "ports 10 here, none there"],
    [
      "a copy for the controller",
      { ...pass, datapathActions: "3,userspace(pid=0,controller(reason=1))" },
      "0 copies for the controller here, 1 there",
    ],
  ])("%s", (_, other, text) => {
    expect(disagreements(view, [other], ofports)).toEqual([text]);
  });

  test("none in what a switch that only traces cannot learn", () => {
    const counter = (cookie: string) => [step(0, "0x1"), step(2, cookie)];
    const ours = {
      ...view,
      passes: [{ ...view.passes[0]!, steps: counter("0x4c42130000000000"), final: "tcp,reg0=0x1,reg6=0xd" }],
    };
    const theirs = (reg6: string, cookie: bigint): SwitchPass => ({
      ...pass,
      steps: [pass.steps[0]!, { ...pass.steps[1]!, tableId: 2, cookie }],
      final: { tcp: "", reg0: "0x1", reg6 },
    });
    expect(disagreements(ours, [theirs("0x1", 0x4c42_1302_0000_000cn)], ofports)).toEqual([]);
    expect(disagreements(ours, [theirs("0x10", 0x4c42_0102_0000_000cn)], ofports)).toEqual([
      "pass 1: table 2: cookie 0x4c42130000000000 here, 0x4c4201020000000c there",
      "pass 1: reg6 is 0x1 here and 0x10 there",
    ]);
  });

  test("another number of passes", () => {
    expect(disagreements(view, [pass, { ...pass, datapathActions: "" }], ofports)).toEqual(["1 passes here, 2 there"]);
  });
});
