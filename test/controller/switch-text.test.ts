import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readConnection } from "../../controller/conntrack-table.ts";
import { splitList } from "../../controller/ovs-text.ts";
import { datapathOutputs, readPortNumbers, readTrace, traceArgument } from "../../controller/switch-trace.ts";
import { packet } from "../support/flows.ts";

const recorded = (name: string): string =>
  readFileSync(new URL(`../../fixtures/ofproto-trace/${name}.txt`, import.meta.url), "utf8");

describe("ofproto/trace", () => {
  test("a packet through conntrack has two passes", () => {
    const passes = readTrace(recorded("balanced"));
    expect(passes.map((p) => p.steps.map((s) => s.tableId))).toEqual([
      [0, 1, 10, 11, 12],
      [20, 21],
    ]);
    expect(passes[0]?.steps[4]).toMatchObject({ flow: "ip,reg2=0x1, priority 100", cookie: 0x4c42_0806_0000_0001n });
    expect(passes[0]?.steps[2]?.lines).toContain("-> NXM_NX_REG1[0..5] is now 0x1");
    expect(passes[1]?.final).toMatchObject({ nw_dst: "10.20.0.2", nw_ttl: "63", tp_dst: "8080", reg7: "0x2" });
    expect(passes[1]?.datapathActions).toMatch(/,5$/);
  });

  test("tables inside a resubmit, a table without a flow, an unchanged packet", () => {
    const [pass] = readTrace(recorded("resubmit"));
    expect(pass?.steps.map((s) => [s.tableId, s.flow])).toEqual([
      [0, "ip,in_port=1, priority 9"],
      [7, ""],
      [3, "priority 0"],
    ]);
    expect(pass?.final).toMatchObject({ nw_dst: "192.168.5.21" });
  });

  test("no trace at all", () => {
    expect(readTrace("Bad openflow flow syntax: x\n")).toEqual([]);
  });

  test("the argument has full names, so that ports go with their protocol", () => {
    expect(traceArgument(packet("in_port=1,udp,nw_src=10.0.0.1,tp_src=5"))).toBe(
      "in_port=1,eth_type=0x800,ip_src=10.0.0.1,nw_proto=17,udp_src=5",
    );
  });
});

describe("datapath actions", () => {
  test.each([
    ["drop", [], 0],
    ["set(eth(src=02:42:0a:14:00:01,dst=02:00:0a:14:00:02)),set(ipv4(ttl=63)),5", [5], 0],
    ["sample(sample=100.0%,actions(meter(1),userspace(pid=0,controller(reason=1,max_len=65535)))),9,4,5", [9, 4, 5], 1],
    ["clone(set(ipv4(ttl=1)),3),userspace(pid=0,controller(reason=1)),4", [3, 4], 1],
    ["ct(commit,zone=1,nat(dst=10.20.0.2:8080)),recirc(0x1)", [], 0],
  ])("%s", (text, ports, punts) => {
    expect(datapathOutputs(text)).toEqual({ ports, punts });
  });

  test("port numbers of one bridge", () => {
    const text =
      "netdev@ovs-netdev: hit:48 missed:8\n  br-a:\n    br-a 65534/1: (tap)\n    p1 1/2: (system)\n  br-b:\n    p2 1/3: (system)\n";
    expect([...readPortNumbers(text, "br-a")]).toEqual([
      [1, 0xffff_fffe],
      [2, 1],
    ]);
    expect([...readPortNumbers(text, "br-b")]).toEqual([[3, 1]]);
    expect(readPortNumbers(text, "br").size).toBe(0);
  });

  test("lists are cut outside of parentheses only", () => {
    expect(splitList("a,b(c,d(e,f)),,g")).toEqual(["a", "b(c,d(e,f))", "g"]);
    expect(splitList("")).toEqual([]);
  });
});

describe("connections", () => {
  test("TCP through a VIP", () => {
    expect(
      readConnection(
        "tcp,orig=(src=192.168.5.13,dst=192.168.5.21,sport=56916,dport=80),reply=(src=10.30.0.2,dst=192.168.5.13,sport=8080,dport=56916),zone=1,mark=7,timeout=27,protoinfo=(state=SYN_SENT)",
      ),
    ).toEqual({
      proto: "tcp",
      original: { src: "192.168.5.13", dst: "192.168.5.21", sport: 56_916, dport: 80 },
      reply: { src: "10.30.0.2", dst: "192.168.5.13", sport: 8080, dport: 56_916 },
      zone: 1,
      state: "SYN_SENT",
      timeout: 27,
      mark: 7,
    });
  });

  test("ICMP has no ports, UDP no state", () => {
    expect(
      readConnection(
        "icmp,orig=(src=10.0.0.1,dst=10.0.0.2,id=5,type=8,code=0),reply=(src=10.0.0.2,dst=10.0.0.1,id=5,type=0,code=0)",
      ),
    ).toMatchObject({ proto: "icmp", zone: 0, state: null, timeout: null, original: { sport: null, dport: null } });
    expect(
      readConnection(
        "udp,orig=(src=1.1.1.1,dst=2.2.2.2,sport=1,dport=2),reply=(src=2.2.2.2,dst=1.1.1.1,sport=2,dport=1),zone=4",
      ),
    ).toMatchObject({ proto: "udp", zone: 4, state: null });
  });

  test("anything else is none", () => {
    for (const line of ["", "tcp", "tcp,orig=(src=1.1.1.1,dst=2.2.2.2)", "hello, world"]) {
      expect(readConnection(line)).toBeUndefined();
    }
  });
});
