/** The shape of the topology file: which keys there are, what they hold, what they default to. */
import { isAlias, isMap } from "yaml";
import { slotLimits } from "../../pipeline/slots.ts";
import { list, optional, type Reader, record, required, withDefault } from "./reader.ts";
import {
  datapathId,
  flag,
  hostName,
  httpPath,
  integer,
  ipv4,
  mac,
  name,
  portName,
  powerOfTwo,
  prefix,
  seconds,
  statusCodes,
  word,
} from "./scalars.ts";

/** What a reader reads. */
type Read<R> = R extends Reader<infer T> ? T : never;

const id = integer(1, 0xffff);

const node = record({ name: required(name), datapath_id: optional(datapathId) });

const portRecord = record({
  name: required(portName),
  role: withDefault(word("host", "uplink"), "host"),
  mac: optional(mac),
});

/** A port is a mapping or, when there is nothing to say about it, its name alone. */
const port: Reader<Read<typeof portRecord>> = (yaml, at, reading) => {
  if (isMap(isAlias(yaml) ? yaml.resolve(reading.document) : yaml)) return portRecord(yaml, at, reading);
  const value = portName(yaml, at, reading);
  return value === undefined ? undefined : { name: { value, at }, role: { value: "host", at }, mac: undefined };
};

const segment = record({
  name: required(name),
  id: optional(id),
  kind: withDefault(word("private", "public"), "private"),
  // A segment needs a network, a broadcast, a gateway and at least one more address.
  subnet: required(prefix(8, 29)),
  gateway: required(record({ ip: required(ipv4), mac: required(mac) })),
  probe: optional(ipv4),
  ports: required(list(port)),
  ageing: withDefault(integer(1, 0xffff), 300),
  learn_limit: withDefault(integer(1, 1_000_000), 4096),
  learn_clients: withDefault(flag, true),
});

const route = record({ to: required(prefix(0, 32)), via: required(ipv4) });

const neighbour = record({ ip: required(ipv4), mac: required(mac), port: optional(portName) });

const vip = record({ ip: required(ipv4), segment: required(name) });

const listener = record({
  name: required(name),
  id: optional(id),
  protocol: withDefault(word("tcp", "udp"), "tcp"),
  port: required(integer(1, 0xffff)),
  vips: optional(list(ipv4)),
  allowed_sources: optional(list(prefix(0, 32))),
  pool: optional(name),
  slot_choice: withDefault(word("multipath", "bits"), "multipath"),
  sessions: withDefault(word("conntrack"), "conntrack"),
  when_empty: withDefault(word("drop", "reject"), "drop"),
  connection_limit: optional(integer(1, 1_000_000)),
  idle_timeout: optional(integer(1, 0xffff)),
  enabled: withDefault(flag, true),
});

const member = record({
  name: required(name),
  id: optional(id),
  ip: required(ipv4),
  port: required(integer(1, 0xffff)),
  weight: withDefault(integer(0, 256), 1),
  enabled: withDefault(flag, true),
  drain: withDefault(flag, false),
  backup: withDefault(flag, false),
  monitor_ip: optional(ipv4),
  monitor_port: optional(integer(1, 0xffff)),
});

const healthMonitor = record({
  type: required(word("tcp", "http", "icmp", "udp")),
  interval: withDefault(seconds(0.1, 3600), 2000),
  timeout: withDefault(seconds(0.05, 3600), 1000),
  rise: withDefault(integer(1, 10), 2),
  fall: withDefault(integer(1, 10), 3),
  method: optional(word("GET", "HEAD", "OPTIONS")),
  path: optional(httpPath),
  version: optional(word("1.0", "1.1")),
  host: optional(hostName),
  codes: optional(statusCodes),
});

const pool = record({
  name: required(name),
  id: optional(id),
  algorithm: withDefault(word("consistent", "least-connections", "source-ip"), "consistent"),
  session_persistence: optional(word("source-ip")),
  slots: withDefault(powerOfTwo(slotLimits.min, slotLimits.max), 1024),
  health_monitor: optional(healthMonitor),
  members: withDefault(list(member), []),
});

const loadBalancer = record({
  name: required(name),
  id: optional(id),
  enabled: withDefault(flag, true),
  vips: required(list(vip)),
  listeners: withDefault(list(listener), []),
  pools: withDefault(list(pool), []),
});

export const topologyFile = record({
  nodes: required(list(node)),
  segments: required(list(segment)),
  routes: withDefault(list(route), []),
  neighbours: withDefault(list(neighbour), []),
  load_balancers: withDefault(list(loadBalancer), []),
});

/** A file with load balancers and nothing else, for `lbctl apply`: in the topology file's words. */
export const balancersFile = record({ load_balancers: required(list(loadBalancer)) });

export type TopologyFile = Read<typeof topologyFile>;
export type SegmentEntry = Read<typeof segment>;
export type LoadBalancerEntry = Read<typeof loadBalancer>;
export type ListenerEntry = Read<typeof listener>;
export type PoolEntry = Read<typeof pool>;
export type HealthMonitorEntry = Read<typeof healthMonitor>;
export type MemberEntry = Read<typeof member>;
