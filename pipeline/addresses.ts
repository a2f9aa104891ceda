/** The addresses the bridge itself holds, and the neighbours it needs. Both are asked for by several features. */
import type { DesiredState, Ipv4, Listener, LoadBalancer, Mac, Pool, Prefix, Segment, Vip } from "./model.ts";

/** An address that is ours. */
export interface OwnAddress {
  readonly kind: "gateway" | "probe" | "vip";
  readonly ip: Ipv4;
  readonly mac: Mac;
  readonly segment: number;
  /** Whether ARP and pings are answered: not for a VIP whose load balancer is switched off. */
  readonly answered: boolean;
}

/** A VIP with what serves it. */
export interface VipOf {
  readonly vip: Vip;
  readonly segment: Segment;
  readonly loadBalancer: LoadBalancer;
}

/** Whether an address lies in a network. */
export const contains = (p: Prefix, ip: Ipv4): boolean => p.length === 0 || (ip ^ p.address) >>> (32 - p.length) === 0;

/** All VIPs in segments that exist, by address. */
export const vips = (s: DesiredState): readonly VipOf[] => {
  const segments = new Map(s.segments.map((segment) => [segment.id, segment]));
  return s.loadBalancers.flatMap((loadBalancer) =>
    loadBalancer.vips.flatMap((vip) => {
      const segment = segments.get(vip.segment);
      return segment === undefined ? [] : [{ vip, segment, loadBalancer }];
    }),
  );
};

/** Every address of ours once; a VIP may equal the gateway's address, which is answered for in any case. */
export const ownAddresses = (s: DesiredState): readonly OwnAddress[] => {
  const found = new Map<Ipv4, OwnAddress>();
  const add = (a: OwnAddress): void => {
    if (!found.has(a.ip)) found.set(a.ip, a);
  };
  for (const { id, gateway, probe } of s.segments) {
    add({ kind: "gateway", ip: gateway.ip, mac: gateway.mac, segment: id, answered: true });
    if (probe !== undefined) add({ kind: "probe", ip: probe.ip, mac: gateway.mac, segment: id, answered: true });
  }
  for (const { vip, segment, loadBalancer } of vips(s)) {
    add({ kind: "vip", ip: vip.ip, mac: segment.gateway.mac, segment: segment.id, answered: loadBalancer.adminUp });
  }
  return [...found.values()];
};

/** A listener on one of its VIPs. */
export interface Service extends VipOf {
  readonly listener: Listener;
  /** Absent when the listener has no pool. */
  readonly pool: Pool | undefined;
  /** Whether it may be used: load balancer and listener are both switched on. */
  readonly up: boolean;
}

/** Every listener on every VIP it serves. */
export const services = (s: DesiredState): readonly Service[] =>
  vips(s).flatMap((v) =>
    v.loadBalancer.listeners
      .filter((l) => l.vips === undefined || l.vips.includes(v.vip.ip))
      .map((listener) => ({
        ...v,
        listener,
        pool: v.loadBalancer.pools.find((p) => p.id === listener.poolId),
        up: v.loadBalancer.adminUp && listener.adminUp,
      })),
  );

/** A next hop that the bridge must have the MAC of: a member in a segment, or the router of a static route. */
export interface NextHop {
  readonly segment: number;
  readonly ip: Ipv4;
}

/** What decides where a packet leaves. */
type Routing = Pick<DesiredState, "segments" | "routes">;

/** The segment a packet for `ip` leaves into and whom it is handed to there, by longest prefix; undefined without a route. */
export const egress = (s: Routing, ip: Ipv4): NextHop | undefined => {
  let best: (NextHop & { readonly length: number }) | undefined;
  const consider = (p: Prefix, segment: number, via: Ipv4): void => {
    if (contains(p, ip) && (best === undefined || p.length > best.length))
      best = { length: p.length, segment, ip: via };
  };
  for (const segment of s.segments) consider(segment.subnet, segment.id, ip);
  for (const route of s.routes) consider(route.prefix, route.segment, route.via);
  return best === undefined ? undefined : { segment: best.segment, ip: best.ip };
};

/** Every next hop once: members, where they are probed, and routers. */
export const nextHops = (s: DesiredState): readonly NextHop[] => {
  const members = s.loadBalancers.flatMap((lb) => lb.pools.flatMap((p) => p.members));
  const all = [
    ...members.flatMap((m) => (m.segment === undefined ? [] : [{ segment: m.segment, ip: m.ip }])),
    ...members.flatMap((m) => (m.monitor === undefined ? [] : (egress(s, m.monitor.ip) ?? []))),
    ...s.routes.map((r) => ({ segment: r.segment, ip: r.via })),
  ];
  return [...new Map(all.map((n) => [`${n.segment}/${n.ip}`, n])).values()];
};
