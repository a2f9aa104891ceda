import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Host, macOf, network, ROUND_TRIP, timesOf } from "./network.ts";

const IP = 0x0a140002;
const OLD = 0x02000000000a;
const NEW = 0x02000000000b;
const member = (): Host => ({ ip: IP, mac: OLD, port: 1, alive: true });
const used = { kind: "use", inUse: true } as const;
const frame = Buffer.from("packet");

/** Runs until the new MAC is published; ms since `from`. */
const followedAfter = (net: ReturnType<typeof network>, from: number): number => {
  for (let now = from; now <= from + 20_000; now += 5) {
    net.run(now);
    if (macOf(net, IP) === NEW) return now - from;
  }
  return Number.POSITIVE_INFINITY;
};

describe("a member whose MAC changes without a word", () => {
  test("is followed in 6 s and a round trip at worst", () => {
    const host = member();
    // Random 0: the longest time until the next question.
    const net = network([host]);
    net.event(IP, used);
    net.run(ROUND_TRIP);
    expect(macOf(net, IP)).toBe(OLD);
    host.mac = NEW;
    expect(followedAfter(net, ROUND_TRIP)).toBe(6_000 + ROUND_TRIP);
    expect(timesOf(net, "published")).toEqual([ROUND_TRIP, 6_000 + 2 * ROUND_TRIP]);
  });

  test("is followed within 10 s whenever it changes, whatever the jitter, with two answers lost", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 10, max: 12_000 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 10 }),
        (changeAt, randoms) => {
          const host = member();
          let draws = 0;
          let losses = 0;
          const net = network([host], {
            random: () => randoms[draws++ % randoms.length]!,
            isLost: () => host.mac === NEW && losses++ < 2,
          });
          net.event(IP, used);
          net.run(changeAt);
          host.mac = NEW;
          expect(followedAfter(net, changeAt)).toBeLessThanOrEqual(10_000);
          expect(losses).toBe(3);
          // It never was without a MAC: the old one stayed until the new one was known.
          expect(timesOf(net, "published").length).toBe(2);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("is followed in half a second when it announces itself", () => {
    const host = member();
    const net = network([host]);
    net.event(IP, used);
    net.run(2_000);
    host.mac = NEW;
    host.port = 2;
    net.event(IP, { kind: "hint", mac: NEW, port: 2 });
    expect(followedAfter(net, 2_000)).toBeLessThanOrEqual(500 + ROUND_TRIP);
  });

  test("that moves to another port with its MAC is followed in a round trip when it says so", () => {
    const host = member();
    const net = network([host]);
    net.event(IP, used);
    net.run(2_000);
    host.port = 2;
    net.event(IP, { kind: "hint", mac: OLD, port: 2 });
    net.run(2_000 + ROUND_TRIP);
    expect(net.table.get({ segment: 1, ip: IP })).toMatchObject({ state: "reachable", mac: OLD, port: 2 });
  });
});

describe("a member that answers", () => {
  test("never loses its MAC and costs one question each 5 s at most, 4 s at least", () => {
    for (const random of [0, 0.5, 1]) {
      const net = network([member()], { random: () => random });
      net.event(IP, used);
      net.run(600_000);
      expect(timesOf(net, "published")).toEqual([ROUND_TRIP]);
      const asked = timesOf(net, "solicit");
      const pauses = new Set(asked.slice(1).map((at, index) => at - asked[index]!));
      expect([...pauses].map((pause) => pause - ROUND_TRIP)).toEqual([5_000 - random * 1_000]);
      expect(net.log.filter(({ effect }) => effect.kind === "solicit" && effect.mode === "broadcast").length).toBe(1);
    }
  });

  test("keeps its MAC through a claim by another host, which is counted once for each claim", () => {
    const net = network([member(), { ip: IP, mac: NEW, port: 2, alive: true }]);
    net.event(IP, { kind: "adopt", mac: OLD, port: 1 });
    net.event(IP, used);
    net.run(100);
    for (let i = 1; i <= 5; i++) {
      net.event(IP, { kind: "hint", mac: NEW, port: 2 });
      net.run(i * 2_000);
    }
    expect(timesOf(net, "published")).toEqual([]);
    expect(macOf(net, IP)).toBe(OLD);
    expect(net.table.counters.conflicts).toBe(5);
  });
});

describe("a dead member", () => {
  test("loses its MAC 9 s after its last answer and gets it back within 30 s of coming back in silence", () => {
    fc.assert(
      fc.property(fc.integer({ min: 20_000, max: 600_000 }), (backAt) => {
        const host = member();
        const net = network([host]);
        net.event(IP, used);
        net.run(ROUND_TRIP);
        host.alive = false;
        net.run(backAt);
        expect(timesOf(net, "published")).toEqual([ROUND_TRIP, 9_000 + ROUND_TRIP]);
        host.alive = true;
        net.run(backAt + 30_000 + ROUND_TRIP);
        expect(macOf(net, IP)).toBe(OLD);
      }),
      { numRuns: 40 },
    );
  });

  test("gets it back within a second of the first packet that wants it, and the packet is sent on", () => {
    const host = member();
    host.alive = false;
    const net = network([host]);
    net.event(IP, used);
    net.run(600_000);
    host.alive = true;
    const asked = timesOf(net, "solicit").at(-1)!;
    net.run(Math.max(net.now(), asked + 1_000));
    const wantedAt = net.now();
    net.packet(IP, frame);
    net.run(wantedAt + ROUND_TRIP);
    expect(macOf(net, IP)).toBe(OLD);
    expect(net.log.at(-1)?.effect).toEqual({
      key: { segment: 1, ip: IP },
      kind: "send",
      mac: OLD,
      port: 1,
      frames: [frame],
    });
  });

  test("is not asked more than once a second however many packets want it", () => {
    const net = network([]);
    net.event(IP, used);
    for (let now = 0; now <= 60_000; now += 50) {
      net.run(now);
      net.packet(IP, frame);
    }
    const asked = timesOf(net, "solicit");
    expect(Math.min(...asked.slice(1).map((at, index) => at - asked[index]!))).toBeGreaterThanOrEqual(1_000);
    expect(asked.length).toBeGreaterThan(55);
  });
});

describe("a host that nobody configured", () => {
  test("keeps its MAC without a gap while it answers, for one question in 90 s", () => {
    const net = network([member()]);
    net.packet(IP, frame);
    net.run(3_600_000);
    expect(timesOf(net, "published")).toEqual([ROUND_TRIP]);
    expect(timesOf(net, "solicit").length).toBe(40);
  });

  test("is forgotten when it does not answer any more", () => {
    const host = member();
    const net = network([host]);
    net.packet(IP, frame);
    net.run(1_000);
    host.alive = false;
    net.run(100_000);
    expect(net.table.entries()).toEqual([]);
    expect(timesOf(net, "published").length).toBe(2);
  });
});

describe("a restart of the controller", () => {
  test("a thousand next hops are taken over without a change and confirmed over a second, not at once", () => {
    const hosts = Array.from({ length: 1_000 }, (_, ip): Host => ({ ip, mac: OLD + ip, port: 1, alive: false }));
    let draw = 0;
    const net = network(hosts, { random: () => (draw++ % 1_000) / 1_000 });
    // The configuration is there before the switch is, so the first questions reach nobody.
    for (const { ip } of hosts) net.event(ip, used);
    net.run(1_700);
    for (const it of hosts) {
      it.alive = true;
      net.event(it.ip, { kind: "adopt", mac: it.mac, port: it.port });
    }
    expect(hosts.every(({ ip, mac }) => macOf(net, ip) === mac)).toBe(true);
    net.run(3_700);
    expect(timesOf(net, "published")).toEqual([]);
    expect(net.table.entries().every(({ nud }) => nud.state === "reachable")).toBe(true);
    const asked = timesOf(net, "solicit").filter((at) => at >= 1_700);
    expect(asked.length).toBe(1_000);
    const perTenth = Array.from(
      { length: 10 },
      (_, i) => asked.filter((at) => Math.floor((at - 1_700) / 100) === i).length,
    );
    expect(Math.max(...perTenth)).toBeLessThanOrEqual(110);
  });

  test("a next hop that moved while nobody looked is found within 3 s", () => {
    const host: Host = { ip: IP, mac: NEW, port: 2, alive: true };
    const net = network([host], { random: () => 1 });
    net.event(IP, { kind: "adopt", mac: OLD, port: 1 });
    expect(followedAfter(net, 0)).toBeLessThanOrEqual(2_000 + ROUND_TRIP);
  });
});
