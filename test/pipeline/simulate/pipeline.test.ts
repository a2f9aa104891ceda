import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compile } from "../../../pipeline/compile.ts";
import { cookie } from "../../../pipeline/cookies.ts";
import { assumePacket, type Question, QuestionError } from "../../../pipeline/simulate/assume.ts";
import { knownConnections } from "../../../pipeline/simulate/conntrack.ts";
import { answerTo } from "../../../pipeline/simulate/reply.ts";
import type { SimulatedFlow } from "../../../pipeline/simulate/tables.ts";
import { simulator, simulatorOf } from "../../../pipeline/simulate.ts";
import { poolLayout } from "../../../pipeline/slots.ts";
import { flow } from "../../support/flows.ts";
import { ip, mac, seedState } from "../../support/topology.ts";

const state = seedState(64);
const program = compile(state);
const simulate = simulatorOf(program);
const question = (src: string, dst: string, over: Partial<Question> = {}): Question => ({
  src: ip(src),
  dst: ip(dst),
  proto: "tcp",
  srcPort: 40_000,
  dstPort: 80,
  ttl: 64,
  ...over,
});
const ask = (src: string, dst: string, over: Partial<Question> = {}) =>
  assumePacket(state, [], question(src, dst, over));
const memberPorts = new Map([
  [10, "10.20.0.2"],
  [11, "10.20.0.3"],
  [20, "10.30.0.2"],
  [21, "10.30.0.3"],
]);

/** What table 0 learns of the sender, as a switch would hold it. */
const learnedBy = (packet: Parameters<typeof simulate>[0]): readonly SimulatedFlow[] => simulate(packet).learned;

describe("the seed network", () => {
  test("every connection to the VIP reaches exactly one member, the one its slot is with, and always the same", () => {
    const layout = poolLayout(state.loadBalancers[0]!.pools[0]!, state.health);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 254 }), fc.integer({ min: 1, max: 65_535 }), (host, srcPort) => {
        const { packet } = ask(`192.168.5.${host === 20 || host === 21 ? 1 : host}`, "192.168.5.21", { srcPort });
        const trace = simulate(packet);
        expect(trace.outputs).toHaveLength(1);
        const [{ port, fields }] = trace.outputs as [(typeof trace.outputs)[0]];
        expect(fields).toMatchObject({ ip_dst: ip(memberPorts.get(port) ?? "0.0.0.0"), tcp_dst: 8080, nw_ttl: 63 });
        expect(layout[Number(fields.reg1 ?? 0)]).toBe(fields.reg2);
        expect(simulate(packet)).toEqual(trace);
      }),
      { numRuns: 100 },
    );
  });

  test("the answer of a member comes back to the client from the VIP, from either kind of segment", () => {
    for (const [src, vip, port] of [
      ["192.168.5.13", "192.168.5.21", "pub0"],
      ["10.20.0.10", "10.20.0.100", "cli2"],
    ] as const) {
      for (let srcPort = 1000; srcPort < 1020; srcPort++) {
        const { packet } = ask(src, vip, { srcPort, port });
        const { outputs, connections } = simulate(packet);
        const back = simulator<SimulatedFlow>([...program.flows, ...learnedBy(packet)], program.groups)(
          answerTo(outputs[0]!),
          knownConnections(connections),
        );
        expect(back.outputs.map((o) => o.port)).toEqual([packet.in_port]);
        expect(back.outputs[0]?.fields).toMatchObject({
          ip_src: ip(vip),
          tcp_src: 80,
          ip_dst: ip(src),
          tcp_dst: srcPort,
        });
      }
    }
  });

  test("a member that calls itself is called by the VIP, and answered by the VIP", () => {
    let [toItself, toOthers] = [0, 0];
    for (let srcPort = 1000; srcPort < 1040; srcPort++) {
      const { packet } = ask("10.20.0.2", "10.20.0.100", { srcPort });
      const { outputs, connections } = simulate(packet);
      const own = outputs[0]?.port === packet.in_port;
      expect(outputs[0]?.fields.ip_src).toBe(ip(own ? "10.20.0.100" : "10.20.0.2"));
      if (!own) toOthers++;
      if (!own) continue;
      toItself++;
      const back = simulate(answerTo(outputs[0]!), knownConnections(connections));
      expect(back.outputs).toMatchObject([
        {
          port: packet.in_port,
          fields: { ip_src: ip("10.20.0.100"), tcp_src: 80, ip_dst: packet.ip_src, tcp_dst: srcPort },
        },
      ]);
    }
    expect([toItself > 0, toOthers > 0]).toEqual([true, true]);
  });

  test("the answer to a ping is an echo reply", () => {
    const { packet } = ask("10.20.0.2", "10.30.0.2", { proto: "icmp" });
    const answer = answerTo(simulate(packet).outputs[0]!);
    expect(answer).toMatchObject({ icmp_type: 0, icmp_code: 0, ip_src: ip("10.30.0.2"), in_port: 20 });
  });
});

describe("a question", () => {
  test("takes port and MACs from what is known", () => {
    expect(ask("10.20.0.2", "10.30.0.2")).toEqual({
      assumptions: [],
      packet: {
        in_port: 10,
        eth_src: mac("02:00:00:14:00:02"),
        eth_dst: mac("02:42:0a:14:00:01"),
        eth_type: 0x0800,
        ip_src: ip("10.20.0.2"),
        ip_dst: ip("10.30.0.2"),
        nw_ttl: 64,
        nw_proto: 6,
        tcp_src: 40_000,
        tcp_dst: 80,
      },
    });
  });

  test("neighbours speak to each other directly", () => {
    expect(ask("10.20.0.2", "10.20.0.3").packet.eth_dst).toBe(mac("02:00:00:14:00:03"));
    expect(ask("10.20.0.2", "10.20.0.255").packet.eth_dst).toBe(0xffff_ffff_ffff);
    expect(ask("10.20.0.2", "10.20.0.77").assumptions).toEqual([
      "The MAC of 10.20.0.77 is not known: 02:00:00:00:00:ff is made up.",
    ]);
  });

  test("says what it assumes of strangers, who come in by an uplink if there is one", () => {
    const { packet, assumptions } = ask("10.20.0.10", "10.20.0.100");
    expect(packet.in_port).toBe(2);
    expect(assumptions).toEqual([
      "No port is known for 10.20.0.10: taken to come in by p2 of segment p2.",
      "The MAC of 10.20.0.10 is not known: 02:00:00:00:00:fe is made up.",
    ]);
  });

  test("knows clients that the switch has learned", () => {
    const learned = {
      ...flow("table=21,priority=90,ip,nw_dst=10.20.0.10 actions=load:0x20000140a0a->NXM_OF_ETH_DST[],output:12"),
    };
    const flows = [{ ...learned, cookie: cookie("learned-adjacency", { kind: "port", id: 12 }) }];
    expect(assumePacket(state, flows, question("10.20.0.10", "10.20.0.100"))).toMatchObject({
      assumptions: [],
      packet: { in_port: 12, eth_src: 0x0200_0014_0a0a },
    });
  });

  test("comes by the router when the sender is behind a route", () => {
    const { packet } = ask("8.8.8.8", "192.168.5.21");
    expect(packet).toMatchObject({ in_port: 1, eth_src: mac("02:00:00:00:05:01") });
  });

  test("of another protocol", () => {
    expect(ask("10.20.0.2", "10.30.0.2", { proto: "udp" }).packet).toMatchObject({ nw_proto: 17, udp_src: 40_000 });
    expect(ask("10.20.0.2", "10.30.0.2", { proto: "icmp" }).packet).toMatchObject({ nw_proto: 1, icmp_type: 8 });
  });

  test("by a port or segment of choice", () => {
    expect(ask("10.20.0.2", "10.20.0.3", { port: "cli3" }).packet.in_port).toBe(22);
    expect(ask("10.20.0.2", "10.20.0.3", { segment: "p3" }).packet.in_port).toBe(3);
  });

  test("that cannot be is refused with the names there are", () => {
    expect(() => ask("1.1.1.1", "2.2.2.2", { port: "eth9" })).toThrow(/no port "eth9" \(ports: pub0, p2/);
    expect(() => ask("1.1.1.1", "2.2.2.2", { segment: "p9" })).toThrow(/no segment "p9" \(segments: public, p2, p3\)/);
    const noRoute = { ...state, routes: [] };
    expect(() => assumePacket(noRoute, [], question("1.1.1.1", "2.2.2.2"))).toThrow(QuestionError);
    const noPorts = { ...state, ports: [] };
    expect(() => assumePacket(noPorts, [], question("10.20.0.2", "2.2.2.2"))).toThrow(/has no port that is up/);
  });
});
