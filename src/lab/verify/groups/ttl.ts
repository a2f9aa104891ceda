import { formatIpv4 } from "../../../../openflow/packet/address.ts";
import { parseEthernet } from "../../../../openflow/packet/ethernet.ts";
import { parseIpv4, parseQuotedIpv4, transportPorts } from "../../../../openflow/packet/ipv4.ts";
import type { Group } from "../bench.ts";
import { addressOf, hostSpec } from "../facts.ts";
import { echoRequest, from, tcpSyn, udpDatagram } from "../frames.ts";
import { badChecksums, distinct, type Seen } from "../wire.ts";

/** "from 192.168.5.20 about 192.168.5.13>10.20.0.2:80 ttl 1": an ICMP time exceeded. */
function complaint(frame: Seen): string {
  const ip = parseIpv4(parseEthernet(frame.bytes)?.payload ?? Buffer.alloc(0));
  const quoted = ip && parseQuotedIpv4(ip.payload.subarray(8));
  if (quoted === undefined) return "no quote";
  const port = quoted.protocol === 1 ? "" : `:${transportPorts(quoted)?.dst}`;
  return `from ${frame.ipSrc} about ${formatIpv4(quoted.src)}>${formatIpv4(quoted.dst)}${port} ttl ${quoted.ttl}`;
}

/** Packets that may not be forwarded any more, and those that may for the last time. */
export const ttl: Group = {
  name: "ttl",
  about: "hop counts: what is routed loses one, what is switched does not",
  async run(bench) {
    const { facts } = bench;
    const client = hostSpec("client");
    const be1 = hostSpec("be1");
    const be3 = hostSpec("be3");
    const dying = { ttl: 1 };
    const viaPub = (dst: string, more: object = {}) => ({ ...from(client, dst, facts.pub.gateway.mac), ...more });
    const viaP2 = (dst: string) => ({ ...from(be1, dst, facts.p2.gateway.mac), ...dying });
    const hosts = ["client", "be1", "be2", "be3", "be4"] as const;
    const { wire } = await bench.watch(
      hosts,
      async () => {
        await bench.inject("client", [
          echoRequest(viaPub(addressOf(be1), dying), 1001),
          tcpSyn(viaPub(facts.pub.vip, dying), 41001, facts.vipPort),
          udpDatagram(viaPub("10.30.0.2", dying), 41002, 33434),
          echoRequest(viaPub(facts.pub.vip, dying), 1002),
          echoRequest(viaPub(facts.pub.gateway.ip, dying), 1003),
          echoRequest(viaPub(addressOf(be1), { ttl: 2 }), 1004),
        ]);
        await bench.inject("be1", [
          tcpSyn(viaP2("10.30.0.3"), 41003, facts.memberPort),
          echoRequest({ ...from(be1, addressOf(be3), be3.mac), ...dying }, 1005),
        ]);
        await bench.pause(300);
      },
      "ip",
    );
    const complaints = (host: (typeof hosts)[number]) =>
      wire(host)
        .filter((f) => f.icmpType === 11)
        .map(complaint)
        .sort();
    const me = addressOf(client);
    const gateway = facts.pub.gateway.ip;
    for (const [what, text] of [
      [
        "ping of a member with TTL 1: time exceeded from the gateway, original quoted",
        `from ${gateway} about ${me}>${addressOf(be1)} ttl 1`,
      ],
      [
        "SYN to the VIP with TTL 1: time exceeded, the VIP quoted and no member",
        `from ${gateway} about ${me}>${facts.pub.vip}:${facts.vipPort} ttl 1`,
      ],
      [
        "UDP traceroute with TTL 1: time exceeded, its port quoted",
        `from ${gateway} about ${me}>10.30.0.2:33434 ttl 1`,
      ],
    ] as const) {
      const found = complaints("client");
      bench.check(what, text, found.includes(text) ? text : found.join(", ") || "nothing", found.includes(text));
    }
    bench.same("exactly one answer to each", "3 messages", `${complaints("client").length} messages`);
    bench.same(
      "between private segments, too",
      `from ${facts.p2.gateway.ip} about ${addressOf(be1)}>10.30.0.3:${facts.memberPort} ttl 1`,
      complaints("be1").join(", ") || "nothing",
    );
    const late = (["be1", "be2", "be4"] as const)
      .flatMap((host) => wire(host))
      .filter((f) => f.ipTtl === 0 || (f.ipSrc === me && f.tcpDst === facts.memberPort && f.tcpSrc === 41001));
    bench.same("nothing with TTL 1 is forwarded", "0 packets", `${late.length} packets`);
    const replies = wire("client").filter((f) => f.icmpType === 0);
    bench.same(
      "pings of the node with TTL 1 are answered",
      `${gateway} ${facts.pub.vip}`,
      distinct(replies.map((f) => f.ipSrc).filter((src) => src !== addressOf(be1))),
    );
    const last = wire("be1").filter((f) => f.icmpType === 8 && f.ipSrc === me);
    bench.same("a packet with TTL 2 arrives with TTL 1", "ttl 1", distinct(last.map((f) => `ttl ${f.ipTtl}`)));
    const switched = wire("be3").filter((f) => f.icmpType === 8 && f.ipSrc === addressOf(be1));
    bench.same("inside a segment TTL 1 is enough", "ttl 1", distinct(switched.map((f) => `ttl ${f.ipTtl}`)));
    const errors = hosts.flatMap((host) => wire(host)).filter((f) => f.icmpType === 11);
    bench.same("time exceeded messages have valid checksums", "0 bad", `${badChecksums(errors).length} bad`);
  },
};
