import type { DesiredState, Health, LoadBalancer, Member, ResolvedPort, Segment } from "../../pipeline/model.ts";

/** An IPv4 address as a number. */
export const ip = (text: string): number => text.split(".").reduce((n, part) => n * 256 + Number(part), 0);

/** A MAC address as a number. */
export const mac = (text: string): number => Number.parseInt(text.replaceAll(":", ""), 16);

const segment = (id: number, name: string, kind: Segment["kind"], net: string, gw: string, gwMac: string): Segment => ({
  id,
  name,
  uuid: `segment-${id}`,
  subnet: { address: ip(net), length: 24 },
  gateway: { ip: ip(gw), mac: mac(gwMac) },
  kind,
  ports: [],
  ...(kind === "private" ? { probe: { ip: ip(net) + 253 } } : {}),
  ageing: 300,
  learnLimit: 4096,
  clientsLearned: true,
});

const port = (ofport: number, name: string, inSegment: number, role: ResolvedPort["role"] = "host"): ResolvedPort => ({
  name,
  ofport,
  segment: inSegment,
  role,
  mac: 0x0200_0000_0f00 + ofport,
  up: true,
});

const member = (id: number, address: string, inSegment: number): Member => ({
  id,
  name: `be${id}`,
  uuid: `member-${id}`,
  ip: ip(address),
  port: 8080,
  weight: 1,
  adminUp: true,
  drain: false,
  segment: inSegment,
  backup: false,
});

const webPool = (slots: number) => ({
  id: 1,
  name: "web",
  uuid: "pool-1",
  algorithm: "consistent" as const,
  slots,
  members: [member(1, "10.20.0.2", 2), member(2, "10.30.0.2", 3), member(3, "10.20.0.3", 2), member(4, "10.30.0.3", 3)],
  healthMonitor: { type: "tcp", intervalMs: 2000, timeoutMs: 1000, rise: 2, fall: 3 } as const,
});

const webLoadBalancer = (slots: number): LoadBalancer => ({
  id: 1,
  name: "web",
  uuid: "lb-1",
  adminUp: true,
  vips: [
    { ip: ip("192.168.5.21"), segment: 1 },
    { ip: ip("10.20.0.100"), segment: 2 },
    { ip: ip("10.30.0.100"), segment: 3 },
  ],
  listeners: [
    {
      id: 1,
      name: "http",
      uuid: "listener-1",
      protocol: "tcp",
      port: 80,
      poolId: 1,
      slotChoice: "multipath",
      sessions: "conntrack",
      adminUp: true,
      emptyPolicy: "drop",
    },
  ],
  pools: [webPool(slots)],
});

/** Everybody is up. */
const allUp: ReadonlyMap<number, Health> = new Map([1, 2, 3, 4].map((id) => [id, "up"]));

/**
 * The network the product began with: a public segment, two private ones with two web servers and a client each, one load
 * balancer with a VIP in each segment. Everything is up and every member is resolved.
 */
export const seedState = (slots = 1024): DesiredState => ({
  node: { name: "lb" },
  nodes: [{ name: "lb" }],
  segments: [
    segment(1, "public", "public", "192.168.5.0", "192.168.5.20", "02:42:c0:a8:05:14"),
    segment(2, "p2", "private", "10.20.0.0", "10.20.0.1", "02:42:0a:14:00:01"),
    segment(3, "p3", "private", "10.30.0.0", "10.30.0.1", "02:42:0a:1e:00:01"),
  ],
  routes: [{ prefix: { address: 0, length: 0 }, via: ip("192.168.5.1"), segment: 1 }],
  staticNeighbours: [],
  loadBalancers: [webLoadBalancer(slots)],
  ports: [
    port(1, "pub0", 1),
    port(2, "p2", 2, "uplink"),
    port(3, "p3", 3, "uplink"),
    port(10, "be1", 2),
    port(11, "be3", 2),
    port(12, "cli2", 2),
    port(20, "be2", 3),
    port(21, "be4", 3),
    port(22, "cli3", 3),
  ],
  neighbours: [
    { segment: 2, ip: ip("10.20.0.2"), mac: mac("02:00:00:14:00:02"), ofport: 10 },
    { segment: 2, ip: ip("10.20.0.3"), mac: mac("02:00:00:14:00:03"), ofport: 11 },
    { segment: 3, ip: ip("10.30.0.2"), mac: mac("02:00:00:1e:00:02"), ofport: 20 },
    { segment: 3, ip: ip("10.30.0.3"), mac: mac("02:00:00:1e:00:03"), ofport: 21 },
    { segment: 1, ip: ip("192.168.5.1"), mac: mac("02:00:00:00:05:01"), ofport: 1 },
  ],
  health: allUp,
});
