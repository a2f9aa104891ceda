/** Whom to probe, from where, and by which way: one answer for the flows that let answers in and for the prober. */
import { egress, type NextHop } from "./addresses.ts";
import type { HealthMonitor, Ipv4, LoadBalancer, Member, Pool, Segment, Topology } from "./model.ts";

/** A member that is probed. */
export interface ProbeTarget {
  readonly loadBalancer: LoadBalancer;
  readonly pool: Pool;
  readonly member: Member;
  readonly monitor: HealthMonitor;
  /** Where the probe goes. */
  readonly ip: Ipv4;
  readonly port: number;
  /** Address it comes from. */
  readonly source: Ipv4;
  /** The segment it leaves into, and whose gateway's MAC it comes from. */
  readonly segment: Segment;
  /** Whom it is handed to there: the target itself, or the router of a static route. */
  readonly nextHop: Ipv4;
}

/** A member of a segment is its neighbour, whatever the routes say. */
const wayTo = (s: Topology, member: Member, ip: Ipv4): NextHop | undefined =>
  member.segment !== undefined && ip === member.ip ? { segment: member.segment, ip } : egress(s, ip);

const targetOf = (
  s: Topology,
  segments: ReadonlyMap<number, Segment>,
  place: Pick<ProbeTarget, "loadBalancer" | "pool" | "member" | "monitor">,
): readonly ProbeTarget[] => {
  const { member } = place;
  const { ip, port } = member.monitor ?? member;
  const way = wayTo(s, member, ip);
  const segment = way && segments.get(way.segment);
  if (way === undefined || segment === undefined) return [];
  return [{ ...place, ip, port, source: segment.probe?.ip ?? segment.gateway.ip, segment, nextHop: way.ip }];
};

/**
 * Every member that is to be probed: those of pools with a monitor, unless they or their load balancer are switched off.
 * Draining members are, so that they can come back at any time.
 */
export const probeTargets = (s: Topology): readonly ProbeTarget[] => {
  const segments = new Map(s.segments.map((segment) => [segment.id, segment]));
  return s.loadBalancers.flatMap((loadBalancer) =>
    loadBalancer.pools.flatMap((pool) => {
      const { healthMonitor: monitor } = pool;
      if (monitor === undefined || !loadBalancer.adminUp) return [];
      return pool.members
        .filter((m) => m.adminUp)
        .flatMap((member) => targetOf(s, segments, { loadBalancer, pool, member, monitor }));
    }),
  );
};
