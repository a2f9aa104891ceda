import { describe, expect, test } from "vitest";
import type { Action } from "../../openflow/action-values.ts";
import { compile } from "../../pipeline/compile.ts";
import { parseCookie } from "../../pipeline/cookies.ts";
import { suspicionOf } from "../../pipeline/features/guard.ts";
import { fragment, type MatchRecord, matchOf, prefix } from "../../pipeline/match.ts";
import type { DesiredState, Listener, LoadBalancer, ResolvedPort } from "../../pipeline/model.ts";
import { IN_PORT } from "../../pipeline/ports.ts";
import type { CompiledFlow, Program } from "../../pipeline/program.ts";
import { puntOf } from "../../pipeline/punt.ts";
import { T } from "../../pipeline/tables.ts";
import { ip, mac, seedState } from "../support/topology.ts";

const seed = seedState(64);
const lb = seed.loadBalancers[0]!;
const withLb = (over: Partial<LoadBalancer>): DesiredState => ({ ...seed, loadBalancers: [{ ...lb, ...over }] });
const withListener = (over: Partial<Listener>): DesiredState =>
  withLb({ listeners: [{ ...lb.listeners[0]!, ...over }] });
const withPort = (name: string, over: Partial<ResolvedPort>): DesiredState => ({
  ...seed,
  ports: seed.ports.map((p) => (p.name === name ? { ...p, ...over } : p)),
});

/** Whether every field of `want` stands in the flow's match with that value. */
const matches = (flow: CompiledFlow, want: MatchRecord): boolean =>
  matchOf(want).every((w) => flow.match.some((f) => JSON.stringify(f) === JSON.stringify(w)));
const find = (p: Program, table: number, want: MatchRecord, priority?: number): readonly CompiledFlow[] =>
  p.flows.filter((f) => f.tableId === table && matches(f, want) && (priority === undefined || f.priority === priority));
const actions = (flow: CompiledFlow | undefined): readonly Action[] =>
  flow?.instructions.flatMap((i) => (i.kind === "apply_actions" ? i.actions : [])) ?? [];
const kinds = (flow: CompiledFlow | undefined): readonly string[] => actions(flow).map((a) => a.kind);
const goesTo = (flow: CompiledFlow | undefined): number | undefined =>
  flow?.instructions.flatMap((i) => (i.kind === "goto_table" ? [i.tableId] : []))[0];
const drops = (flow: CompiledFlow | undefined): boolean => flow?.instructions.length === 0;
const punts = (flow: CompiledFlow | undefined): readonly (string | undefined)[] =>
  actions(flow).flatMap((a) => (a.kind === "controller" ? [puntOf(a.userdata!)] : []));

const GW = [0, mac("02:42:c0:a8:05:14"), mac("02:42:0a:14:00:01"), mac("02:42:0a:1e:00:01")] as const;
const arp = { eth_type: 0x0806 } as const;
const tcpTo = (address: string, port: number) => ({
  eth_type: 0x0800,
  nw_proto: 6,
  ip_dst: ip(address),
  tcp_dst: port,
});

describe("a connection limit", () => {
  const opening = (p: Program) => find(p, T.listeners, tcpTo("10.20.0.100", 80), 200);

  test("is what may be learned; what was not is dropped before it has a member", () => {
    const p = compile(withListener({ connectionLimit: 7 }));
    expect(opening(p).flatMap((f) => actions(f).flatMap((a) => (a.kind === "learn" ? [a.limit] : [])))).toEqual([7]);
    expect(find(p, T.slots, { reg4: 1 }, 200).map(drops)).toEqual([true]);
  });

  test("of 0 learns nothing, where a limit of 0 would be none at all", () => {
    const p = compile(withListener({ connectionLimit: 0 }));
    expect(opening(p).map((f) => kinds(f).filter((k) => k === "learn"))).toEqual([[]]);
    expect(find(p, T.slots, { reg4: 1 }, 200).map(drops)).toEqual([true]);
  });
});

describe("table 0", () => {
  test("learns clients from host ports of their own subnet, never from uplinks", () => {
    const p = compile(seed);
    expect(find(p, T.ingress, { in_port: 10 }).map((f) => [f.priority, kinds(f)])).toEqual([
      [110, ["load", "learn", "learn", "resubmit"]],
      [100, ["load", "learn", "resubmit"]],
    ]);
    expect(find(p, T.ingress, { in_port: 2 }).map((f) => f.priority)).toEqual([100]);
  });

  test("ages what it learns by hard timeouts and limits it, each port for itself", () => {
    const s = { ...seed, segments: seed.segments.map((x) => ({ ...x, ageing: 77, learnLimit: 9 })) };
    const learns = find(compile(s), T.ingress, { in_port: 10 }, 110)
      .flatMap(actions)
      .filter((a) => a.kind === "learn");
    expect(learns.map((a) => [a.table, a.priority, a.hardTimeout, a.idleTimeout, a.limit])).toEqual([
      [T.fdb, 50, 77, 0, 9],
      [T.adjacency, 90, 77, 0, 9],
    ]);
    // A switch counts the flows of one table and cookie.
    expect(learns.map((a) => parseCookie(a.cookie)?.object)).toEqual([
      { kind: "port", id: 10 },
      { kind: "port", id: 10 },
    ]);
  });

  test("has no flow for a port that is down, and keeps it out of the flood", () => {
    const p = compile(withPort("be1", { up: false }));
    expect(find(p, T.ingress, { in_port: 10 })).toEqual([]);
    const ports = p.groups.find((g) => g.groupId === 653002)!.buckets.flatMap((b) => b.actions);
    expect(ports.map((a) => (a as { port: number }).port)).toEqual([2, 11, 12]);
  });

  test("accepts one MAC only where the operator named it", () => {
    const p = compile(withPort("cli2", { hostMac: 0x0200_0014_000a }));
    expect(find(p, T.ingress, { in_port: 12, eth_src: 0x0200_0014_000a }).map((f) => f.priority)).toEqual([110, 100]);
    expect(
      find(p, T.ingress, { in_port: 12 })
        .filter(drops)
        .map((f) => f.priority),
    ).toEqual([90]);
  });

  test("lets nobody send from our MACs, from group MACs or from our addresses", () => {
    const p = compile(seed);
    for (const own of GW.slice(1)) expect(drops(find(p, T.ingress, { eth_src: own }, 250)[0])).toBe(true);
    const group = { eth_src: { value: 0x0100_0000_0000, mask: 0x0100_0000_0000 } };
    expect(drops(find(p, T.ingress, group, 300)[0])).toBe(true);
    for (const own of ["192.168.5.20", "192.168.5.21", "10.20.0.253"]) {
      for (const spoofed of [
        { eth_type: 0x0800, ip_src: ip(own) },
        { ...arp, arp_spa: ip(own) },
      ]) {
        const flow = find(p, T.ingress, spoofed, 240)[0];
        expect(punts(flow)).toEqual(["conflict"]);
        expect(kinds(flow)).toEqual(["load", "resubmit", "controller"]);
        expect(goesTo(flow)).toBeUndefined();
      }
    }
  });
});

describe("table 2", () => {
  const counters = (p: Program) =>
    p.flows.flatMap((f) => {
      const found = suspicionOf(f);
      return found === undefined ? [] : [`${found.ofport} ${found.suspicion}`];
    });

  test("counts claims and what was not learned of each port that is up, clients where they are learned", () => {
    const ports = [seed.ports.find((p) => p.name === "be1")!, seed.ports.find((p) => p.name === "p2")!];
    expect(counters(compile({ ...seed, ports })).sort()).toEqual(
      ["10 claims", "10 clients", "10 macs", "2 claims", "2 macs"].sort(),
    );
    const down = ports.map((p) => ({ ...p, up: false }));
    expect(counters(compile({ ...seed, ports: down }))).toEqual([]);
    const segments = seed.segments.map((x) => ({ ...x, clientsLearned: false }));
    expect(counters(compile({ ...seed, segments, ports })).filter((c) => c.endsWith("clients"))).toEqual([]);
  });

  test("lets no packet end or change there", () => {
    for (const f of compile(seed).flows.filter((x) => x.tableId === T.guard)) expect(f.instructions).toEqual([]);
  });

  test("is told from flows of other tables and makers", () => {
    const one = compile(seed).flows.find((f) => suspicionOf(f) !== undefined)!;
    expect(suspicionOf({ ...one, tableId: T.ingress })).toBeUndefined();
    expect(suspicionOf({ ...one, priority: 0 })).toBeUndefined();
    expect(suspicionOf({ ...one, cookie: 7n })).toBeUndefined();
  });
});

describe("our addresses", () => {
  test("are answered for in their own segment only", () => {
    const requests = find(compile(seed), T.arp, { ...arp, arp_op: 1 });
    expect(requests.map((f) => [f.priority, f.match.find((m) => m.field === "reg0")])).toHaveLength(8);
    const vip = find(compile(seed), T.arp, { ...arp, arp_op: 1, arp_tpa: ip("10.20.0.100") });
    expect(vip).toHaveLength(1);
    expect(matches(vip[0]!, { reg0: 2 })).toBe(true);
    expect(actions(vip[0]).at(-1)).toMatchObject({ kind: "output", port: IN_PORT });
  });

  test("of a load balancer that is off are silent, and its traffic is dropped and counted", () => {
    const p = compile(withLb({ adminUp: false }));
    expect(find(p, T.arp, { ...arp, arp_tpa: ip("192.168.5.21") })).toEqual([]);
    expect(find(p, T.classify, { nw_proto: 1, ip_dst: ip("192.168.5.21") })).toEqual([]);
    expect(find(p, T.classify, tcpTo("192.168.5.21", 80))).toEqual([]);
    const rest = find(p, T.classify, { ip_dst: ip("192.168.5.21") });
    expect(rest.map((f) => [f.priority, drops(f)])).toEqual([[125, true]]);
    expect(find(p, T.slots, { reg3: 1 })).toEqual([]);
  });

  test("answer pings from their own and from other segments", () => {
    const p = compile(seed);
    const ping = { eth_type: 0x0800, nw_proto: 1, icmp_type: 8, ip_dst: ip("10.20.0.100") };
    expect(find(p, T.classify, { ...ping, reg0: 2, eth_dst: GW[2] }).map(goesTo)).toEqual([T.echo]);
    expect(find(p, T.router, ping).map(actions)).toEqual([[{ kind: "resubmit", inPort: IN_PORT, table: T.echo }]]);
  });

  test("are never routed to", () => {
    const flow = find(compile(seed), T.router, { ip_dst: ip("10.30.0.100") }, 130)[0];
    expect(drops(flow)).toBe(true);
  });
});

describe("ARP for the resolver", () => {
  test("is what answers our requests, and what next hops say of themselves", () => {
    const p = compile(seed);
    const reply = find(p, T.arp, { ...arp, reg0: 2, arp_op: 2, arp_tpa: ip("10.20.0.253") })[0];
    expect([punts(reply), goesTo(reply)]).toEqual([["arp"], undefined]);
    const hint = find(p, T.arp, { ...arp, reg0: 2, arp_spa: ip("10.20.0.2") })[0];
    expect([punts(hint), goesTo(hint)]).toEqual([["hint"], T.fdb]);
    expect(find(p, T.arp, { ...arp, reg0: 1, arp_spa: ip("192.168.5.1") })).toHaveLength(1);
    expect(find(p, T.arp, { ...arp, arp_op: 2, arp_tpa: ip("10.20.0.100") })).toEqual([]);
  });
});

describe("listeners", () => {
  test("take TTL 1 only where the member may be the client's neighbour", () => {
    const p = compile(seed);
    const ttlFlow = find(p, T.classify, { ip_dst: ip("10.20.0.100"), nw_ttl: 1 })[0]!;
    expect(find(p, T.classify, tcpTo("10.20.0.100", 80))[0]!.priority).toBeGreaterThan(ttlFlow.priority);
    expect(find(p, T.classify, tcpTo("192.168.5.21", 80))[0]!.priority).toBeLessThan(ttlFlow.priority);
    expect(punts(ttlFlow)).toEqual(["ttl"]);
    for (const left of [0, 1]) {
      const guard = find(p, T.routes, { nw_ttl: left })[0];
      expect([guard?.priority, drops(guard)]).toEqual([200, true]);
    }
  });

  test("that are off drop and count", () => {
    const p = compile(withListener({ adminUp: false }));
    expect(find(p, T.classify, tcpTo("192.168.5.21", 80)).map(drops)).toEqual([true]);
    expect(find(p, T.listeners, tcpTo("192.168.5.21", 80))).toEqual([]);
    expect(find(p, T.arp, { ...arp, arp_op: 1, arp_tpa: ip("192.168.5.21") })).toHaveLength(1);
  });

  test("serve the VIPs they name", () => {
    const p = compile(withListener({ vips: [ip("10.20.0.100")] }));
    expect(find(p, T.listeners, { tcp_dst: 80 }).map((f) => f.match.find((m) => m.field === "ip_dst"))).toEqual([
      { field: "ip_dst", value: ip("10.20.0.100") },
    ]);
    expect(find(p, T.classify, { ip_dst: ip("10.30.0.100") }, 125).map(drops)).toEqual([true]);
  });

  test("hash with UDP ports for UDP", () => {
    const hash = (s: DesiredState): unknown =>
      actions(find(compile(s), T.listeners, { ip_dst: ip("10.20.0.100") })[0]).find((a) => a.kind === "multipath");
    expect(hash(seed)).toMatchObject({ fields: "symmetric_l4", links: 64, dst: { field: "reg1", ofs: 0, nBits: 6 } });
    expect(hash(withListener({ protocol: "udp" }))).toMatchObject({ fields: "symmetric_l3l4+udp" });
  });

  test("choose slots by bits when told so", () => {
    const flow = find(compile(withListener({ slotChoice: "bits" })), T.listeners, { ip_dst: ip("10.20.0.100") })[0];
    expect(actions(flow).filter((a) => a.kind === "move")).toEqual([
      {
        kind: "move",
        src: { field: "tcp_src", ofs: 1, nBits: 3 },
        dst: { field: "reg1", ofs: 0, nBits: 3 },
      },
      { kind: "move", src: { field: "ip_src", ofs: 0, nBits: 3 }, dst: { field: "reg1", ofs: 3, nBits: 3 } },
    ]);
  });

  test("without a pool drop, or refuse when they may", () => {
    const { poolId: _, ...poolless } = lb.listeners[0]!;
    const serve = (l: Listener): CompiledFlow | undefined =>
      find(compile(withLb({ listeners: [l] })), T.listeners, tcpTo("10.20.0.100", 80))[0];
    expect(drops(serve(poolless))).toBe(true);
    expect(punts(serve({ ...poolless, emptyPolicy: "reject" }))).toEqual(["reject"]);
  });
});

describe("slots", () => {
  test("each belong to one member, and members down get none", () => {
    const p = compile({ ...seed, health: new Map([...seed.health, [1, "down"]]) });
    const owners = find(p, T.slots, { reg3: 1 }, 100).map((f) => Number((actions(f)[0] as { value: bigint }).value));
    expect(owners).toHaveLength(64);
    expect(new Set(owners)).toEqual(new Set([2, 3, 4]));
  });

  test("of an empty pool do not exist: it drops, and refuses for listeners that want that", () => {
    const empty = { ...seed, health: new Map() };
    expect(find(compile(empty), T.slots, { reg3: 1 }).map((f) => [f.priority, drops(f)])).toEqual([[10, true]]);
    const reject = { ...withListener({ emptyPolicy: "reject" }), health: new Map() };
    expect(find(compile(reject), T.slots, { reg3: 1 }).map((f) => [f.priority, punts(f)])).toEqual([
      [20, ["reject"]],
      [10, []],
    ]);
  });
});

describe("members", () => {
  test("in the client's segment skip routing", () => {
    const p = compile(seed);
    const [self, local, routed] = find(p, T.members, { reg2: 1 });
    expect(self?.priority).toBe(120);
    expect([local?.priority, actions(local).at(-1)]).toMatchObject([
      110,
      { kind: "ct", table: T.adjacency, commit: true },
    ]);
    expect(matches(local!, { reg0: 2 })).toBe(true);
    expect([routed?.priority, actions(routed).at(-1)]).toMatchObject([100, { kind: "ct", table: T.routes }]);
  });

  test("are translated back inside their segment for the protocols that are served", () => {
    const p = compile(
      withLb({ listeners: [...lb.listeners, { ...lb.listeners[0]!, id: 2, protocol: "udp", port: 53 }] }),
    );
    const back = find(p, T.replies, { reg0: 2, ip_src: ip("10.20.0.2") });
    expect(back.map((f) => f.match.find((m) => m.field === "nw_proto"))).toEqual(
      expect.arrayContaining([1, 6, 17].map((value) => ({ field: "nw_proto", value }))),
    );
    // By port and in fragments, for each protocol that has ports.
    expect(back).toHaveLength(5);
  });

  test("of two pools with one address do not clash", () => {
    const second = { ...lb.pools[0]!, id: 2, members: lb.pools[0]!.members.map((m) => ({ ...m, id: m.id + 10 })) };
    const s = withLb({
      pools: [...lb.pools, second],
      listeners: [...lb.listeners, { ...lb.listeners[0]!, id: 2, port: 81, poolId: 2 }],
    });
    const fromIt = { reg0: 2, nw_proto: 6, ip_src: ip("10.20.0.2") };
    expect(find(compile(s), T.replies, { ...fromIt, tcp_src: 8080 })).toHaveLength(1);
    expect(find(compile(s), T.replies, { ...fromIt, ...fragment })).toHaveLength(1);
  });
});

describe("fragments to a VIP", () => {
  const vip = ip("10.20.0.100");
  const udp: Listener = { ...lb.listeners[0]!, id: 2, name: "lines", protocol: "udp", port: 53 };
  const withUdp = (...over: readonly Partial<Listener>[]): Program =>
    compile(
      withLb({ listeners: [...lb.listeners, ...over.map((o, i) => ({ ...udp, id: 2 + i, port: 53 + i, ...o }))] }),
    );
  const admitted = (p: Program, port: number) =>
    find(p, T.datagrams, { eth_type: 0x0800, ct_nw_proto: 17, ct_nw_dst: vip, ct_tp_dst: port });
  const opened = (p: Program) => find(p, T.reassembled, { eth_type: 0x0800, nw_proto: 17, ip_dst: vip });

  test("are caught in both tables that lead to listeners, only for protocols that something listens on", () => {
    const caught = (p: Program) =>
      [T.classify, T.router].map((t) => find(p, t, { ...fragment, ip_dst: vip }).map((f) => f.priority));
    // TCP and UDP; beside those, in table 1, what may be members' answers to themselves.
    expect(caught(withUdp({}))[1]).toEqual([140, 140]);
    expect(caught(compile(seed))[1]).toEqual([140]);
    expect(caught(withUdp({}))[0]!.filter((priority) => priority === 140)).toHaveLength(2);
  });

  test("are for the listener of the connection's port; one that is off has no way in", () => {
    const p = withUdp({}, { adminUp: false });
    expect(admitted(p, 53).map(goesTo)).toEqual([T.reassembled]);
    expect(admitted(p, 54)).toEqual([]);
  });

  test("are admitted from the sources that the listener allows", () => {
    const source = { address: ip("192.168.5.0"), length: 24 };
    const p = withUdp({ allowedSources: [source] });
    expect(admitted(p, 53)).toHaveLength(1);
    expect(admitted(p, 53).map((f) => f.match.find((m) => m.field === "ct_nw_src"))).toEqual([
      { field: "ct_nw_src", ...prefix(source) },
    ]);
  });

  test("open no connection with a listener that counts them, unless the datagram is whole again", () => {
    const states = admitted(withUdp({ connectionLimit: 7 }), 53).map((f) =>
      f.match.flatMap((m) => (m.field === "ct_state" || m.field === "ip_frag" ? [[m.field, m.value]] : [])),
    );
    // Translated, as of a known connection; or new and no fragment.
    expect(states.map((s) => Object.fromEntries(s))).toEqual(
      expect.arrayContaining([{ ct_state: 0xa0 }, { ct_state: 0x21, ip_frag: 0 }]),
    );
    expect(states).toHaveLength(2);
  });

  test("open a connection by the client's address alone, where all listeners share a pool", () => {
    const [flow, ...others] = opened(withUdp({}, {}));
    expect(others).toEqual([]);
    expect(goesTo(flow)).toBe(T.slots);
    expect(actions(flow).at(-1)).toMatchObject({ kind: "multipath", fields: "nw_src" });
  });

  test("open none where listeners have different pools: later fragments do not tell which", () => {
    const second = { ...lb.pools[0]!, id: 2, name: "second", members: [] };
    const listeners = [...lb.listeners, udp, { ...udp, id: 3, port: 54, poolId: 2 }];
    expect(opened(compile(withLb({ listeners, pools: [...lb.pools, second] })))).toEqual([]);
  });

  test("open none where a listener has no pool", () => {
    const { poolId, ...bare } = udp;
    const listeners = [...lb.listeners, udp, { ...bare, id: 3, port: 54 }];
    expect(poolId).toBe(1);
    expect(opened(compile(withLb({ listeners })))).toEqual([]);
  });
});

describe("next hops", () => {
  const router = ip("192.168.5.1");

  test("are found by destination, and by reg5 when a route names them", () => {
    const p = compile(seed);
    expect(find(p, T.adjacency, { ip_dst: ip("10.20.0.2") }).map((f) => f.priority)).toEqual([100]);
    expect(find(p, T.adjacency, { reg5: router }).map((f) => f.priority)).toEqual([111, 110]);
  });

  test("behind the ingress port are reached by IN_PORT, where several machines may share it", () => {
    const back = find(compile(seed), T.adjacency, { reg5: router, in_port: 1 })[0];
    expect(actions(back).at(-1)).toMatchObject({ port: IN_PORT });
    expect(find(compile(seed), T.adjacency, { in_port: 10 })).toEqual([]);
  });

  test("that the operator gave hide resolved ones, and may leave the port to the FDB", () => {
    const given = { segment: 2, ip: ip("10.20.0.2"), mac: 0x0200_0000_0099 };
    const [flow, ...others] = find(compile({ ...seed, staticNeighbours: [given] }), T.adjacency, { ip_dst: given.ip });
    expect(others).toEqual([]);
    expect(actions(flow)).toMatchObject([
      { kind: "set_field", value: given.mac },
      { kind: "load", value: 2n },
    ]);
    expect(goesTo(flow)).toBe(T.fdb);
  });

  test("behind a port that is down or of another segment are not used", () => {
    expect(find(compile(withPort("be1", { up: false })), T.adjacency, { ip_dst: ip("10.20.0.2") })).toEqual([]);
    expect(find(compile(withPort("be1", { segment: 3 })), T.adjacency, { ip_dst: ip("10.20.0.2") })).toEqual([]);
  });

  test("that are unknown are asked for", () => {
    expect(punts(find(compile(seed), T.adjacency, {}, 0)[0])).toEqual(["miss"]);
  });
});

describe("routes", () => {
  test("are tried longest first, with the default route above the miss", () => {
    const p = compile(seed);
    const net = find(p, T.routes, { ip_dst: { value: ip("10.20.0.0"), mask: 0xffffff00 } })[0]!;
    const defaultRoute = find(p, T.routes, { eth_type: 0x0800 }, 100)[0]!;
    expect(net.priority).toBeGreaterThan(defaultRoute.priority);
    expect(kinds(defaultRoute)).toEqual(["load", "load", "dec_ttl", "set_field"]);
  });

  test("never carry broadcast or multicast", () => {
    const p = compile(seed);
    for (const address of ["10.20.0.255", "10.20.0.0"]) {
      expect(find(p, T.routes, { ip_dst: ip(address) }, 190).map(drops)).toEqual([true]);
    }
    expect(find(p, T.routes, { ip_dst: { value: ip("224.0.0.0"), mask: 0xf0000000 } }, 190).map(drops)).toEqual([true]);
  });
});

describe("health probes", () => {
  test("are answered to the controller, by the member and the port that was probed", () => {
    const p = compile(seed);
    const answer = { reg0: 2, ip_src: ip("10.20.0.2"), ip_dst: ip("10.20.0.253"), tcp_src: 8080 };
    expect(punts(find(p, T.classify, answer)[0])).toEqual(["probe"]);
    expect(find(p, T.classify, { tcp_src: 8080 }).filter((f) => f.priority === 195)).toHaveLength(4);
  });
});
