/** Operating statuses: not stored, but what health, admin states and connections come to at the moment of asking. */
import { parseIpv4 } from "../../openflow/packet/address.ts";
import { eligibility } from "../../pipeline/eligibility.ts";
import type { Health, Topology } from "../../pipeline/model.ts";
import type { HealthMonitorRow, ListenerRow, LoadBalancerRow, MemberRow, PoolRow } from "../store/rows.ts";
import type { View } from "../store/snapshot.ts";
import { findSegment, isReachable } from "./segments.ts";
import { ownOfTopology } from "./vips.ts";

export type OperatingStatus = "ONLINE" | "OFFLINE" | "DEGRADED" | "ERROR" | "DRAINING" | "NO_MONITOR";

/** What the daemon sees. */
export interface Observed {
  readonly topology: Topology;
  /** By the member's UUID. */
  healthOf(member: string): Health;
  /** Whether a switch carries the load balancers out. */
  readonly connected: boolean;
}

/** The statuses of the objects in one state. */
export interface Statuses {
  loadBalancer(row: LoadBalancerRow): OperatingStatus;
  listener(row: ListenerRow): OperatingStatus;
  pool(row: PoolRow): OperatingStatus;
  member(row: MemberRow, pool?: PoolRow): OperatingStatus;
  healthMonitor(row: HealthMonitorRow): OperatingStatus;
}

const ofEligibility = {
  disabled: "OFFLINE",
  draining: "DRAINING",
  "zero-weight": "DRAINING",
  down: "ERROR",
  unproven: "OFFLINE",
} as const;

/** Statuses of what `view` holds. */
export const statusesOf = (view: View, observed: Observed): Statuses => {
  const { topology, connected } = observed;

  const own = ownOfTopology(topology);
  const isTaken = (address: string): boolean => {
    const ip = parseIpv4(address);
    return ip !== undefined && own.has(ip);
  };

  const isEnabled = (lb: string, adminUp: boolean): boolean =>
    adminUp && (view.get("loadBalancers", lb)?.admin_state_up ?? false);

  const memberIn = (row: MemberRow, pool: PoolRow, monitored: boolean): OperatingStatus => {
    const adminUp = row.admin_state_up && isEnabled(pool.loadbalancer_id, pool.admin_state_up);
    const health = monitored ? observed.healthOf(row.id) : "unmonitored";
    const verdict = eligibility({ adminUp, drain: row.drain, weight: row.weight }, health);
    if (verdict !== "eligible") return ofEligibility[verdict];
    const ip = parseIpv4(row.address);
    if (ip === undefined || own.has(ip) || !isReachable(topology, ip)) return "ERROR";
    return monitored ? "ONLINE" : "NO_MONITOR";
  };
  const isMonitored = (pool: PoolRow): boolean =>
    view.children("healthMonitors", pool.id).some((monitor) => monitor.admin_state_up);

  const pool = (row: PoolRow): OperatingStatus => {
    if (!connected || !isEnabled(row.loadbalancer_id, row.admin_state_up)) return "OFFLINE";
    const monitored = isMonitored(row);
    const members = view.children("members", row.id).map((m) => memberIn(m, row, monitored));
    const good = members.filter((s) => s === "ONLINE" || s === "NO_MONITOR").length;
    const bad = members.filter((s) => s === "ERROR").length;
    if (good > 0) return bad > 0 ? "DEGRADED" : "ONLINE";
    if (bad > 0) return "ERROR";
    return members.length === 0 ? "ONLINE" : "OFFLINE";
  };

  const loadBalancer = (row: LoadBalancerRow): OperatingStatus => {
    if (!connected || !row.admin_state_up) return "OFFLINE";
    const subnets = [row.vip_subnet_id, ...row.additional_vips.map((v) => v.subnet_id)];
    if (subnets.some((subnet) => findSegment(topology, subnet) === undefined)) return "ERROR";
    const vips = [row.vip_address, ...row.additional_vips.map((v) => v.ip_address)];
    if (vips.some(isTaken)) return "ERROR";
    const used = new Set(view.children("listeners", row.id).map((l) => (l.admin_state_up ? l.default_pool_id : null)));
    const statuses = view
      .children("pools", row.id)
      .filter((p) => p.admin_state_up && used.has(p.id))
      .map(pool);
    if (statuses.length > 0 && statuses.every((s) => s === "ERROR")) return "ERROR";
    return statuses.every((s) => s === "ONLINE") ? "ONLINE" : "DEGRADED";
  };

  return {
    loadBalancer,
    pool,
    listener: (row) => (connected && isEnabled(row.loadbalancer_id, row.admin_state_up) ? "ONLINE" : "OFFLINE"),
    member: (row, given) => {
      const parent = given ?? view.get("pools", row.pool_id);
      return parent === undefined ? "OFFLINE" : memberIn(row, parent, isMonitored(parent));
    },
    healthMonitor: (row) => {
      const parent = view.get("pools", row.pool_id);
      const up = parent !== undefined && row.admin_state_up && isEnabled(parent.loadbalancer_id, parent.admin_state_up);
      return up ? "ONLINE" : "OFFLINE";
    },
  };
};
