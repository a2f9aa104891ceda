import type { NodeController } from "../controller/node.ts";
import { storedVips } from "../controller/octavia/vips.ts";
import type { Snapshot } from "../controller/store/snapshot.ts";
import { parseIpv4 } from "../openflow/packet/address.ts";
import { parseCookie } from "../pipeline/cookies.ts";
import { healthOf } from "../pipeline/eligibility.ts";
import type { Health, Topology } from "../pipeline/model.ts";
import { T } from "../pipeline/tables.ts";
import type { ApiAddresses } from "./config/addresses.ts";

/** What probes say of the member with that uuid; "unmonitored" for one that no topology has. */
export function healthByUuid(topology: Topology, health: ReadonlyMap<number, Health>, uuid: string): Health {
  for (const lb of topology.loadBalancers) {
    for (const pool of lb.pools) {
      const member = pool.members.find((m) => m.uuid === uuid);
      if (member) return healthOf(pool, member, health);
    }
  }
  return "unmonitored";
}

/**
 * Traffic of a listener or of a whole load balancer, by the flows of the listeners table as the last look at the
 * switches found them. Switches count packets and bytes towards the VIP; connections and answers they do not count by
 * listener, so these stay 0.
 */
export function listenerStats(topology: Topology, nodes: readonly NodeController[], uuid: string) {
  const listeners = topology.loadBalancers.flatMap((lb) =>
    lb.listeners.filter((l) => lb.uuid === uuid || l.uuid === uuid).map((l) => l.id),
  );
  let bytes = 0n;
  for (const n of nodes) {
    for (const f of n.lastSeen) {
      if (f.tableId !== T.listeners) continue;
      const object = parseCookie(f.cookie)?.object;
      if (object?.kind === "listener" && listeners.includes(object.id)) bytes += f.byteCount;
    }
  }
  return { bytes_in: Number(bytes), bytes_out: 0, active_connections: 0, total_connections: 0, request_errors: 0 };
}

/** Addresses that the topology file may not use, since something made through the API has them. */
export function apiAddresses(state: Snapshot): ApiAddresses {
  const named = (ip: string, name: string) => {
    const number = parseIpv4(ip);
    return number === undefined ? [] : [[number, name] as const];
  };
  return {
    vips: new Map([...storedVips(state)].flatMap((vip) => named(vip.ip, `load balancer ${vip.owner}`))),
    members: new Map([...state.all("members")].flatMap((m) => named(m.address, `member ${m.id}`))),
  };
}

const TABLES = {
  loadbalancers: "loadBalancers",
  listeners: "listeners",
  pools: "pools",
  healthmonitors: "healthMonitors",
  quotas: "quotas",
} as const;

/** What is stored of the object that a path of the Octavia API names; the members for a list of those. */
export function storedObject(state: Snapshot, path: string): unknown {
  const [, rest] = /\/lbaas\/([^?]*)/.exec(path) ?? [];
  const [kind = "", id = "", inner, innerId] = (rest ?? "").split("/");
  if (kind === "pools" && inner === "members") {
    return innerId ? state.get("members", innerId) : state.children("members", id);
  }
  const table = Object.hasOwn(TABLES, kind) ? TABLES[kind as keyof typeof TABLES] : undefined;
  return table === undefined || id === "" ? undefined : state.get(table, id);
}
