import type { Group } from "../bench.ts";
import { countPackets } from "../dump.ts";
import { addressOf, hostSpec } from "../facts.ts";
import { echoRequest, from, udpDatagram } from "../frames.ts";
import { badChecksums, distinct, type Seen, tcp } from "../wire.ts";
import { ping } from "./icmp.ts";

/** Between segments the node routes, inside them it does not, and it lets a machine's own way out alone. */
export const routing: Group = {
  name: "routing",
  about: "transit between segments, past the load balancer",
  async run(bench) {
    const { lab, facts } = bench;
    const client = hostSpec("client");
    const up2 = hostSpec("up2");
    const be1 = hostSpec("be1");
    const egress = "198.51.100.1";
    const hosts = ["client", "be1", "be2", "be3", "up2"] as const;
    const { wire, result } = await bench.watch(
      hosts,
      async () => {
        const [direct, transit, back] = await Promise.all([
          lab.curl("client", `http://${addressOf(be1)}:${facts.memberPort}/`, 3),
          lab.curl("be1", `http://10.30.0.2:${facts.memberPort}/`, 3),
          lab.curl("be2", `http://10.20.0.3:${facts.memberPort}/`, 3),
        ]);
        const pings = {
          transit: await ping(bench, "be1", "10.30.0.2"),
          up: await ping(bench, "client", "10.20.0.2"),
          down: await ping(bench, "be2", addressOf(client)),
          uplink: await ping(bench, "be1", addressOf(up2)),
        };
        await bench.inject("be1", [echoRequest(from(be1, egress, up2.mac), 77)]);
        await bench.pause(100);
        return { direct, transit, back, pings };
      },
      "ip",
    );
    const served = (answers: typeof result.direct) =>
      `${answers.filter((a) => a.ok).length} of ${answers.length}, ${distinct(answers.map((a) => `${a.backend} sees ${a.client}`))}`;
    bench.same("client reaches be1 directly, its address kept", "3 of 3, be1 sees 192.168.5.13", served(result.direct));
    bench.same("be1 reaches be2 through the node", "3 of 3, be2 sees 10.20.0.2", served(result.transit));
    bench.same("be2 reaches be3 through the node", "3 of 3, be3 sees 10.30.0.2", served(result.back));

    const syns = (host: (typeof hosts)[number], src: string, port: number) =>
      wire(host).filter((f) => f.tcpFlags === tcp.syn && f.ipSrc === src && f.tcpDst === port);
    const path = (frames: readonly Seen[]) => distinct(frames.map((f) => `${f.ethSrc} > ${f.ethDst} ttl ${f.ipTtl}`));
    bench.same(
      "client to be1: from the gateway's MAC, one hop counted",
      `${facts.p2.gateway.mac} > ${be1.mac} ttl 63`,
      path(syns("be1", addressOf(client), facts.memberPort)),
    );
    bench.same(
      "be1 to be2: from the gateway's MAC, one hop counted",
      `${facts.p3.gateway.mac} > ${hostSpec("be2").mac} ttl 63`,
      path(syns("be2", "10.20.0.2", facts.memberPort)),
    );
    const answers = wire("client").filter((f) => f.tcpFlags === tcp.synAck && f.ipSrc === addressOf(be1));
    bench.same(
      "be1's answers come from its own address and port, one hop counted",
      `${facts.pub.gateway.mac} > ${client.mac} ttl 63 port ${facts.memberPort}`,
      distinct(answers.map((f) => `${f.ethSrc} > ${f.ethDst} ttl ${f.ipTtl} port ${f.tcpSrc}`)),
    );
    bench.same("ping from be1 to be2", "5 of 5, ttl 63", result.pings.transit);
    bench.same("ping from client to be1", "5 of 5, ttl 63", result.pings.up);
    bench.same("ping from be2 to client", "5 of 5, ttl 63", result.pings.down);
    bench.same("ping from be1 to the uplink's router is switched", "5 of 5, ttl 64", result.pings.uplink);
    const toUplink = wire("up2").filter((f) => f.ipSrc === addressOf(be1) && f.ipDst === addressOf(up2));
    bench.same("and keeps MACs and TTL", `${be1.mac} > ${up2.mac} ttl 64`, path(toUplink));
    const out = wire("up2").filter((f) => f.ipDst === egress);
    bench.same(
      "be1's own way out leads to the uplink's router, not to the node",
      `${be1.mac} > ${up2.mac} ttl 64`,
      path(out),
    );
    const all = hosts.flatMap((host) => wire(host));
    bench.same(
      "routed frames have valid checksums",
      `0 bad of ${all.length}`,
      `${badChecksums(all).length} bad of ${all.length}`,
    );

    const miss = (name: string, priority: number, dst: string) => ({ name, priority, dst });
    for (const { name, priority, dst } of [
      miss("a packet without a route is dropped and counted", 0, "203.0.113.9"),
      miss("a subnet's broadcast address is not routed", 190, "10.20.0.255"),
      miss("multicast is not routed", 190, "239.1.2.3"),
    ]) {
      const counted = () => countPackets(lab, "table=20", (f) => f.priority === priority && f.actions === "drop");
      const before = await counted();
      await bench.inject("client", [udpDatagram(from(client, dst, facts.pub.gateway.mac), 4000, 4000)]);
      bench.same(name, "1 drop", `${(await counted()) - before} drop`);
    }
  },
};
