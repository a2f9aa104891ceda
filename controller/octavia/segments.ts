/** Segments of the topology as the subnets and networks of the API: both have the segment's UUID. */
import { prefixContains } from "../../openflow/packet/address.ts";
import type { Ipv4, Segment, Topology } from "../../pipeline/model.ts";

/** By UUID in any spelling, or by name. */
export const findSegment = (topology: Topology, key: string): Segment | undefined => {
  const plain = (text: string): string => text.replaceAll("-", "").toLowerCase();
  return topology.segments.find((s) => plain(s.uuid) === plain(key)) ?? topology.segments.find((s) => s.name === key);
};

/** The segment an address is a host of; of several the one with the smallest subnet. */
export const segmentOf = (topology: Topology, ip: Ipv4): Segment | undefined =>
  topology.segments.filter((s) => prefixContains(s.subnet, ip)).sort((a, b) => b.subnet.length - a.subnet.length)[0];

/** Whether packets for the address have a way: a segment or a route. */
export const isReachable = (topology: Topology, ip: Ipv4): boolean =>
  segmentOf(topology, ip) !== undefined || topology.routes.some((r) => prefixContains(r.prefix, ip));
