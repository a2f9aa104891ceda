import { expect, test } from "vitest";
import { countSlots, isProgrammed, movedSlots, parseFlows } from "../../../src/lab/verify/dump.ts";

const dump = `OFPST_FLOW reply (OF1.3) (xid=0x2):
 cookie=0x4c42010000000000, duration=12.5s, table=0, n_packets=3, n_bytes=180, priority=300,dl_src=01:00:00:00:00:00/01:00:00:00:00:00 actions=drop
 cookie=0x4c42200100000002, duration=1.25s, table=25, n_packets=7, n_bytes=420, hard_timeout=300, priority=50,reg0=0x2,dl_dst=02:00:00:14:00:02 actions=output:10
 cookie=0x5eed, duration=0.1s, table=1, n_packets=0, n_bytes=0, send_flow_rem udp,tp_dst=9999 actions=drop
 cookie=0x4c420d0000000000, duration=9s, table=25, n_packets=0, n_bytes=0, priority=0 actions=drop
`;

test("flows are read with counters, match and actions", () => {
  const [first, learned, foreign, last] = parseFlows(dump);
  expect(first).toEqual({
    table: 0,
    priority: 300,
    cookie: 0x4c42010000000000n,
    packets: 3,
    seconds: 12.5,
    match: "dl_src=01:00:00:00:00:00/01:00:00:00:00:00",
    actions: "drop",
  });
  expect(learned).toMatchObject({ priority: 50, match: "reg0=0x2,dl_dst=02:00:00:14:00:02", actions: "output:10" });
  expect(foreign).toMatchObject({ priority: 32768, match: "udp,tp_dst=9999", cookie: 0x5eedn });
  expect(last).toMatchObject({ priority: 0, match: "" });
});

test("programmed flows are neither learned nor somebody else's", () => {
  expect(parseFlows(dump).map(isProgrammed)).toEqual([true, false, false, true]);
});

test("slots that lead elsewhere or nowhere have moved", () => {
  const before = new Map([
    [0, "be1"],
    [1, "be2"],
    [2, "be1"],
  ] as const);
  const after = new Map([
    [0, "be2"],
    [1, "be2"],
  ] as const);
  expect(movedSlots(before, after)).toEqual([
    { from: "be1", to: "be2" },
    { from: "be1", to: undefined },
  ]);
  expect(countSlots(before)).toBe("be1 2, be2 1");
  expect(countSlots(new Map())).toBe("no slots");
});
