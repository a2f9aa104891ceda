/** Stored rows as the load balancers of the pipeline's model. */
import { parseIpv4, parsePrefix } from "../../openflow/packet/address.ts";
import type {
  EmptyPolicy,
  HealthMonitor,
  Listener,
  LoadBalancer,
  Member,
  Pool,
  SessionKeeping,
  SlotChoice,
  Topology,
  Vip,
} from "../../pipeline/model.ts";
import { parseStatusCodes } from "../../pipeline/status-codes.ts";
import type { HealthMonitorRow, ListenerRow, LoadBalancerRow, MemberRow, PoolRow } from "../store/rows.ts";
import type { View } from "../store/snapshot.ts";
import { findSegment, segmentOf } from "./segments.ts";
import { ownOfTopology } from "./vips.ts";

/** What listeners and pools get that do not say it themselves. */
export interface ModelDefaults {
  readonly slotChoice: SlotChoice;
  readonly sessions: SessionKeeping;
  readonly emptyPolicy: EmptyPolicy;
  readonly slots: number;
}

/** Objects of the topology file are numbered from 1; stored ones begin here, so that the two never meet in a register. */
const FIRST_NUMBER = 0x100_0000;
const numbered = (n: number): number => FIRST_NUMBER + n;

/** Something stored that cannot be carried out on this topology. */
interface ModelProblem {
  /** UUID of the object. */
  readonly id: string;
  readonly message: string;
}

/** The model, and what had to be left out of it. */
export interface Modelled {
  readonly loadBalancers: readonly LoadBalancer[];
  readonly problems: readonly ModelProblem[];
}

/** All load balancers of `view` on `topology`. */
export const toModel = (view: View, topology: Topology, defaults: ModelDefaults): Modelled => {
  const problems: ModelProblem[] = [];
  const report = (id: string, message: string): undefined => {
    problems.push({ id, message });
    return undefined;
  };

  const own = ownOfTopology(topology);

  const vip = (lb: LoadBalancerRow, address: string, subnet: string): Vip | undefined => {
    const ip = parseIpv4(address);
    const segment = findSegment(topology, subnet);
    if (segment === undefined) return report(lb.id, `the segment ${subnet} of VIP ${address} is not in the topology`);
    if (ip === undefined) return report(lb.id, `VIP ${address} is not an IPv4 address`);
    const owner = own.get(ip);
    return owner === undefined ? { ip, segment: segment.id } : report(lb.id, `VIP ${address} is in use by ${owner}`);
  };

  const member = (row: MemberRow): Member | undefined => {
    const ip = parseIpv4(row.address);
    if (ip === undefined) return report(row.id, `member address ${row.address} is not an IPv4 address`);
    const owner = own.get(ip);
    if (owner !== undefined) return report(row.id, `member address ${row.address} is in use by ${owner}`);
    const segment = row.subnet_id === null ? segmentOf(topology, ip) : findSegment(topology, row.subnet_id);
    const probed = row.monitor_address === null ? ip : parseIpv4(row.monitor_address);
    if (probed === undefined) report(row.id, `monitor address ${row.monitor_address} is not an IPv4 address`);
    const elsewhere = probed !== undefined && (row.monitor_address !== null || row.monitor_port !== null);
    return {
      id: numbered(row.number),
      name: row.name || row.address,
      uuid: row.id,
      ip,
      port: row.protocol_port,
      weight: row.weight,
      adminUp: row.admin_state_up,
      drain: row.drain,
      ...(segment === undefined ? {} : { segment: segment.id }),
      backup: row.backup,
      ...(elsewhere ? { monitor: { ip: probed, port: row.monitor_port ?? row.protocol_port } } : {}),
    };
  };

  const pool = (row: PoolRow): Pool => {
    const monitor = view.children("healthMonitors", row.id).find((m) => m.admin_state_up);
    const sticky = row.lb_algorithm === "SOURCE_IP" || row.session_persistence !== null;
    return {
      id: numbered(row.number),
      name: row.name || row.id,
      uuid: row.id,
      algorithm: row.lb_algorithm === "LEAST_CONNECTIONS" ? "least-connections" : "consistent",
      slots: row.slots ?? defaults.slots,
      ...(sticky ? { affinity: "source-ip" } : {}),
      // A pool that is switched off has no member that could serve.
      members: view.children("members", row.id).flatMap((m) => {
        const modelled = member(m);
        return modelled === undefined ? [] : [{ ...modelled, adminUp: modelled.adminUp && row.admin_state_up }];
      }),
      ...(monitor === undefined ? {} : { healthMonitor: healthMonitor(monitor) }),
    };
  };

  const listener = (row: ListenerRow): Listener => {
    const target = row.default_pool_id === null ? undefined : view.get("pools", row.default_pool_id);
    return {
      id: numbered(row.number),
      name: row.name || `${row.protocol.toLowerCase()}-${row.protocol_port}`,
      uuid: row.id,
      protocol: row.protocol === "TCP" ? "tcp" : "udp",
      port: row.protocol_port,
      ...(row.vips === null ? {} : { vips: row.vips.flatMap((v) => parseIpv4(v) ?? []) }),
      ...(target === undefined ? {} : { poolId: numbered(target.number) }),
      ...(row.allowed_cidrs === null ? {} : { allowedSources: row.allowed_cidrs.flatMap((c) => parsePrefix(c) ?? []) }),
      ...(row.connection_limit === -1 ? {} : { connectionLimit: row.connection_limit }),
      // 0 is no timeout.
      ...([0, usualIdleMs].includes(row.timeout_client_data) ? {} : { idleTimeoutMs: row.timeout_client_data }),
      slotChoice: row.slot_choice ?? defaults.slotChoice,
      sessions: row.session_keeping ?? defaults.sessions,
      adminUp: row.admin_state_up,
      emptyPolicy: row.empty_policy ?? defaults.emptyPolicy,
    };
  };

  const loadBalancers = [...view.all("loadBalancers")].map((lb) => ({
    id: numbered(lb.number),
    name: lb.name || lb.id,
    uuid: lb.id,
    adminUp: lb.admin_state_up,
    vips: [{ ip_address: lb.vip_address, subnet_id: lb.vip_subnet_id }, ...lb.additional_vips].flatMap(
      (v) => vip(lb, v.ip_address, v.subnet_id) ?? [],
    ),
    listeners: view.children("listeners", lb.id).map(listener),
    pools: view.children("pools", lb.id).map(pool),
  }));
  return { loadBalancers, problems };
};

/** The idle time of a listener that says nothing about it: then the switch's own timeouts hold. */
const usualIdleMs = 50_000;

const probeTypes = { TCP: "tcp", HTTP: "http", PING: "icmp", "UDP-CONNECT": "udp" } as const;

const healthMonitor = (row: HealthMonitorRow): HealthMonitor => ({
  type: probeTypes[row.type],
  intervalMs: row.delay * 1000,
  // A probe that lasted longer than the interval would run into the next one.
  timeoutMs: Math.min(row.timeout, row.delay) * 1000,
  rise: row.max_retries,
  fall: row.max_retries_down,
  ...(row.type === "HTTP"
    ? {
        http: {
          method: row.http_method ?? "GET",
          path: row.url_path ?? "/",
          version: row.http_version === 1.1 ? "1.1" : "1.0",
          ...(row.domain_name === null ? {} : { host: row.domain_name }),
          expectedCodes: parseStatusCodes(row.expected_codes ?? "200") ?? [],
        },
      }
    : {}),
});
