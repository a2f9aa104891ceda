/** A load balancer with all its listeners, pools, members and monitors in one request. */
import type { LoadBalancerRow, PoolRow } from "../store/rows.ts";
import { Fault, invalidField, validationFailure } from "./fault.ts";
import { createHealthMonitor } from "./health-monitors.ts";
import { adoptPool, createListener } from "./listeners.ts";
import { createLoadBalancer } from "./load-balancers.ts";
import { createMember } from "./members.ts";
import { createPool } from "./pools.ts";
import type { Work } from "./work.ts";

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A pool with the members and the monitor it is described with. */
export const createWholePool = (work: Work, body: unknown, lb?: LoadBalancerRow): PoolRow => {
  const { row, members, healthMonitor } = createPool(work, body, lb);
  for (const member of members) createMember(work, row, member);
  if (healthMonitor !== undefined) createHealthMonitor(work, healthMonitor, row);
  return row;
};

/** POST /loadbalancers: all of it or nothing. */
export const createTree = (work: Work, body: unknown): LoadBalancerRow => {
  const { row: lb, listeners, pools } = createLoadBalancer(work, body);
  const named = new Map<string, PoolRow>();
  const addPool = (description: unknown): PoolRow => {
    if (!isObject(description)) throw invalidField("pools", description, "Value should be an object");
    const name = description["name"];
    if (typeof name !== "string" || name === "") {
      throw validationFailure("Pools must be named when creating a fully populated loadbalancer.");
    }
    if (named.has(name))
      throw validationFailure("Pool names must be unique when creating a fully populated loadbalancer.");
    const pool = createWholePool(work, description, lb);
    named.set(name, pool);
    return pool;
  };
  for (const pool of pools) addPool(pool);
  for (const description of listeners) {
    const { row, defaultPool } = createListener(work, description, lb);
    if (defaultPool === undefined) continue;
    if (!isObject(defaultPool)) throw invalidField("default_pool", defaultPool, "Value should be an object");
    adoptPool(work, row, isReference(defaultPool) ? referred(named, defaultPool["name"]) : addPool(defaultPool));
  }
  return lb;
};

/** A pool is described in full once, anywhere; elsewhere its name stands for it. */
const isReference = (pool: Record<string, unknown>): boolean => Object.keys(pool).join() === "name";

const referred = (named: ReadonlyMap<string, PoolRow>, name: unknown): PoolRow => {
  const pool = typeof name === "string" ? named.get(name) : undefined;
  if (pool === undefined) {
    throw new Fault(
      400,
      `Validation failure: Pool '${String(name)}' was referenced but no full definition of it is in the request's pools.`,
    );
  }
  return pool;
};

/** POST /listeners, with the default pool it may describe. */
export const createListenerTree = (work: Work, body: unknown) => {
  const { row, defaultPool } = createListener(work, body);
  if (defaultPool === undefined) return row;
  const lb = work.draft.get("loadBalancers", row.loadbalancer_id);
  adoptPool(work, row, createWholePool(work, defaultPool, lb));
  return work.draft.get("listeners", row.id) ?? row;
};
