import { describe, expect, test } from "vitest";
import { canonicalMatch } from "../../openflow/canonical.ts";
import { checkMessage } from "../../openflow/check-message.ts";
import { encode } from "../../openflow/codec.ts";
import type { Message } from "../../openflow/messages/all.ts";
import { formatFlow, parseFlow } from "../../openflow/text/flow.ts";
import { formatGroup, parseGroup } from "../../openflow/text/group.ts";
import { formatMeter, parseMeter } from "../../openflow/text/meter.ts";
import { ParseError } from "../../openflow/text/parse-error.ts";
import { formatMessage } from "../../openflow/text/print.ts";
import { messagesOf } from "../support/messages.ts";
import { rng } from "../support/rng.ts";

function failure(run: () => unknown): ParseError {
  try {
    run();
  } catch (e) {
    if (e instanceof ParseError) return e;
    throw e;
  }
  throw new Error("did not fail");
}

/** What ovs-ofctl would print for the flow-mod. */
const printed = (text: string, command?: Parameters<typeof parseFlow>[1]): string =>
  formatMessage({ type: "flow_mod", xid: 2, ...parseFlow(text, command) }).replace(/^.*?: /, "");

describe("flows", () => {
  test.each([
    ["actions=drop", "ADD actions=drop"],
    ["priority=0,actions=NORMAL", "ADD priority=0 actions=NORMAL"],
    [
      "table=11,priority=100,reg1=14,actions=load:3->NXM_NX_REG2[],goto_table:12",
      "ADD table:11 priority=100,reg1=0xe actions=load:0x3->NXM_NX_REG2[],goto_table:12",
    ],
    [
      "tcp,nw_dst=10.0.0.1,tp_dst=80 idle_timeout=5 hard_timeout=9 cookie=0x7,send_flow_rem actions=output:2",
      "ADD tcp,nw_dst=10.0.0.1,tp_dst=80 cookie:0x7 idle:5 hard:9 send_flow_rem actions=output:2",
    ],
    [
      "udp,check_overlap,reset_counts,no_packet_counts,no_byte_counts,actions=drop",
      "ADD udp check_overlap reset_counts no_packet_counts no_byte_counts actions=drop",
    ],
    ["importance=4,ip,actions=drop", "ADD ip actions=drop"],
    ["udp,actions=mod_tp_dst:53", "ADD udp actions=set_field:53->udp_dst"],
    [
      " cookie=0x5, duration=3.1s, table=4, n_packets=1, n_bytes=98, idle_age=3, priority=9,ip actions=drop",
      "ADD table:4 priority=9,ip cookie:0x5 actions=drop",
    ],
  ])("%s", (text, expected) => {
    expect(printed(text)).toBe(expected);
  });

  test("to change or delete name every table, and select by cookie", () => {
    expect(printed("cookie=0x10/0xf0,ip,out_port=3", "delete")).toBe(
      "DEL table:255 ip cookie:0x10/0xf0 out_port:3 actions=drop",
    );
    expect(printed("cookie=5/-1", "deleteStrict")).toBe(
      "DEL_STRICT table:255 cookie:0x5/0xffffffffffffffff actions=drop",
    );
    expect(parseFlow("cookie=5,out_group=9", "delete")).toMatchObject({
      cookie: 5n,
      cookieMask: 2n ** 64n - 1n,
      outGroup: 9,
    });
    expect(printed("table=1,cookie=1/1,actions=drop", "modify")).toBe("MOD table:1 cookie:0x1/0x1 actions=drop");
    expect(parseFlow("actions=drop", "modifyStrict")).toMatchObject({ command: 2, tableId: 255, cookieMask: 0n });
  });

  test("printed are read as they were", () => {
    for (let seed = 1; seed < 200; seed++) {
      const m = messagesOf(rng(seed)).find((x) => x.type === "flow_mod");
      if (m?.type !== "flow_mod") throw new Error("no sample");
      const flow: Message = {
        ...m,
        command: 0,
        cookieMask: 0n,
        instructions: m.instructions.filter((i) => i.kind !== "write_metadata"),
      };
      if (checkMessage(flow)) continue;
      expect({ type: "flow_mod", xid: m.xid, ...parseFlow(formatFlow(flow)) }).toEqual({
        ...flow,
        match: canonicalMatch(flow.match),
      });
    }
  });

  test.each([
    ["table=256,actions=drop", 6],
    ["priority=x,actions=drop", 9],
    ["ip,nw_src=10.0.0,actions=drop", 10],
    ["ip,bogus=1,actions=drop", 3],
    ["cookie=1/2,actions=drop", 9],
    ["ip,actions=output:1,bogus:2", 20],
    ["ip", 2],
    ["out_port=nowhere,actions=drop", 9],
  ])("%s fails at column %i", (text, column) => {
    expect(failure(() => parseFlow(text)).column).toBe(column);
  });

  test("to delete have no actions", () => {
    expect(failure(() => parseFlow("ip,actions=drop", "delete")).column).toBe(2);
  });

  test("say what is possible", () => {
    expect(failure(() => parseFlow("prioritty=5,actions=drop")).expected).toContain("priority");
    expect(failure(() => parseFlow("ip")).expected).toEqual(["actions=…"]);
  });
});

describe("groups", () => {
  test.each([
    [
      "group_id=9,type=all,bucket=actions=output:1,bucket=output:2",
      "group_id=9,type=all,bucket=actions=output:1,bucket=actions=output:2",
    ],
    [
      "group_id=1 type=select bucket=weight:100,output:1 bucket=weight=0,actions=drop",
      "group_id=1,type=select,bucket=weight:100,actions=output:1,bucket=weight:0,actions=drop",
    ],
    [
      "group_id=2,type=fast_failover,bucket=watch_port:3,actions=output:3,bucket=watch_group:4,group:4",
      "group_id=2,type=ff,bucket=watch_port:3,actions=output:3,bucket=watch_group:4,actions=group:4",
    ],
    [
      "group_id=3,type=select,selection_method=hash,fields(ip_src),bucket=bucket_id:1,output:1",
      "group_id=3,type=select,bucket=actions=output:1",
    ],
    [
      "group_id=4,type=indirect,bucket=ct(commit,zone=1,nat(dst=10.0.0.1:80),table=3)",
      "group_id=4,type=indirect,bucket=actions=ct(commit,table=3,zone=1,nat(dst=10.0.0.1:80))",
    ],
    ["group_id=5,type=all", "group_id=5,type=all"],
  ])("%s", (text, expected) => {
    const g = parseGroup(text);
    const canonical = formatGroup(g.groupId, g.groupType, g.buckets);
    expect(canonical).toBe(expected);
    expect(parseGroup(canonical)).toEqual(g);
    expect(checkMessage({ type: "group_mod", xid: 1, command: 0, ...g })).toBeUndefined();
    expect(formatMessage(encode({ type: "group_mod", xid: 1, command: 0, ...g }))).toContain(` ADD ${expected}`);
  });

  test.each([
    ["type=all,bucket=output:1", 0],
    ["group_id=1,bucket=output:1", 10],
    ["group_id=1,type=any", 16],
    ["group_id=x,type=all", 9],
    ["group_id=1,type=all,bogus=3", 20],
    ["group_id=1,type=all,bucket=weight:70000,output:1", 34],
    ["group_id=1,type=all,bucket=output:1,bucket=bogus:1", 43],
    ["group_id=1,type=ff,bucket=watch_port:x,output:1", 37],
  ])("%s fails at column %i", (text, column) => {
    expect(failure(() => parseGroup(text)).column).toBe(column);
  });
});

describe("meters", () => {
  test.each([
    ["meter=1,kbps,band=type=drop,rate=100", "meter=1 kbps bands=\ntype=drop rate=100"],
    [
      "meter=controller pktps burst stats bands=type=drop rate=100 burst_size=10",
      "meter=controller pktps burst stats bands=\ntype=drop rate=100 burst_size=10",
    ],
    ["meter=3,band=type=dscp_remark,rate=5,prec_level=2", "meter=3 kbps bands=\ntype=dscp_remark rate=5 prec_level=2"],
    [
      "meter=4,pktps,bands=type=drop,rate=1,type=dscp_remark,rate=2,prec_level=1",
      "meter=4 pktps bands=\ntype=drop rate=1\ntype=dscp_remark rate=2 prec_level=1",
    ],
  ])("%s", (text, expected) => {
    const m = parseMeter(text);
    expect(formatMeter(m.meterId, m.flags, m.bands)).toBe(expected);
    expect(parseMeter(expected)).toEqual(m);
    expect(checkMessage({ type: "meter_mod", xid: 1, command: 0, ...m })).toBeUndefined();
  });

  test.each([
    ["kbps,bands=type=drop rate=1", 0],
    ["meter=1 bogus", 8],
    ["meter=1 kbps pktps", 0],
    ["meter=1 bands=rate=3", 14],
    ["meter=1 bands=type=drop", 14],
    ["meter=1 bands=type=lift rate=1", 19],
  ])("%s fails at column %i", (text, column) => {
    expect(failure(() => parseMeter(text)).column).toBe(column);
  });
});
