/** Packets of every kind that the lab's pipeline knows, with what is to become of them. */
import { expect } from "vitest";
import type { TraceView } from "../../controller/api/trace-views.ts";

interface Packet {
  readonly name: string;
  /** An exact match in ovs-ofctl's words. */
  readonly packet: string;
  /** What conntrack says at each look; new unless told. */
  readonly state?: readonly string[];
}

interface Kind {
  readonly kind: string;
  readonly packets: readonly Packet[];
  readonly outcome: (view: TraceView) => void;
}

interface Host {
  readonly port: string;
  readonly ip: string;
  readonly mac: string;
  readonly gateway: string;
}

const pubGateway = "02:42:c0:a8:05:14";
const p2Gateway = "02:42:0a:14:00:01";
const p3Gateway = "02:42:0a:1e:00:01";
const hosts = {
  client: { port: "pub0", ip: "192.168.5.13", mac: "02:00:00:00:05:0d", gateway: pubGateway },
  be1: { port: "be1", ip: "10.20.0.2", mac: "02:00:00:14:00:02", gateway: p2Gateway },
  be3: { port: "be3", ip: "10.20.0.3", mac: "02:00:00:14:00:03", gateway: p2Gateway },
  cli2: { port: "cli2", ip: "10.20.0.10", mac: "02:00:00:14:00:0a", gateway: p2Gateway },
  up2: { port: "p2", ip: "10.20.0.254", mac: "02:00:00:14:00:fe", gateway: p2Gateway },
  be2: { port: "be2", ip: "10.30.0.2", mac: "02:00:00:1e:00:02", gateway: p3Gateway },
  cli3: { port: "cli3", ip: "10.30.0.10", mac: "02:00:00:1e:00:0a", gateway: p3Gateway },
} satisfies Record<string, Host>;

const BROADCAST = "ff:ff:ff:ff:ff:ff";

interface IpOptions {
  readonly to?: string;
  readonly ttl?: number;
  readonly mac?: string;
  readonly port?: string;
}

const ip = (h: Host, dst: string, rest: string, { to, ttl = 64, mac, port }: IpOptions = {}): string =>
  `in_port=${port ?? h.port},eth_src=${mac ?? h.mac},eth_dst=${to ?? h.gateway},eth_type=0x800,ip_src=${h.ip},ip_dst=${dst},nw_ttl=${ttl},${rest}`;
const tcp = (sport: number, dport: number): string => `nw_proto=6,tcp_src=${sport},tcp_dst=${dport},tcp_flags=syn`;
const udp = (sport: number, dport: number): string => `nw_proto=17,udp_src=${sport},udp_dst=${dport}`;
const icmp = (type: number, code = 0): string => `nw_proto=1,icmp_type=${type},icmp_code=${code}`;
const arp = (h: Host, op: number, tpa: string, to = BROADCAST, tha = "00:00:00:00:00:00", spa = h.ip): string =>
  `in_port=${h.port},eth_src=${h.mac},eth_dst=${to},eth_type=0x806,arp_op=${op},arp_spa=${spa},arp_tpa=${tpa},arp_sha=${h.mac},arp_tha=${tha}`;

const MEMBER_PORTS = ["be1", "be2", "be3", "be4"];

const toOneMember = (view: TraceView): void => {
  expect(view.outputs).toHaveLength(1);
  expect(MEMBER_PORTS).toContain(view.outputs[0]?.port);
  expect(view.outputs[0]?.changed["ip_dst"]).toMatch(/^10\.[23]0\.0\.[23]$/);
};
const out =
  (...ports: readonly string[]) =>
  (view: TraceView): void =>
    expect(view.outputs.map((o) => o.port).sort()).toEqual([...ports].sort());
const punted =
  (name: string) =>
  (view: TraceView): void => {
    expect(view.punts.map((p) => p.class)).toEqual([name]);
    expect(view.outputs).toEqual([]);
  };
const dropped = (view: TraceView): void => {
  expect(view.outputs).toEqual([]);
  expect(view.punts).toEqual([]);
  expect(view.dropped).toMatch(/\w/);
};
const sentOrAsked = (view: TraceView): void => expect(view.outputs.length + view.punts.length).toBe(1);

/** Ports that differ in parity, in both bytes, and at the ends of the range. */
const SOURCE_PORTS = [1, 1024, 32_768, 32_769, 40_000, 40_001, 51_717, 65_535];

const syns = (h: Host, vip: string, dport: number): readonly Packet[] =>
  SOURCE_PORTS.map((p) => ({ name: `port ${p}`, packet: ip(h, vip, tcp(p, dport)) }));

const { client, be1, be3, cli2, up2, be2, cli3 } = hosts;

export const packetKinds: readonly Kind[] = [
  { kind: "SYN from outside to the public VIP", packets: syns(client, "192.168.5.21", 80), outcome: toOneMember },
  { kind: "SYN from a neighbour to VIP of p2", packets: syns(cli2, "10.20.0.100", 80), outcome: toOneMember },
  { kind: "SYN from a neighbour to VIP of p3", packets: syns(cli3, "10.30.0.100", 80), outcome: toOneMember },
  { kind: "SYN from another segment to VIP of p3", packets: syns(cli2, "10.30.0.100", 80), outcome: toOneMember },
  { kind: "SYN from inside to the public VIP", packets: syns(cli3, "192.168.5.21", 80), outcome: toOneMember },
  { kind: "SYN to a listener that copies bits", packets: syns(client, "192.168.5.21", 8084), outcome: toOneMember },
  {
    kind: "a member calls itself",
    packets: ["10.20.0.100", "10.30.0.100", "192.168.5.21"].map((vip) => ({
      name: `by ${vip}`,
      packet: ip(be1, vip, tcp(40_000, 8085)),
    })),
    outcome: (view) => {
      out("be1")(view);
      expect(view.outputs[0]?.changed).toMatchObject({ eth_dst: be1.mac, ip_dst: be1.ip, tcp_dst: "8080" });
      expect(view.outputs[0]?.changed["ip_src"]).toMatch(/\.100$|\.21$/);
    },
  },
  {
    kind: "a member answers itself",
    packets: [
      { name: "VIP of its segment", packet: ip(be1, "10.20.0.100", tcp(8080, 40_000)), state: ["est,rpl", "est,rpl"] },
      { name: "public VIP", packet: ip(be1, "192.168.5.21", tcp(8080, 40_000)), state: ["est,rpl", "est,rpl"] },
    ],
    outcome: out("be1"),
  },
  {
    kind: "a member calls from the port it serves on",
    packets: [{ name: "by the VIP of its segment", packet: ip(be1, "10.20.0.100", tcp(8080, 80)) }],
    outcome: toOneMember,
  },
  {
    kind: "UDP to a listener",
    packets: SOURCE_PORTS.flatMap((p) => [
      { name: `client, port ${p}`, packet: ip(client, "192.168.5.21", udp(p, 53)) },
      { name: `cli2, port ${p}`, packet: ip(cli2, "10.20.0.100", udp(p, 53)) },
    ]),
    outcome: toOneMember,
  },
  {
    kind: "later packets of a connection",
    packets: [{ name: "client", packet: ip(client, "192.168.5.21", tcp(40_000, 80)), state: ["est"] }],
    outcome: toOneMember,
  },
  {
    kind: "replies of members by the router",
    packets: [
      { name: "be1", packet: ip(be1, "192.168.5.13", tcp(8080, 40_000)), state: ["est,rpl"] },
      { name: "be2", packet: ip(be2, "192.168.5.13", tcp(8080, 40_000)), state: ["est,rpl"] },
      { name: "a new connection from the same port", packet: ip(be1, "192.168.5.13", tcp(8080, 80)) },
    ],
    outcome: out("pub0"),
  },
  {
    kind: "replies of members to neighbours",
    packets: [
      { name: "TCP", packet: ip(be1, "10.20.0.10", tcp(8080, 40_000), { to: cli2.mac }), state: ["est,rpl"] },
      { name: "UDP", packet: ip(be1, "10.20.0.10", udp(53, 40_000), { to: cli2.mac }), state: ["est,rpl"] },
      { name: "refusal", packet: ip(be1, "10.20.0.10", icmp(3, 3), { to: cli2.mac }), state: ["rel,rpl"] },
    ],
    outcome: out("cli2"),
  },
  {
    kind: "transit",
    packets: [
      { name: "be1 to be2", packet: ip(be1, "10.30.0.2", tcp(40_000, 22)) },
      { name: "client to be2, UDP", packet: ip(client, "10.30.0.2", udp(40_000, 123)) },
      { name: "client pings be2", packet: ip(client, "10.30.0.2", icmp(8)) },
      { name: "a protocol without ports", packet: ip(be1, "10.30.0.2", "nw_proto=89") },
    ],
    outcome: out("be2"),
  },
  {
    kind: "transit to next hops that are asked for or learned",
    packets: [
      { name: "default route", packet: ip(be1, "8.8.8.8", tcp(40_000, 443)) },
      { name: "static route through the client", packet: ip(be1, "172.16.3.4", tcp(40_000, 443)) },
      { name: "nobody there", packet: ip(client, "10.20.0.77", tcp(40_000, 443)) },
      { name: "learned client", packet: ip(be2, "10.20.0.10", udp(40_000, 443)) },
    ],
    outcome: sentOrAsked,
  },
  {
    kind: "transit to a given neighbour without a port",
    packets: [{ name: "flooded", packet: ip(client, "10.20.0.9", tcp(40_000, 22)) }],
    outcome: out("be1", "be3", "cli2", "p2"),
  },
  {
    kind: "ping of our addresses",
    packets: [
      { name: "gateway", packet: ip(client, "192.168.5.20", icmp(8)) },
      { name: "VIP", packet: ip(client, "192.168.5.21", icmp(8)) },
      { name: "probe address", packet: ip(client, "10.20.0.253", icmp(8)) },
      { name: "gateway of another segment", packet: ip(client, "10.30.0.1", icmp(8)) },
      { name: "VIP of another segment", packet: ip(client, "10.20.0.100", icmp(8)) },
      { name: "with TTL 1", packet: ip(client, "192.168.5.20", icmp(8), { ttl: 1 }) },
    ],
    outcome: (view) => {
      out("pub0")(view);
      expect(view.outputs[0]?.changed).toMatchObject({ icmp_type: "0", ip_dst: client.ip, eth_dst: client.mac });
    },
  },
  {
    kind: "ARP requests for our addresses",
    packets: [
      { name: "gateway", packet: arp(cli2, 1, "10.20.0.1") },
      { name: "VIP", packet: arp(cli2, 1, "10.20.0.100") },
      { name: "probe address", packet: arp(cli2, 1, "10.20.0.253") },
      { name: "unicast", packet: arp(cli2, 1, "10.20.0.1", p2Gateway) },
    ],
    outcome: (view) => {
      out("cli2")(view);
      expect(view.outputs[0]?.changed).toMatchObject({ arp_op: "2", arp_sha: p2Gateway, arp_tha: cli2.mac });
    },
  },
  {
    kind: "ARP that is flooded",
    packets: [
      { name: "request between machines", packet: arp(cli2, 1, "10.20.0.3") },
      { name: "for an address of another segment of ours", packet: arp(cli2, 1, "10.30.0.1") },
      { name: "gratuitous", packet: arp(cli2, 1, "10.20.0.10") },
    ],
    outcome: out("be1", "be3", "p2"),
  },
  {
    kind: "ARP of next hops",
    packets: [{ name: "gratuitous of a member", packet: arp(be1, 1, "10.20.0.2") }],
    outcome: (view) => {
      out("be3", "cli2", "p2")(view);
      expect(view.punts.map((p) => p.class)).toEqual(["hint"]);
    },
  },
  {
    kind: "ARP replies to us",
    packets: [{ name: "be1", packet: arp(be1, 2, "10.20.0.1", p2Gateway, p2Gateway) }],
    outcome: punted("arp"),
  },
  {
    kind: "ARP replies to machines",
    packets: [{ name: "cli2 to be3", packet: arp(cli2, 2, "10.20.0.3", be3.mac, be3.mac) }],
    outcome: out("be3"),
  },
  {
    kind: "frames between machines",
    packets: [
      { name: "IP", packet: ip(cli2, "10.20.0.3", tcp(40_000, 8080), { to: be3.mac }) },
      {
        name: "a protocol we do not know",
        packet: `in_port=cli2,eth_src=${cli2.mac},eth_dst=${be3.mac},eth_type=0x88b5`,
      },
    ],
    outcome: out("be3"),
  },
  {
    kind: "frames that are flooded",
    packets: [
      { name: "broadcast", packet: ip(cli2, "255.255.255.255", udp(68, 67), { to: BROADCAST }) },
      { name: "multicast", packet: ip(cli2, "224.0.0.251", udp(5353, 5353), { to: "01:00:5e:00:00:fb" }) },
      { name: "unknown unicast", packet: ip(cli2, "10.20.0.77", tcp(1, 2), { to: "02:00:00:14:00:77" }) },
      { name: "IPv6", packet: `in_port=cli2,eth_src=${cli2.mac},eth_dst=33:33:00:00:00:01,eth_type=0x86dd` },
    ],
    outcome: out("be1", "be3", "p2"),
  },
  {
    kind: "spoofed addresses",
    packets: [
      { name: "our VIP", packet: ip({ ...cli2, ip: "192.168.5.21" }, "10.20.0.3", tcp(80, 40_000)) },
      { name: "our gateway", packet: ip({ ...cli2, ip: "10.20.0.1" }, "10.20.0.3", icmp(8)) },
      { name: "our address in ARP", packet: arp(cli2, 2, "10.20.0.3", be3.mac, be3.mac, "10.20.0.1") },
    ],
    outcome: punted("conflict"),
  },
  {
    kind: "spoofed and impossible sources",
    packets: [
      { name: "our MAC", packet: ip(cli2, "10.20.0.3", tcp(1, 2), { mac: p2Gateway }) },
      { name: "a group MAC", packet: ip(cli2, "10.20.0.3", tcp(1, 2), { mac: "03:00:00:00:00:01" }) },
      {
        name: "another MAC on a bound port",
        packet: ip(cli3, "10.30.0.100", tcp(1, 80), { mac: "02:00:00:1e:00:77" }),
      },
    ],
    outcome: dropped,
  },
  {
    kind: "to us, but nothing we speak",
    packets: [
      { name: "closed port of the VIP", packet: ip(client, "192.168.5.21", tcp(40_000, 22)) },
      { name: "UDP to a TCP listener", packet: ip(client, "192.168.5.21", udp(40_000, 80)) },
      { name: "TCP to the gateway", packet: ip(client, "192.168.5.20", tcp(40_000, 22)) },
      { name: "TCP to another segment's gateway", packet: ip(client, "10.20.0.1", tcp(40_000, 22)) },
      { name: "another protocol to the VIP", packet: ip(client, "192.168.5.21", "nw_proto=89") },
      { name: "IPv6 to our MAC", packet: `in_port=cli2,eth_src=${cli2.mac},eth_dst=${p2Gateway},eth_type=0x86dd` },
      { name: "listener that is off", packet: ip(client, "192.168.5.21", tcp(40_000, 8081)) },
      { name: "listener that is off, from inside", packet: ip(cli2, "192.168.5.21", tcp(40_000, 8081)) },
      { name: "load balancer that is off", packet: ip(client, "192.168.5.22", tcp(40_000, 80)) },
      { name: "ping of a load balancer that is off", packet: ip(client, "192.168.5.22", icmp(8)) },
      { name: "pool without members", packet: ip(client, "192.168.5.21", tcp(40_000, 8082)) },
      { name: "broadcast of another segment", packet: ip(client, "10.20.0.255", udp(1, 2)) },
      { name: "multicast to the router's MAC", packet: ip(client, "239.1.1.1", udp(1, 2)) },
    ],
    outcome: dropped,
  },
  {
    kind: "pool without members that refuses",
    packets: [
      { name: "from outside", packet: ip(client, "192.168.5.21", tcp(40_000, 8083)) },
      { name: "from inside", packet: ip(cli2, "10.20.0.100", tcp(40_000, 8083)) },
    ],
    outcome: punted("reject"),
  },
  {
    kind: "TTL that does not last",
    packets: [
      { name: "transit", packet: ip(client, "10.20.0.2", tcp(40_000, 22), { ttl: 1 }) },
      { name: "transit with TTL 0", packet: ip(client, "10.20.0.2", udp(40_000, 22), { ttl: 0 }) },
      { name: "public VIP", packet: ip(client, "192.168.5.21", tcp(40_000, 80), { ttl: 1 }) },
      { name: "VIP of another segment", packet: ip(client, "10.20.0.100", tcp(40_000, 80), { ttl: 1 }) },
    ],
    outcome: punted("ttl"),
  },
  {
    kind: "TTL 2 in transit",
    packets: [{ name: "becomes 1", packet: ip(client, "10.20.0.2", tcp(40_000, 22), { ttl: 2 }) }],
    outcome: (view) => expect(view.outputs[0]?.changed["nw_ttl"]).toBe("1"),
  },
  {
    kind: "TTL 1 to a neighbour of the client",
    packets: SOURCE_PORTS.map((p) => ({
      name: `port ${p}`,
      packet: ip(cli2, "10.20.0.100", tcp(p, 80), { ttl: 1 }),
    })),
    outcome: (view) => expect(view.outputs.length + (view.dropped === null ? 0 : 1)).toBe(1),
  },
  {
    kind: "ICMP errors to a VIP that belong to nothing",
    packets: [
      { name: "unreachable", packet: ip(client, "192.168.5.21", icmp(3, 4)), state: ["inv"] },
      { name: "time exceeded", packet: ip(client, "192.168.5.21", icmp(11)) },
      { name: "from inside", packet: ip(cli2, "192.168.5.21", icmp(3, 1)), state: ["inv"] },
    ],
    outcome: dropped,
  },
  {
    kind: "ICMP errors in transit",
    packets: [
      { name: "to a client", packet: ip(be1, "192.168.5.13", icmp(3, 3)), state: ["rel,rpl"] },
      { name: "about nothing", packet: ip(be1, "192.168.5.13", icmp(11)) },
    ],
    outcome: out("pub0"),
  },
  {
    kind: "fragments in transit",
    packets: [
      { name: "first", packet: ip(client, "10.20.0.2", "nw_proto=17,ip_frag=first") },
      { name: "later", packet: ip(client, "10.20.0.2", "nw_proto=17,ip_frag=later") },
      { name: "later, TCP", packet: ip(client, "10.20.0.2", "nw_proto=6,ip_frag=later") },
    ],
    outcome: out("be1"),
  },
  {
    kind: "later fragments to a VIP that open a connection",
    packets: [
      { name: "from outside", packet: ip(client, "192.168.5.21", "nw_proto=17,ip_frag=later") },
      { name: "from inside", packet: ip(cli2, "10.20.0.100", "nw_proto=17,ip_frag=later") },
      { name: "from another segment", packet: ip(cli3, "10.20.0.100", "nw_proto=17,ip_frag=later") },
      { name: "from a member", packet: ip(be1, "10.20.0.100", "nw_proto=17,ip_frag=later") },
    ],
    outcome: (view) => expect(view.outputs).toHaveLength(1),
  },
  {
    kind: "fragments to a VIP that open no connection",
    packets: [
      { name: "of TCP", packet: ip(cli2, "10.20.0.100", "nw_proto=6,ip_frag=later") },
      { name: "too small", packet: ip(client, "192.168.5.21", "nw_proto=17,ip_frag=later"), state: ["inv"] },
      { name: "another protocol", packet: ip(client, "192.168.5.21", "nw_proto=132,ip_frag=later") },
      { name: "pings", packet: ip(client, "192.168.5.21", "nw_proto=1,ip_frag=first") },
    ],
    outcome: dropped,
  },
  {
    kind: "fragments of members' answers to neighbours",
    packets: [
      { name: "first", packet: ip(be1, "10.20.0.10", "nw_proto=17,ip_frag=first", { to: cli2.mac }) },
      { name: "later", packet: ip(be1, "10.20.0.10", "nw_proto=17,ip_frag=later", { to: cli2.mac }) },
    ],
    outcome: out("cli2"),
  },
  {
    kind: "from an uplink",
    packets: [
      { name: "to a member", packet: ip(up2, "10.20.0.2", tcp(1, 22), { to: be1.mac }) },
      { name: "routed back out of another segment", packet: ip({ ...up2, ip: "10.99.0.1" }, "10.20.0.2", icmp(8)) },
    ],
    outcome: out("be1"),
  },
  {
    kind: "from a port without a segment",
    packets: [{ name: "LOCAL", packet: ip({ ...client, port: "LOCAL" }, "10.20.0.2", tcp(1, 22)) }],
    outcome: dropped,
  },
  {
    kind: "VLAN tagged",
    packets: [
      {
        name: "to a known MAC",
        packet: `in_port=cli2,eth_src=${cli2.mac},eth_dst=${be3.mac},vlan_tci=0x1064,eth_type=0x88b5`,
      },
    ],
    outcome: out("be3"),
  },
];
