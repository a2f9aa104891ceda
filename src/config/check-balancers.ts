/** What must hold in load balancers, and between them and the segments. */
import { formatIpv4, formatPrefix, prefixContains } from "../../openflow/packet/address.ts";
import type { Ipv4 } from "../../pipeline/model.ts";
import { checkForeign, checkHostOf, checkUnique, type OwnAddresses, segmentOf } from "./addresses.ts";
import type { Located, Report } from "./reader.ts";
import type { HealthMonitorEntry, ListenerEntry, LoadBalancerEntry, PoolEntry, TopologyFile } from "./schema.ts";
import { suggest } from "./suggest.ts";

const quoted = (text: string): string => JSON.stringify(text);

/** What a reference is checked against. */
interface Surroundings {
  readonly file: TopologyFile;
  readonly own: OwnAddresses;
  /** False when parts of the file could not be read: what seems to be missing may be there. */
  readonly complete: boolean;
  readonly report: Report;
}

const reportUnknown = (what: string, name: Located<string>, names: readonly string[], report: Report): void => {
  const meant = suggest(name.value, names);
  const hint = meant === undefined ? "" : `, did you mean "${meant}"?`;
  report(
    name.at,
    `there is no ${what} ${quoted(name.value)}${hint}`,
    names.length === 0 ? undefined : `one of ${names.join(", ")}`,
  );
};

const checkVips = (balancer: LoadBalancerEntry, { file, complete, report }: Surroundings): void => {
  const segments = file.segments.value.map((s) => s.value);
  if (balancer.vips.value.length === 0 && complete) report(balancer.vips.at, "a load balancer needs an address");
  for (const { value: vip } of balancer.vips.value) {
    const segment = segments.find((s) => s.name.value === vip.segment.value);
    if (segment !== undefined) checkHostOf(segment, vip.ip, report);
    else if (complete)
      reportUnknown(
        "segment",
        vip.segment,
        segments.map((s) => s.name.value),
        report,
      );
  }
};

const vipsOf = (listener: ListenerEntry, balancer: LoadBalancerEntry): readonly Ipv4[] =>
  listener.vips?.value.map((v) => v.value) ?? balancer.vips.value.map((v) => v.value.ip.value);

/** An empty list would be a listener for nobody, which is more likely a mistake than a wish. */
const reportEmpty = ({ at }: Located<unknown>, report: Report): void =>
  report(at, "the list is empty", "at least one, or no such key for all");

const checkListeners = (balancer: LoadBalancerEntry, complete: boolean, report: Report): void => {
  const listeners = balancer.listeners.value.map((l) => l.value);
  checkUnique(
    listeners.map((l) => l.name),
    quoted,
    report,
  );
  const addresses = new Set(balancer.vips.value.map((v) => v.value.ip.value));
  const pools = balancer.pools.value.map((p) => p.value.name.value);
  const taken = new Map<string, string>();
  for (const listener of listeners) {
    for (const vip of listener.vips?.value ?? []) {
      if (complete && !addresses.has(vip.value))
        report(vip.at, `${formatIpv4(vip.value)} is no address of the load balancer`);
    }
    for (const some of complete ? [listener.vips, listener.allowed_sources] : []) {
      if (some?.value.length === 0) reportEmpty(some, report);
    }
    checkUnique(listener.vips?.value ?? [], formatIpv4, report);
    checkUnique(
      (listener.allowed_sources?.value ?? []).map(({ value, at }) => ({ value: formatPrefix(value), at })),
      String,
      report,
    );
    if (complete && listener.pool !== undefined && !pools.includes(listener.pool.value)) {
      reportUnknown("pool", listener.pool, pools, report);
    }
    const mine = vipsOf(listener, balancer).map(
      (ip) => `${listener.protocol.value} ${formatIpv4(ip)}:${listener.port.value}`,
    );
    const clash = mine.find((address) => taken.has(address));
    if (clash !== undefined) report(listener.port.at, `${clash} is taken, see ${taken.get(clash)}`);
    for (const address of mine) taken.set(address, listener.port.at.field);
  }
};

const checkMonitor = (monitor: HealthMonitorEntry, report: Report): void => {
  if (monitor.timeout.value > monitor.interval.value) {
    report(
      monitor.timeout.at,
      "a probe may not take longer than the interval",
      `at most ${monitor.interval.value / 1000}`,
    );
  }
  if (monitor.type.value === "http") {
    if (monitor.host !== undefined && monitor.version?.value === "1.0") {
      report(monitor.host.at, "HTTP 1.0 has no Host header", 'version: "1.1"');
    }
    return;
  }
  const { method, path, version, host, codes } = monitor;
  for (const key of [method, path, version, host, codes]) {
    if (key !== undefined) report(key.at, `does not go with type ${monitor.type.value}`, "type: http");
  }
};

const checkPool = (pool: PoolEntry, report: Report): void => {
  if (pool.health_monitor !== undefined) checkMonitor(pool.health_monitor.value, report);
  const members = pool.members.value.map((m) => m.value);
  checkUnique(
    members.map((m) => m.name),
    quoted,
    report,
  );
  checkUnique(
    members.map((m) => ({ value: `${formatIpv4(m.ip.value)}:${m.port.value}`, at: m.ip.at })),
    String,
    report,
  );
};

const checkPlaces = (pool: PoolEntry, { file, own, complete, report }: Surroundings): void => {
  const segments = file.segments.value.map((s) => s.value);
  const members = pool.members.value.map((m) => m.value);
  for (const ip of members.flatMap((m) => (m.monitor_ip === undefined ? [m.ip] : [m.ip, m.monitor_ip]))) {
    checkForeign(own, ip, report);
    const segment = segmentOf(segments, ip.value);
    if (segment !== undefined) checkHostOf(segment, ip, report);
    else if (complete && !file.routes.value.some((r) => prefixContains(r.value.to.value, ip.value))) {
      report(ip.at, `${formatIpv4(ip.value)} is in no segment and behind no route`);
    }
  }
};

/**
 * What must hold in load balancers wherever they are.
 *
 * @param complete false when parts of the file could not be read: what seems to be missing may be there
 */
export const checkAlone = (balancers: readonly LoadBalancerEntry[], complete: boolean, report: Report): void => {
  checkUnique(
    balancers.map((lb) => lb.name),
    quoted,
    report,
  );
  for (const balancer of balancers) {
    checkListeners(balancer, complete, report);
    checkUnique(
      balancer.pools.value.map((p) => p.value.name),
      quoted,
      report,
    );
    for (const { value: pool } of balancer.pools.value) checkPool(pool, report);
  }
};

/** @param complete false when parts of the file could not be read: what seems to be missing may be there */
export const checkLoadBalancers = (file: TopologyFile, own: OwnAddresses, complete: boolean, report: Report): void => {
  const balancers = file.load_balancers.value.map((lb) => lb.value);
  const listeners = balancers.flatMap((lb) => lb.listeners.value.map((l) => l.value));
  const pools = balancers.flatMap((lb) => lb.pools.value.map((p) => p.value));
  const members = pools.flatMap((p) => p.members.value.map((m) => m.value));
  for (const rows of [balancers, listeners, pools, members]) {
    checkUnique(
      rows.flatMap((row) => row.id ?? []),
      String,
      report,
    );
  }
  const surroundings = { file, own, complete, report };
  for (const balancer of balancers) checkVips(balancer, surroundings);
  for (const pool of pools) checkPlaces(pool, surroundings);
  checkAlone(balancers, complete, report);
};
