import type { HostName } from "../../topology.ts";
import type { Bench, Group } from "../bench.ts";
import { countPackets, dumpFlows } from "../dump.ts";
import { addressOf, hostSpec } from "../facts.ts";
import { arpReply, arpRequest, echoRequest, experimentFrame, from, tcpSyn, udpDatagram } from "../frames.ts";

interface Forgery {
  readonly name: string;
  readonly host: HostName;
  readonly frame: Uint8Array;
  readonly table: number;
  readonly priority: number;
  /** Part of the counting flow's match. */
  readonly match: string;
}

/** What pretends to be the node, and what the node does not serve, goes nowhere and is counted. */
export const isolation: Group = {
  name: "isolation",
  about: "forged sources and closed ports: dropped and counted",
  async run(bench) {
    const { facts, lab } = bench;
    const { p2, p3, pub } = facts;
    const be3 = hostSpec("be3");
    const cli2 = hostSpec("cli2");
    const client = hostSpec("client");
    const as = (src: string, srcMac = be3.mac) => ({ srcMac, src, dstMac: cli2.mac, dst: addressOf(cli2) });
    const viaPub = (dst: string) => from(client, dst, pub.gateway.mac);
    const spoof = { host: "be3", table: 0, priority: 240 } as const;
    const forgeries: readonly Forgery[] = [
      {
        ...spoof,
        name: "a packet that claims to be the gateway",
        frame: echoRequest(as(p2.gateway.ip), 1),
        match: `nw_src=${p2.gateway.ip}`,
      },
      {
        ...spoof,
        name: "a packet that claims to be the VIP",
        frame: tcpSyn(as(p2.vip), 4001, 5001),
        match: `nw_src=${p2.vip}`,
      },
      {
        ...spoof,
        name: "a packet that claims to be the other segment's VIP",
        frame: tcpSyn(as(p3.vip), 4001, 5001),
        match: `nw_src=${p3.vip}`,
      },
      {
        ...spoof,
        name: "a packet that claims to be the prober",
        frame: tcpSyn(as(p2.probe!), 4001, 5001),
        match: `nw_src=${p2.probe}`,
      },
      {
        ...spoof,
        name: "gratuitous ARP for the gateway",
        frame: arpRequest(be3.mac, p2.gateway.ip, p2.gateway.ip),
        match: `arp_spa=${p2.gateway.ip}`,
      },
      {
        ...spoof,
        name: "gratuitous ARP for the VIP",
        frame: arpRequest(be3.mac, p2.vip, p2.vip),
        match: `arp_spa=${p2.vip}`,
      },
      {
        ...spoof,
        name: "an ARP answer in the gateway's name",
        frame: arpReply(be3.mac, p2.gateway.ip, cli2),
        match: `arp_spa=${p2.gateway.ip}`,
      },
      {
        ...spoof,
        priority: 250,
        name: "a frame from the gateway's MAC",
        frame: experimentFrame(p2.gateway.mac, cli2.mac),
        match: `dl_src=${p2.gateway.mac}`,
      },
      {
        ...spoof,
        priority: 300,
        name: "a frame from a multicast MAC",
        frame: experimentFrame("03:00:00:00:00:01", cli2.mac),
        match: "dl_src=01:00:00:00:00:00",
      },
      {
        host: "client",
        table: 1,
        priority: 125,
        name: "UDP to a VIP port without a listener",
        frame: udpDatagram(viaPub(pub.vip), 4002, 53),
        match: `nw_dst=${pub.vip}`,
      },
      {
        host: "client",
        table: 1,
        priority: 125,
        name: "TCP to a VIP port without a listener",
        frame: tcpSyn(viaPub(pub.vip), 4003, 81),
        match: `nw_dst=${pub.vip}`,
      },
      {
        host: "cli2",
        table: 1,
        priority: 125,
        name: "TCP to a private VIP port without a listener",
        frame: tcpSyn(from(cli2, p2.vip, p2.gateway.mac), 4004, 81),
        match: `nw_dst=${p2.vip}`,
      },
      {
        host: "client",
        table: 15,
        priority: 130,
        name: "TCP to the node's own address",
        frame: tcpSyn(viaPub(pub.gateway.ip), 4005, 22),
        match: `nw_dst=${pub.gateway.ip}`,
      },
      {
        host: "client",
        table: 15,
        priority: 130,
        name: "TCP to a prober's address",
        frame: tcpSyn(viaPub(p2.probe!), 4006, 8080),
        match: `nw_dst=${p2.probe}`,
      },
      {
        host: "client",
        table: 15,
        priority: 130,
        name: "TCP to a closed port of a private VIP",
        frame: tcpSyn(viaPub(p2.vip), 4007, 81),
        match: `nw_dst=${p2.vip}`,
      },
    ];
    const everybody = lab.hosts.map((host) => host.name);
    const { wire } = await bench.watch(everybody, async () => {
      for (const forgery of forgeries) await tryForgery(bench, forgery);
      await bench.pause(100);
    });
    const ports = [5001, 53, 81, 22];
    const leaked = everybody.flatMap((host) =>
      wire(host).filter(
        (f) =>
          // What the namespaces send themselves is not there: the frames were given to the switch directly.
          (f.ethSrc === be3.mac && [p2.gateway.ip, p2.vip].includes(f.arpSpa ?? f.ipSrc ?? "")) ||
          f.ethType === 0x88b5 ||
          ports.includes(f.tcpDst ?? f.udpDst ?? 0) ||
          (f.tcpSrc !== undefined && f.tcpSrc >= 4001 && f.tcpSrc <= 4007),
      ),
    );
    bench.same("none of these frames reaches anybody", "0 frames", `${leaked.length} frames`);
    const learned = (await dumpFlows(lab, "table=25")).filter((f) => f.priority === 50);
    const macs = facts.segments.map((s) => s.gateway.mac);
    bench.same(
      "no MAC of the node is in the FDB",
      "0 entries",
      `${learned.filter((f) => macs.some((mac) => f.match.includes(mac))).length} entries`,
    );
    const adjacencies = (await dumpFlows(lab, "table=21")).filter((f) =>
      facts.segments.some((s) =>
        s.own.some((ip) => f.match.includes(`nw_dst=${ip},`) || f.match.endsWith(`nw_dst=${ip}`)),
      ),
    );
    bench.same("no address of the node is a next hop", "0 flows", `${adjacencies.length} flows`);
    const neighbours = await lab.exec("cli2", ["ip", "neigh", "show", p2.vip]);
    const [answer] = await lab.curl("cli2", `http://${p2.vip}/`);
    const known = /lladdr (\S+)/.exec(neighbours)?.[1] ?? p2.gateway.mac;
    bench.same(
      "the victim still knows the true MAC and is served",
      `${p2.gateway.mac} served`,
      `${known} ${answer?.ok ? "served" : answer?.error}`,
    );
  },
};

async function tryForgery(bench: Bench, { name, host, frame, table, priority, match }: Forgery): Promise<void> {
  const count = () =>
    countPackets(bench.lab, `table=${table}`, (f) => f.priority === priority && f.match.includes(match));
  const before = await count();
  await bench.inject(host, [frame]);
  const counted = (await count()) - before;
  bench.same(name, "1 packet dropped", `${counted} packet dropped`);
}
