import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Deadlines } from "../../../controller/neighbour/deadlines.ts";
import { DEFAULT_LIMITS, NeighbourTable } from "../../../controller/neighbour/table.ts";
import { WaitingPackets } from "../../../controller/neighbour/waiting.ts";
import { type Host, keyOf, macOf, network, timesOf } from "./network.ts";

const MAC = 0x02000000000a;
const frame = (name: string): Buffer => Buffer.from(name);
const wanted = { kind: "wanted" } as const;
const used = { kind: "use", inUse: true } as const;
const host = (ip: number): Host => ({ ip, mac: MAC + ip, port: 1, alive: true });

describe("news", () => {
  test.each([
    ["a hint", { kind: "hint", mac: MAC, port: 1 }],
    ["a reply", { kind: "reply", mac: MAC, port: 1 }],
    ["a port", { kind: "port_down", port: 1 }],
    ["a reset", { kind: "reset" }],
    ["no use", { kind: "use", inUse: false }],
  ] as const)("%s about an address that nobody asked for is not remembered", (_name, event) => {
    const net = network([]);
    net.event(1, event);
    expect(net.table.entries()).toEqual([]);
    expect(net.table.nextDeadline()).toBeUndefined();
  });

  test.each([0, 0xffffffffffff, 0x01005e000001])("an answer with the MAC %d is none", (mac) => {
    const net = network([]);
    net.event(1, used);
    net.event(1, { kind: "reply", mac, port: 1 });
    expect(macOf(net, 1)).toBeUndefined();
    expect(net.table.counters.replies).toBe(0);
  });
});

describe("packets that wait", () => {
  test("are sent in order when the MAC is known; at most three, the oldest is dropped", () => {
    const net = network([host(1)]);
    for (const name of ["a", "b", "c", "d"]) net.packet(1, frame(name));
    net.run(100);
    const [sent] = net.log.filter(({ effect }) => effect.kind === "send");
    expect(sent?.effect).toMatchObject({ mac: MAC + 1, port: 1, frames: ["b", "c", "d"].map(frame) });
    expect(net.table.counters.queueDrops).toBe(1);
    net.packet(1, frame("e"));
    expect(net.log.at(-1)?.effect).toMatchObject({ kind: "send", frames: [frame("e")] });
  });

  test("are dropped and counted when nobody answers", () => {
    const net = network([]);
    net.packet(1, frame("a"));
    net.packet(1, frame("b"));
    net.run(10_000);
    expect(timesOf(net, "send")).toEqual([]);
    expect(net.table.counters.queueDrops).toBe(2);
    expect(net.table.entries()).toEqual([]);
  });

  test("do not outlast the hope for a member that is asked for ever", () => {
    const net = network([]);
    net.event(1, used);
    net.packet(1, frame("a"));
    net.run(10_000);
    expect(net.table.entries()).toMatchObject([{ queued: 0, nud: { state: "failed" } }]);
    expect(net.table.counters.queueDrops).toBe(1);
  });

  test("are bounded in all: the oldest of all makes room", () => {
    const net = network([1, 2, 3].map(host), { limits: { queueTotal: 2 } });
    for (const ip of [1, 2, 3]) net.packet(ip, frame(String(ip)));
    expect(net.table.entries().map(({ queued }) => queued)).toEqual([0, 1, 1]);
    net.run(100);
    const sent = net.log.flatMap(({ effect }) => (effect.kind === "send" ? effect.frames : []));
    expect(sent.map(String)).toEqual(["2", "3"]);
    expect(net.table.counters.queueDrops).toBe(1);
  });

  test("are the newest of each owner and the newest of all", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 60 }), (owners) => {
        const waiting = new WaitingPackets<number>(3, 7);
        let model: (readonly [number, number])[] = [];
        let dropped = 0;
        for (const [number, owner] of owners.entries()) {
          dropped += waiting.add(owner, frame(String(number)));
          model.push([owner, number]);
          if (model.filter(([it]) => it === owner).length > 3) {
            const oldest = model.findIndex(([it]) => it === owner);
            model = model.filter((_, index) => index !== oldest);
          }
          if (model.length > 7) model = model.slice(1);
          expect(waiting.size).toBe(model.length);
        }
        expect(dropped).toBe(owners.length - model.length);
        for (const owner of new Set(owners)) {
          const left = model.filter(([it]) => it === owner).map(([, number]) => String(number));
          expect(waiting.take(owner).map(String)).toEqual(left);
        }
        expect(waiting.size).toBe(0);
      }),
    );
  });
});

describe("room", () => {
  test("the one wanted longest ago makes room; those in use and permanent ones stay", () => {
    const net = network([1, 2, 3, 4, 5, 6].map(host), { limits: { unused: 3 } });
    net.event(1, used);
    net.event(2, { kind: "permanent", mac: MAC, port: 1 });
    for (const ip of [3, 4, 5]) net.packet(ip, frame("x"));
    net.run(100);
    net.packet(3, frame("y"));
    net.packet(6, frame("z"));
    net.run(200);
    expect(net.table.entries().map(({ key }) => key.ip)).toEqual([1, 2, 3, 5, 6]);
    expect(net.table.counters.evictions).toBe(1);
    expect(timesOf(net, "published", 4)).toEqual([5, 100]);
  });

  test("a scan takes no more than half of it from hosts that answer", () => {
    const net = network(
      Array.from({ length: 100 }, (_, ip) => host(ip)),
      { limits: { unused: 100 } },
    );
    for (let ip = 0; ip < 100; ip++) net.event(ip, wanted);
    net.run(100);
    for (let ip = 1_000; ip < 3_000; ip++) {
      net.run(net.now() + 1);
      net.event(ip, wanted);
      expect(net.table.entries().length).toBeLessThanOrEqual(100);
    }
    const left = net.table.entries().filter(({ nud }) => nud.state === "reachable");
    expect(left.map(({ key }) => key.ip)).toEqual(Array.from({ length: 50 }, (_, index) => 50 + index));
  });

  test("a newcomer finds room among hosts that answer", () => {
    const net = network([1, 2].map(host), { limits: { unused: 1 } });
    net.packet(1, frame("a"));
    net.run(100);
    net.packet(2, frame("b"));
    net.run(200);
    expect([macOf(net, 1), macOf(net, 2)]).toEqual([undefined, MAC + 2]);
  });
});

describe("the limit of questions", () => {
  const most = (times: readonly number[], windowMs: number): number =>
    Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + windowMs).length));

  test("over all next hops: the burst at once, then the rate", () => {
    const solicits = { ...DEFAULT_LIMITS.solicits, inUse: { everyMs: 10, burst: 20 } };
    const net = network([], { limits: { solicits } });
    for (let ip = 0; ip < 300; ip++) net.event(ip, used);
    expect(timesOf(net, "solicit").length).toBe(20);
    net.run(10_000);
    const asked = timesOf(net, "solicit");
    for (const windowMs of [10, 100, 1_000, 5_000]) {
      expect(most(asked, windowMs), `in ${windowMs} ms`).toBeLessThanOrEqual(20 + windowMs / 10);
    }
    // Nothing of the rate is lost either, and all have their turn.
    expect(asked.length).toBe(1_020);
    const turns = Array.from({ length: 300 }, (_, ip) => timesOf(net, "solicit", ip).length);
    expect([Math.min(...turns), Math.max(...turns)]).toEqual([3, 4]);
    expect(net.table.counters.heldBack).toBeLessThan(1_400);
  });

  test("for one next hop: a storm of claims makes one question a second", () => {
    const net = network([host(1)]);
    net.event(1, used);
    for (let now = 10; now <= 60_000; now += 10) {
      net.run(now);
      net.event(1, { kind: "hint", mac: 0x020000000100 + (now % 7), port: 2 });
    }
    const asked = timesOf(net, "solicit");
    for (const windowMs of [100, 1_000, 10_000]) {
      expect(most(asked, windowMs)).toBeLessThanOrEqual(5 + windowMs / 1_000);
    }
    expect(macOf(net, 1)).toBe(MAC + 1);
    expect(timesOf(net, "published").length).toBe(1);
  });

  test("a scan of unused addresses does not keep a moved member from being found", () => {
    const member = host(1);
    const net = network([member], {
      limits: { solicits: { ...DEFAULT_LIMITS.solicits, unused: { everyMs: 20, burst: 20 } } },
    });
    net.event(1, used);
    net.run(5);
    member.mac = MAC;
    let ip = 10;
    for (let now = 10; now <= 10_000; now += 5) {
      net.run(now);
      net.event(ip++, wanted);
    }
    expect(net.table.counters.heldBack).toBeGreaterThan(100);
    expect(timesOf(net, "published", 1)[1]).toBeLessThanOrEqual(6_100);
    expect(macOf(net, 1)).toBe(MAC);
  });
});

describe("deadlines", () => {
  test("come in order, each as it was set last", () => {
    const operations = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 50 })));
    fc.assert(
      fc.property(operations, fc.integer({ min: 0, max: 60 }), (list, now) => {
        const current = new Map<number, number>();
        const deadlines = new Deadlines<number>((owner) => current.get(owner));
        for (const [owner, at] of list) {
          current.set(owner, at);
          deadlines.add(owner, at);
        }
        expect(deadlines.next()).toBe(current.size === 0 ? undefined : Math.min(...current.values()));
        const taken: number[] = [];
        for (let it = deadlines.takeDue(now); it !== undefined; it = deadlines.takeDue(now)) taken.push(it);
        const times = taken.map((owner) => current.get(owner)!);
        expect(times).toEqual([...times].sort((a, b) => a - b));
        const due = [...current].filter(([, at]) => at <= now).map(([owner]) => owner);
        expect([...new Set(taken)].sort()).toEqual(due.sort());
      }),
    );
  });

  test("of a table are those of its entries", () => {
    const table = new NeighbourTable();
    expect(table.nextDeadline()).toBeUndefined();
    table.handle(keyOf(1), used, 0, 0);
    table.handle(keyOf(2), used, 10, 0);
    expect(table.nextDeadline()).toBe(1_000);
    table.handle(keyOf(1), { kind: "reply", mac: MAC, port: 1 }, 20, 0);
    expect(table.nextDeadline()).toBe(1_010);
    table.handle(keyOf(2), { kind: "permanent", mac: MAC }, 30, 0);
    expect(table.nextDeadline()).toBe(5_020);
  });
});
