import { Buffer } from "node:buffer";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NeighbourResolver } from "../../../controller/neighbour/resolver.ts";
import { formatIpv4 } from "../../../openflow/packet/address.ts";
import { describePacket } from "../../../openflow/packet/describe.ts";
import { ip, mac, seedState } from "../../support/topology.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const MEMBER = { segment: 2, ip: ip("10.20.0.2"), mac: mac("02:00:00:14:00:02"), ofport: 10 };

/** A resolver whose frames are written down; asks and packets as short text. */
const start = () => {
  const sent: string[] = [];
  const dropped: number[] = [];
  const changed = vi.fn();
  const asks = (frame: Buffer): string => {
    const it = describePacket(frame)!;
    return `${it.arpSpa} asks ${it.ethDst} for ${it.arpTpa}`;
  };
  const resolver = new NeighbourResolver({
    log: pino({ level: "silent" }),
    broadcast: (segment, frame) => sent.push(`segment ${segment}: ${asks(frame)}`),
    unicast: (ofport, frame) => sent.push(`port ${ofport}: ${asks(frame)}`),
    forward: (ofport, frame) => sent.push(`port ${ofport}: ${frame.toString("hex")}`),
    changed,
    conflict: (segment, what) => sent.push(`segment ${segment}: ${what}`),
    dropped: (count) => dropped.push(count),
    portNumber: (name) => (name === "be1" ? 10 : undefined),
  });
  const stateOf = (address: number) => resolver.views().find((view) => view.ip === address)?.state;
  return { resolver, sent, dropped, changed, stateOf };
};

const ASK_MEMBER = "segment 2: 10.20.0.1 asks ff:ff:ff:ff:ff:ff for 10.20.0.2";

test("members and routers are asked for at once, and confirmed by unicast before 5 s are over", () => {
  const { resolver, sent, changed } = start();
  resolver.setTopology(seedState());
  expect(sent.map((line) => line.split(" for ")[1]).sort()).toEqual(
    ["10.20.0.2", "10.20.0.3", "10.30.0.2", "10.30.0.3", "192.168.5.1"].sort(),
  );
  expect(sent).toContain(ASK_MEMBER);
  resolver.heard({ ...MEMBER, solicited: true });
  expect(changed).toHaveBeenCalledTimes(1);
  expect(resolver.published()).toEqual([MEMBER]);
  vi.advanceTimersByTime(5_001);
  expect(sent).toContain("port 10: 10.20.0.1 asks 02:00:00:14:00:02 for 10.20.0.2");
  expect(resolver.published()).toEqual([MEMBER]);
  resolver.stop();
});

test("a packet waits for the answer and leaves with the MAC", () => {
  const { resolver, sent } = start();
  resolver.setTopology({ ...seedState(), loadBalancers: [], routes: [] });
  resolver.wanted({ segment: 2, ip: MEMBER.ip, frame: Buffer.from("000000000000aaaa", "hex") });
  expect(sent).toEqual([ASK_MEMBER]);
  resolver.heard({ ...MEMBER, solicited: true });
  expect(sent[1]).toBe("port 10: 020000140002aaaa");
  resolver.stop();
});

test("packets that nobody takes are reported, and a packet for an unknown segment is left alone", () => {
  const { resolver, dropped, stateOf } = start();
  resolver.setTopology({ ...seedState(), loadBalancers: [], routes: [] });
  resolver.wanted({ segment: 9, ip: 1, frame: Buffer.alloc(8) });
  expect(resolver.views()).toEqual([]);
  resolver.wanted({ segment: 2, ip: MEMBER.ip, frame: Buffer.alloc(8) });
  expect(stateOf(MEMBER.ip)).toBe("incomplete");
  vi.advanceTimersByTime(3_500);
  expect(dropped).toEqual([1]);
  expect(stateOf(MEMBER.ip)).toBeUndefined();
  resolver.stop();
});

test("a neighbour that is given is not asked for; when it no longer is, it is confirmed", () => {
  const { resolver, sent, stateOf } = start();
  const given = { segment: 2, ip: MEMBER.ip, mac: MEMBER.mac, port: "be1" };
  resolver.setTopology({ ...seedState(), staticNeighbours: [given] });
  expect(sent).not.toContain(ASK_MEMBER);
  expect(stateOf(MEMBER.ip)).toBe("permanent");
  resolver.setTopology(seedState());
  expect(stateOf(MEMBER.ip)).toBe("probe");
  expect(sent.at(-1)).toBe("port 10: 10.20.0.1 asks 02:00:00:14:00:02 for 10.20.0.2");
  resolver.stop();
});

test("a switch that came back is taken over; what it lacks is asked for again", () => {
  const { resolver, sent, changed } = start();
  resolver.setTopology(seedState());
  const other = { segment: 2, ip: ip("10.20.0.3"), mac: mac("02:00:00:14:00:03"), ofport: 11 };
  resolver.heard({ ...other, solicited: true });
  sent.length = 0;
  changed.mockClear();
  resolver.adopt([MEMBER]);
  expect(resolver.published()).toEqual([MEMBER]);
  expect(sent).toContain("segment 2: 10.20.0.1 asks ff:ff:ff:ff:ff:ff for 10.20.0.3");
  expect(sent).not.toContain(ASK_MEMBER);
  // The one that the switch has lost is a change, the one it holds is none.
  expect(changed).toHaveBeenCalledTimes(1);
  resolver.stop();
});

test("a port that goes down and comes up has the hosts behind it asked for", () => {
  const { resolver, sent, stateOf } = start();
  resolver.setTopology(seedState());
  resolver.heard({ ...MEMBER, solicited: true });
  resolver.portDown(10);
  expect(resolver.published()).toEqual([]);
  vi.advanceTimersByTime(20_000);
  expect(stateOf(MEMBER.ip)).toBe("failed");
  sent.length = 0;
  resolver.portUp(2);
  vi.advanceTimersByTime(1_000);
  expect(sent.filter((line) => line === ASK_MEMBER).length).toBeGreaterThan(0);
  expect(stateOf(ip("192.168.5.1"))).toBe("failed");
  resolver.heard({ ...MEMBER, solicited: true });
  expect(resolver.published()).toEqual([MEMBER]);
  resolver.stop();
});

test("two owners of an address are told, and the first is believed", () => {
  const { resolver, sent } = start();
  resolver.setTopology(seedState());
  resolver.heard({ ...MEMBER, solicited: true });
  resolver.heard({ ...MEMBER, mac: mac("02:00:00:14:00:99"), ofport: 12, solicited: true });
  expect(sent.at(-1)).toBe(
    `segment 2: ${formatIpv4(MEMBER.ip)} is claimed by 02:00:00:14:00:02 and 02:00:00:14:00:99; the first is believed`,
  );
  expect(resolver.published()).toEqual([MEMBER]);
  resolver.stop();
});
