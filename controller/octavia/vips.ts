/** Choosing and checking the addresses of load balancers. */
import {
  formatIpv4,
  formatPrefix,
  isHostIpv4,
  parseIpv4,
  prefixBroadcast,
  prefixContains,
} from "../../openflow/packet/address.ts";
import type { Ipv4, Segment, Topology } from "../../pipeline/model.ts";
import type { View } from "../store/snapshot.ts";
import { isIpv6Text } from "./address.ts";
import { Fault, invalidField } from "./fault.ts";
import { unsupportedOption } from "./provider.ts";
import { findSegment, segmentOf } from "./segments.ts";
import type { Work } from "./work.ts";

/** So many addresses are tried when one is to be chosen. */
const mostTried = 65_536;

/** Every VIP of the stored load balancers, with the segment it is in. */
export function* storedVips(
  view: View,
): Iterable<{ readonly owner: string; readonly ip: string; readonly subnet: string }> {
  for (const lb of view.all("loadBalancers")) {
    yield { owner: lb.id, ip: lb.vip_address, subnet: lb.vip_subnet_id };
    for (const vip of lb.additional_vips) yield { owner: lb.id, ip: vip.ip_address, subnet: vip.subnet_id };
  }
}

/**
 * The addresses that the topology has given to itself, with whose they are. A stored load balancer cannot have one of them: the file may
 * have been edited while nobody could refuse that.
 */
export const ownOfTopology = (topology: Topology): ReadonlyMap<Ipv4, string> =>
  new Map([
    ...topology.loadBalancers.flatMap((lb) => lb.vips.map((vip) => [vip.ip, `load balancer ${lb.name}`] as const)),
    ...topology.segments.flatMap((s) =>
      s.probe === undefined ? [] : [[s.probe.ip, `the probes of ${s.name}`] as const],
    ),
    ...topology.segments.map((s) => [s.gateway.ip, `the gateway of ${s.name}`] as const),
  ]);

/** Who has which address of the segment, in the words of a refusal. */
const takenIn = (work: Work, segment: Segment): ReadonlyMap<Ipv4, string> => {
  const taken = new Map<Ipv4, string>();
  for (const { owner, ip, subnet } of storedVips(work.draft)) {
    const vip = parseIpv4(ip);
    if (subnet === segment.uuid && vip !== undefined) taken.set(vip, `load balancer ${owner}`);
  }
  for (const lb of work.topology.loadBalancers) {
    for (const vip of lb.vips) if (vip.segment === segment.id) taken.set(vip.ip, `load balancer ${lb.name}`);
    for (const member of lb.pools.flatMap((p) => p.members)) {
      if (member.segment === segment.id) taken.set(member.ip, `member ${member.name}`);
    }
  }
  for (const member of work.draft.all("members")) {
    const ip = parseIpv4(member.address);
    if (ip !== undefined && segmentOf(work.topology, ip)?.id === segment.id) taken.set(ip, `member ${member.id}`);
  }
  for (const neighbour of work.topology.staticNeighbours) {
    if (neighbour.segment === segment.id) taken.set(neighbour.ip, "a static neighbour");
  }
  for (const route of work.topology.routes) {
    if (route.segment === segment.id) taken.set(route.via, "the gateway of a route");
  }
  if (segment.probe !== undefined) taken.set(segment.probe.ip, "the probe address");
  taken.set(segment.gateway.ip, "the segment's gateway");
  return taken;
};

/**
 * The address a load balancer gets in a segment: the wanted one, or the highest free one, since hosts are usually numbered from
 * below.
 *
 * @param others addresses that the same request has taken in the segment
 */
export const claimVip = (
  work: Work,
  segment: Segment,
  wanted: string | null | undefined,
  field: string,
  others: readonly string[],
): string => {
  const taken = takenIn(work, segment);
  const { subnet } = segment;
  if (wanted === undefined || wanted === null) {
    const last = subnet.address + 2 ** (32 - subnet.length) - 1;
    for (let ip = last; ip >= Math.max(subnet.address, last - mostTried); ip--) {
      const free = !taken.has(ip) && !others.includes(formatIpv4(ip));
      if (free && ip !== prefixBroadcast(subnet) && ip !== subnet.address) return formatIpv4(ip);
    }
    throw new Fault(409, `No more IP addresses available in subnet ${segment.uuid}.`);
  }
  if (isIpv6Text(wanted)) throw unsupportedOption(`IPv6 addresses (${field} ${wanted})`);
  const ip = parseIpv4(wanted)!;
  if (!prefixContains(subnet, ip)) {
    throw invalidField(field, wanted, `Value should be an address of subnet ${segment.uuid}, ${formatPrefix(subnet)}`);
  }
  if (!isHostIpv4(ip) || ip === prefixBroadcast(subnet) || (subnet.length < 31 && ip === subnet.address)) {
    throw invalidField(field, wanted, "Value should be the address of a host");
  }
  const owner = others.includes(wanted) ? "this load balancer" : taken.get(ip);
  if (owner !== undefined) throw new Fault(409, `IP address ${wanted} (${field}) is already in use by ${owner}.`);
  return wanted;
};

/** The segment a field names, by UUID or name. */
export const namedSegment = (work: Work, key: string, kind: "Subnet" | "Network", field: string): Segment => {
  const segment = findSegment(work.topology, key);
  if (segment !== undefined) return segment;
  if (/^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i.test(key)) throw new Fault(400, `${kind} ${key} not found.`);
  throw invalidField(field, key, "Value should be UUID format");
};
