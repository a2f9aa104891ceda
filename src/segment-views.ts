import type { SegmentView } from "../controller/api/views.ts";
import { formatIpv4 } from "../openflow/packet/address.ts";
import type { Ipv4, LoadBalancer, Topology } from "../pipeline/model.ts";

/** The segments with the addresses of load balancers in them. */
export function segmentViews(topology: Topology): SegmentView[] {
  return topology.segments.map((s) => ({
    id: s.id,
    name: s.name,
    kind: s.kind,
    subnet: `${formatIpv4(s.subnet.address)}/${s.subnet.length}`,
    gateway: formatIpv4(s.gateway.ip),
    probe: s.probe === undefined ? null : formatIpv4(s.probe.ip),
    vips: topology.loadBalancers.flatMap((lb) =>
      lb.vips
        .filter((v) => v.segment === s.id)
        .map((v) => ({ ip: formatIpv4(v.ip), loadBalancer: lb.name, listeners: listenersOn(lb, v.ip) })),
    ),
  }));
}

const listenersOn = (lb: LoadBalancer, vip: Ipv4): string[] =>
  lb.listeners
    .filter((l) => l.adminUp && (l.vips === undefined || l.vips.includes(vip)))
    .map((l) => `${l.protocol}/${l.port}`);
