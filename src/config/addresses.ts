/** Who owns which address, and which segment an address belongs to: what the checks of the topology ask most. */
import { formatIpv4, prefixBroadcast, prefixContains, prefixNetwork } from "../../openflow/packet/address.ts";
import type { Ipv4, Prefix } from "../../pipeline/model.ts";
import type { At, Located, Report } from "./reader.ts";
import type { SegmentEntry } from "./schema.ts";

/** "the network address" or "the broadcast address" when `ip` is that and no host of `subnet`. */
const reservedIn = (subnet: Prefix, ip: Ipv4): string | undefined => {
  if (ip === prefixNetwork(subnet)) return "the network address";
  if (ip === prefixBroadcast(subnet)) return "the broadcast address";
  return undefined;
};

/** The segment whose subnet contains `ip`. */
export const segmentOf = (segments: readonly SegmentEntry[], ip: Ipv4): SegmentEntry | undefined =>
  segments.find((s) => prefixContains(s.subnet.value, ip));

/** Reports an address that no host of the segment can have. */
export const checkHostOf = (segment: SegmentEntry, ip: Located<Ipv4>, report: Report): void => {
  const { value: subnet } = segment.subnet;
  const text = formatIpv4(ip.value);
  const range = `an address of segment ${segment.name.value}, ${formatIpv4(subnet.address)}/${subnet.length}`;
  if (!prefixContains(subnet, ip.value)) report(ip.at, `${text} is not in the subnet`, range);
  else {
    const reserved = reservedIn(subnet, ip.value);
    if (reserved !== undefined) report(ip.at, `${text} is ${reserved} of the subnet`, range);
  }
};

/** Addresses that are ours, with the field that says so. */
export type OwnAddresses = ReadonlyMap<Ipv4, string>;

/** Addresses of what was made through the API, each with what has it. The file may not take them. */
export interface ApiAddresses {
  readonly vips: ReadonlyMap<Ipv4, string>;
  readonly members: ReadonlyMap<Ipv4, string>;
}

export const noApiAddresses: ApiAddresses = { vips: new Map(), members: new Map() };

/** Reports an address of ours where a foreign host's is wanted. */
export const checkForeign = (own: OwnAddresses, ip: Located<Ipv4>, report: Report): void => {
  const owner = own.get(ip.value);
  if (owner !== undefined) report(ip.at, `${formatIpv4(ip.value)} is our own address, see ${owner}`);
};

/** Reports every value that was there before. `show` is how the value is written. */
export const checkUnique = <T>(
  values: readonly Located<T>[],
  show: (value: T) => string,
  report: Report,
): ReadonlyMap<T, string> => {
  const first = new Map<T, At>();
  for (const { value, at } of values) {
    const before = first.get(value);
    if (before === undefined) first.set(value, at);
    else report(at, `${show(value)} is taken, see ${before.field}`);
  }
  return new Map([...first].map(([value, at]) => [value, at.field]));
};
