/** From a topology file that is free of errors to the model. */
import { formatIpv4 } from "../../openflow/packet/address.ts";
import { assignIds, type IdBook, idLimits, type WantedId } from "../../pipeline/ids.ts";
import type {
  HealthMonitor,
  Listener,
  LoadBalancer,
  Member,
  Pool,
  PortRef,
  Segment,
  Topology,
} from "../../pipeline/model.ts";
import { nameUuid } from "../../pipeline/uuid.ts";
import { segmentOf } from "./addresses.ts";
import type { Located } from "./reader.ts";
import type {
  HealthMonitorEntry,
  ListenerEntry,
  LoadBalancerEntry,
  MemberEntry,
  PoolEntry,
  SegmentEntry,
  TopologyFile,
} from "./schema.ts";

const values = <T>(rows: Located<readonly Located<T>[]>): readonly T[] => rows.value.map((row) => row.value);

/** Names contain no slash, so that paths are unambiguous. */
const path = (...names: readonly string[]): string => names.join("/");

const wanted = (key: string, id: Located<number> | undefined): WantedId =>
  id === undefined ? { key } : { key, id: id.value };

const memberAddress = (member: MemberEntry): string => `${formatIpv4(member.ip.value)}:${member.port.value}`;

/** A member's number follows its address: a member that is renamed keeps its connections' number. */
const assignAll = (file: TopologyFile, previous: IdBook): IdBook => {
  const balancers = values(file.load_balancers);
  const listeners: WantedId[] = [];
  const pools: WantedId[] = [];
  const members: WantedId[] = [];
  for (const lb of balancers) {
    for (const l of values(lb.listeners)) listeners.push(wanted(path(lb.name.value, l.name.value), l.id));
    for (const p of values(lb.pools)) {
      const pool = path(lb.name.value, p.name.value);
      pools.push(wanted(pool, p.id));
      for (const m of values(p.members)) members.push(wanted(path(pool, memberAddress(m)), m.id));
    }
  }
  const segments = values(file.segments).map((s) => wanted(s.name.value, s.id));
  return {
    segment: assignIds(previous.segment, segments, idLimits.segment),
    loadBalancer: assignIds(
      previous.loadBalancer,
      balancers.map((lb) => wanted(lb.name.value, lb.id)),
      idLimits.loadBalancer,
    ),
    listener: assignIds(previous.listener, listeners, idLimits.listener),
    pool: assignIds(previous.pool, pools, idLimits.pool),
    member: assignIds(previous.member, members, idLimits.member),
  };
};

const buildSegment = (entry: SegmentEntry, ids: IdBook): Segment => ({
  id: ids.segment.ids.get(entry.name.value)!,
  name: entry.name.value,
  uuid: nameUuid("segment", entry.name.value),
  subnet: entry.subnet.value,
  gateway: { ip: entry.gateway.value.ip.value, mac: entry.gateway.value.mac.value },
  kind: entry.kind.value,
  ports: values(entry.ports).map(
    (p): PortRef => ({
      name: p.name.value,
      role: p.role.value,
      ...(p.mac === undefined ? {} : { mac: p.mac.value }),
    }),
  ),
  ...(entry.probe === undefined ? {} : { probe: { ip: entry.probe.value } }),
  ageing: entry.ageing.value,
  learnLimit: entry.learn_limit.value,
  clientsLearned: entry.learn_clients.value,
});

const buildMonitor = (entry: HealthMonitorEntry): HealthMonitor => ({
  type: entry.type.value,
  intervalMs: entry.interval.value,
  timeoutMs: entry.timeout.value,
  rise: entry.rise.value,
  fall: entry.fall.value,
  ...(entry.type.value === "http"
    ? {
        http: {
          method: entry.method?.value ?? "GET",
          path: entry.path?.value ?? "/",
          version: entry.version?.value ?? "1.1",
          ...(entry.host === undefined ? {} : { host: entry.host.value }),
          expectedCodes: entry.codes?.value ?? [{ first: 200, last: 200 }],
        },
      }
    : {}),
});

const buildMember = (
  entry: MemberEntry,
  names: readonly string[],
  segments: readonly SegmentEntry[],
  ids: IdBook,
): Member => {
  const segment = segmentOf(segments, entry.ip.value);
  const address = memberAddress(entry);
  return {
    id: ids.member.ids.get(path(...names, address))!,
    name: entry.name.value,
    uuid: nameUuid("member", ...names, address),
    ip: entry.ip.value,
    port: entry.port.value,
    weight: entry.weight.value,
    adminUp: entry.enabled.value,
    drain: entry.drain.value,
    ...(segment === undefined ? {} : { segment: ids.segment.ids.get(segment.name.value)! }),
    backup: entry.backup.value,
    ...(entry.monitor_ip === undefined && entry.monitor_port === undefined
      ? {}
      : { monitor: { ip: (entry.monitor_ip ?? entry.ip).value, port: (entry.monitor_port ?? entry.port).value } }),
  };
};

const buildPool = (entry: PoolEntry, balancer: string, segments: readonly SegmentEntry[], ids: IdBook): Pool => {
  const names = [balancer, entry.name.value];
  const algorithm = entry.algorithm.value;
  return {
    id: ids.pool.ids.get(path(...names))!,
    name: entry.name.value,
    uuid: nameUuid("pool", ...names),
    algorithm: algorithm === "source-ip" ? "consistent" : algorithm,
    slots: entry.slots.value,
    ...(algorithm === "source-ip" || entry.session_persistence !== undefined ? { affinity: "source-ip" } : {}),
    members: values(entry.members).map((m) => buildMember(m, names, segments, ids)),
    ...(entry.health_monitor === undefined ? {} : { healthMonitor: buildMonitor(entry.health_monitor.value) }),
  };
};

const buildListener = (entry: ListenerEntry, balancer: string, ids: IdBook): Listener => ({
  id: ids.listener.ids.get(path(balancer, entry.name.value))!,
  name: entry.name.value,
  uuid: nameUuid("listener", balancer, entry.name.value),
  protocol: entry.protocol.value,
  port: entry.port.value,
  ...(entry.vips === undefined ? {} : { vips: values(entry.vips) }),
  ...(entry.pool === undefined ? {} : { poolId: ids.pool.ids.get(path(balancer, entry.pool.value))! }),
  ...(entry.allowed_sources === undefined ? {} : { allowedSources: values(entry.allowed_sources) }),
  ...(entry.connection_limit === undefined ? {} : { connectionLimit: entry.connection_limit.value }),
  ...(entry.idle_timeout === undefined ? {} : { idleTimeoutMs: entry.idle_timeout.value * 1000 }),
  slotChoice: entry.slot_choice.value,
  sessions: entry.sessions.value,
  adminUp: entry.enabled.value,
  emptyPolicy: entry.when_empty.value,
});

const buildBalancer = (entry: LoadBalancerEntry, segments: readonly SegmentEntry[], ids: IdBook): LoadBalancer => ({
  id: ids.loadBalancer.ids.get(entry.name.value)!,
  name: entry.name.value,
  uuid: nameUuid("loadbalancer", entry.name.value),
  adminUp: entry.enabled.value,
  vips: values(entry.vips).map((v) => ({ ip: v.ip.value, segment: ids.segment.ids.get(v.segment.value)! })),
  listeners: values(entry.listeners).map((l) => buildListener(l, entry.name.value, ids)),
  pools: values(entry.pools).map((p) => buildPool(p, entry.name.value, segments, ids)),
});

/** The topology and the numbers it was given. `file` has passed all checks. */
export const buildTopology = (
  file: TopologyFile,
  previous: IdBook,
): { readonly topology: Topology; readonly ids: IdBook } => {
  const ids = assignAll(file, previous);
  const segments = values(file.segments);
  const segmentId = (ip: number): number => ids.segment.ids.get(segmentOf(segments, ip)!.name.value)!;
  return {
    ids,
    topology: {
      nodes: values(file.nodes).map((n) => ({
        name: n.name.value,
        ...(n.datapath_id === undefined ? {} : { datapathId: n.datapath_id.value }),
      })),
      segments: segments.map((s) => buildSegment(s, ids)),
      routes: values(file.routes).map((r) => ({
        prefix: r.to.value,
        via: r.via.value,
        segment: segmentId(r.via.value),
      })),
      staticNeighbours: values(file.neighbours).map((n) => ({
        segment: segmentId(n.ip.value),
        ip: n.ip.value,
        mac: n.mac.value,
        ...(n.port === undefined ? {} : { port: n.port.value }),
      })),
      loadBalancers: values(file.load_balancers).map((lb) => buildBalancer(lb, segments, ids)),
    },
  };
};
