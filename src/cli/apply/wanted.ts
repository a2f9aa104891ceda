/** From the entries of a file to the objects that are wanted on the server. */
import { formatIpv4, formatPrefix } from "../../../openflow/packet/address.ts";
import { statusCodesText } from "../../../pipeline/status-codes.ts";
import { checkAlone } from "../../config/check-balancers.ts";
import { type FileResult, parseFile } from "../../config/document.ts";
import type { At, Located, Report } from "../../config/reader.ts";
import {
  balancersFile,
  type HealthMonitorEntry,
  type ListenerEntry,
  type LoadBalancerEntry,
  type PoolEntry,
} from "../../config/schema.ts";
import { type Balancer, type Pool, type Thing, usualIdleMs, type Value } from "./objects.ts";

/** What the file says, or null where it says nothing: the place of a default is that of the whole record. */
const said = <T extends Value>({ value, at }: Located<T>, record: At): T | null =>
  at.field === record.field ? null : value;

const listenerOf = (entry: ListenerEntry, at: At): Thing => {
  const idle = entry.idle_timeout?.value;
  return {
    name: entry.name.value,
    fixed: { protocol: entry.protocol.value, port: entry.port.value },
    words: {
      pool: entry.pool?.value ?? null,
      vips: entry.vips?.value.map((v) => formatIpv4(v.value)).sort() ?? null,
      allowed_sources: entry.allowed_sources?.value.map((p) => formatPrefix(p.value)).sort() ?? null,
      slot_choice: said(entry.slot_choice, at),
      sessions: said(entry.sessions, at),
      when_empty: said(entry.when_empty, at),
      connection_limit: entry.connection_limit?.value ?? null,
      idle_timeout: idle === undefined || idle * 1000 === usualIdleMs ? null : idle,
      enabled: entry.enabled.value,
    },
  };
};

const monitorOf = (entry: HealthMonitorEntry): Thing => ({
  name: "",
  fixed: { type: entry.type.value },
  words: {
    interval: entry.interval.value / 1000,
    timeout: entry.timeout.value / 1000,
    rise: entry.rise.value,
    fall: entry.fall.value,
    ...(entry.type.value === "http"
      ? {
          method: entry.method?.value ?? "GET",
          path: entry.path?.value ?? "/",
          version: entry.version?.value ?? "1.1",
          host: entry.host?.value ?? null,
          codes: statusCodesText(entry.codes?.value ?? [{ first: 200, last: 200 }]),
        }
      : {}),
  },
});

/** A pool has no protocol in the file: it has that of the listeners that use it. */
const poolProtocol = (pool: PoolEntry, balancer: LoadBalancerEntry): "tcp" | "udp" | null => {
  const user = balancer.listeners.value.find((l) => l.value.pool?.value === pool.name.value);
  if (user !== undefined) return user.value.protocol.value;
  return pool.health_monitor?.value.type.value === "udp" ? "udp" : null;
};

const poolOf = (entry: PoolEntry, at: At, balancer: LoadBalancerEntry): Pool => ({
  self: {
    name: entry.name.value,
    fixed: { protocol: poolProtocol(entry, balancer) },
    words: {
      algorithm: entry.algorithm.value,
      session_persistence: entry.session_persistence?.value ?? null,
      slots: said(entry.slots, at),
    },
  },
  members: entry.members.value.map(({ value: m }) => ({
    name: m.name.value,
    fixed: { ip: formatIpv4(m.ip.value), port: m.port.value },
    words: {
      weight: m.weight.value,
      enabled: m.enabled.value,
      backup: m.backup.value,
      monitor_ip: m.monitor_ip === undefined ? null : formatIpv4(m.monitor_ip.value),
      monitor_port: m.monitor_port?.value ?? null,
    },
  })),
  monitor: entry.health_monitor === undefined ? undefined : monitorOf(entry.health_monitor.value),
});

const balancerOf = (entry: LoadBalancerEntry): Balancer => ({
  self: { name: entry.name.value, fixed: {}, words: { enabled: entry.enabled.value } },
  vips: entry.vips.value.map(({ value: v }) => ({ segment: v.segment.value, ip: formatIpv4(v.ip.value) })),
  listeners: entry.listeners.value.map(({ value, at }) => listenerOf(value, at)),
  pools: entry.pools.value.map(({ value, at }) => poolOf(value, at, entry)),
});

const checkSeconds = (time: Located<number>, report: Report): void => {
  if (time.value % 1000 !== 0) report(time.at, "the API has whole seconds only", "a whole number from 1");
};

/** What the file's words can say and the API cannot. */
const checkSayable = (balancer: LoadBalancerEntry, report: Report): void => {
  const pools = balancer.pools.value.map((p) => p.value);
  const members = pools.flatMap((p) => p.members.value.map((m) => m.value));
  const listeners = balancer.listeners.value.map((l) => l.value);
  for (const { id } of [balancer, ...listeners, ...pools, ...members]) {
    if (id !== undefined) report(id.at, "the daemon numbers what is made through the API", "no id");
  }
  if (balancer.vips.value.length === 0) report(balancer.vips.at, "a load balancer needs an address");
  for (const { drain } of members) {
    if (drain.value) report(drain.at, "draining is no part of the API", "false, and lbctl drain MEMBER");
  }
  for (const { health_monitor: located } of pools) {
    if (located === undefined) continue;
    const { interval, timeout, codes } = located.value;
    checkSeconds(interval, report);
    checkSeconds(timeout, report);
    if (codes !== undefined && codes.value.length > 1 && codes.value.some((c) => c.first !== c.last)) {
      report(codes.at, "the API has a list of codes or one range", "such as 200,204 or 200-299");
    }
  }
  for (const listener of listeners) {
    const first = listeners.find((l) => l.pool !== undefined && l.pool.value === listener.pool?.value);
    if (first !== undefined && listener.pool !== undefined && first.protocol.value !== listener.protocol.value) {
      const users = `${first.name.value} is ${first.protocol.value}, ${listener.name.value} is ${listener.protocol.value}`;
      report(listener.pool.at, `a pool has one protocol: ${users}`, "a pool for each protocol");
    }
  }
};

/** Reads the text of a file for `lbctl apply`; `file` is its name in errors. Never throws. */
export const parseWanted = (text: string, file: string): FileResult<readonly Balancer[]> => {
  const read = parseFile(text, file, balancersFile, "the key load_balancers", (value, complete, report) => {
    const entries = value.load_balancers.value.map((lb) => lb.value);
    checkAlone(entries, complete, report);
    for (const entry of entries) checkSayable(entry, report);
  });
  return read.ok ? { ok: true, value: read.value.load_balancers.value.map((lb) => balancerOf(lb.value)) } : read;
};
