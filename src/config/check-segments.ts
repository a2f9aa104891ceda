/** What must hold between the nodes, segments, routes and neighbours of a topology. */
import { formatIpv4, formatMac, formatPrefix, prefixContains } from "../../openflow/packet/address.ts";
import type { Ipv4, Prefix } from "../../pipeline/model.ts";
import { globMatches } from "../../pipeline/port-glob.ts";
import {
  type ApiAddresses,
  checkForeign,
  checkHostOf,
  checkUnique,
  type OwnAddresses,
  segmentOf,
} from "./addresses.ts";
import type { Located, Report } from "./reader.ts";
import type { SegmentEntry, TopologyFile } from "./schema.ts";

const quoted = (text: string): string => JSON.stringify(text);

export const checkNodes = ({ nodes }: TopologyFile, report: Report): void => {
  const rows = nodes.value.map((n) => n.value);
  checkUnique(
    rows.map((n) => n.name),
    quoted,
    report,
  );
  checkUnique(
    rows.flatMap((n) => n.datapath_id ?? []),
    quoted,
    report,
  );
  if (rows.length < 2) return;
  nodes.value.forEach(({ value, at }) => {
    if (value.datapath_id === undefined)
      report(at, 'the key "datapath_id" is missing: with several nodes each needs one');
  });
};

/** Two subnets overlap if and only if the longer one's address is in the shorter one. */
const overlap = (a: Prefix, b: Prefix): boolean =>
  a.length <= b.length ? prefixContains(a, b.address) : prefixContains(b, a.address);

const checkSubnets = (segments: readonly SegmentEntry[], report: Report): void => {
  segments.forEach(({ subnet }, i) => {
    const other = segments.slice(0, i).find((s) => overlap(s.subnet.value, subnet.value));
    if (other === undefined) return;
    report(
      subnet.at,
      `${formatPrefix(subnet.value)} overlaps ${formatPrefix(other.subnet.value)} of segment ${other.name.value}`,
    );
  });
};

export const checkSegments = ({ segments }: TopologyFile, report: Report): void => {
  const rows = segments.value.map((s) => s.value);
  checkUnique(
    rows.map((s) => s.name),
    quoted,
    report,
  );
  checkUnique(
    rows.flatMap((s) => s.id ?? []),
    String,
    report,
  );
  checkSubnets(rows, report);
  checkUnique(
    rows.flatMap((s) => s.ports.value.map((p) => p.value.name)),
    quoted,
    report,
  );
  for (const segment of rows) {
    checkHostOf(segment, segment.gateway.value.ip, report);
    if (segment.probe !== undefined) checkHostOf(segment, segment.probe, report);
    for (const { value: port } of segment.ports.value) {
      if (port.mac?.value === segment.gateway.value.mac.value) {
        report(port.mac.at, `${formatMac(port.mac.value)} is the gateway's, see ${segment.gateway.value.mac.at.field}`);
      }
    }
  }
};

/** Gateways, probe addresses and VIPs: nobody else may have them, and each is there once. */
export const checkOwnAddresses = (file: TopologyFile, api: ApiAddresses, report: Report): OwnAddresses => {
  const segments = file.segments.value.map((s) => s.value);
  const own: readonly Located<Ipv4>[] = [
    ...segments.map((s) => s.gateway.value.ip),
    ...segments.flatMap((s) => s.probe ?? []),
    ...file.load_balancers.value.flatMap((lb) => lb.value.vips.value.map((v) => v.value.ip)),
  ];
  for (const ip of own) {
    const owner = api.vips.get(ip.value) ?? api.members.get(ip.value);
    if (owner !== undefined) report(ip.at, `${formatIpv4(ip.value)} is taken by ${owner}, made through the API`);
  }
  return new Map([...api.vips, ...checkUnique(own, formatIpv4, report)]);
};

/**
 * @param complete false when parts of the file could not be read: what seems to be missing may be there
 */
export const checkRoutes = (file: TopologyFile, own: OwnAddresses, complete: boolean, report: Report): void => {
  const segments = file.segments.value.map((s) => s.value);
  const seen = new Map(segments.map((s) => [formatPrefix(s.subnet.value), s.subnet.at.field]));
  for (const { value: route } of file.routes.value) {
    const text = formatPrefix(route.to.value);
    const before = seen.get(text);
    if (before === undefined) seen.set(text, route.to.at.field);
    else report(route.to.at, `there is a way to ${text}, see ${before}`);
    checkForeign(own, route.via, report);
    const segment = segmentOf(segments, route.via.value);
    if (segment !== undefined) checkHostOf(segment, route.via, report);
    else if (complete) report(route.via.at, `${formatIpv4(route.via.value)} is in no segment`);
  }
};

/** @param complete as in {@link checkRoutes} */
export const checkNeighbours = (file: TopologyFile, own: OwnAddresses, complete: boolean, report: Report): void => {
  const segments = file.segments.value.map((s) => s.value);
  const rows = file.neighbours.value.map((n) => n.value);
  checkUnique(
    rows.map((n) => n.ip),
    formatIpv4,
    report,
  );
  for (const { ip, port } of rows) {
    checkForeign(own, ip, report);
    const segment = segmentOf(segments, ip.value);
    if (segment === undefined) {
      if (complete) report(ip.at, `${formatIpv4(ip.value)} is in no segment`);
      continue;
    }
    checkHostOf(segment, ip, report);
    const known = segment.ports.value.some((p) => port !== undefined && globMatches(p.value.name.value, port.value));
    if (complete && port !== undefined && !known) {
      report(port.at, `${quoted(port.value)} is no port of segment ${segment.name.value}`);
    }
  }
};
