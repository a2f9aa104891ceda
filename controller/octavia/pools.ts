/** Creating, changing and deleting pools. */
import type { LoadBalancerRow, PoolRow, SessionPersistence } from "../store/rows.ts";
import type { View } from "../store/snapshot.ts";
import { conflict, invalidField, notFound, validationFailure } from "./fault.ts";
import {
  anything,
  boolean,
  type Input,
  integer,
  list,
  oneOf,
  readObject,
  required,
  tags,
  text,
  updated,
  uuid,
} from "./fields.ts";
import { adoptPool, theListener } from "./listeners.ts";
import { theLoadBalancer } from "./load-balancers.ts";
import { demand, unsupportedOption } from "./provider.ts";
import { enforceQuota } from "./quotas.ts";
import { newObject, nextNumber, putChanged, type Work } from "./work.ts";

const where = "pool_.pool";

const protocols = ["TCP", "UDP", "HTTP", "HTTPS", "PROXY", "PROXYV2", "SCTP"] as const;

const changeable = {
  name: text(),
  description: text(),
  admin_state_up: boolean,
  tags,
  lb_algorithm: oneOf(["ROUND_ROBIN", "LEAST_CONNECTIONS", "SOURCE_IP", "SOURCE_IP_PORT"]),
  session_persistence: anything,
  tls_enabled: boolean,
  tls_container_ref: text(),
  ca_tls_container_ref: text(),
  crl_container_ref: text(),
  tls_ciphers: text(2048),
  tls_versions: list(text()),
  alpn_protocols: list(text()),
  slots: integer(64, 4096),
} as const;

const createSchema = {
  ...changeable,
  protocol: oneOf(protocols),
  project_id: text(64),
  tenant_id: text(64),
  loadbalancer_id: uuid,
  listener_id: uuid,
  members: list(anything),
  healthmonitor: anything,
} as const;

const persistenceSchema = {
  type: oneOf(["SOURCE_IP", "HTTP_COOKIE", "APP_COOKIE"]),
  cookie_name: text(),
  persistence_timeout: integer(0, 2_147_483_647),
  persistence_granularity: text(64),
} as const;

const balancedProtocol = (protocol: (typeof protocols)[number]): "TCP" | "UDP" => {
  if (protocol === "TCP" || protocol === "UDP") return protocol;
  throw unsupportedOption(`${protocol} protocol. Supported: TCP, UDP`);
};

const persistence = (work: Work, value: unknown, protocol: "TCP" | "UDP"): SessionPersistence | null => {
  if (value === null || value === undefined) return null;
  const input = readObject(persistenceSchema, value, "pool_.pool.session_persistence");
  const type = required(input.type, "type");
  if (input.cookie_name && type !== "APP_COOKIE") {
    throw validationFailure('Field "cookie_name" can only be specified with session persistence of type "APP_COOKIE".');
  }
  if (type !== "SOURCE_IP") {
    if (protocol === "UDP") {
      throw validationFailure(`Session persistence of type ${type} is not supported for UDP/SCTP protocol pools.`);
    }
    throw unsupportedOption(`session persistence of type ${type}`);
  }
  const { persistence_timeout: seconds = null, persistence_granularity: mask = null } = input;
  if (protocol === "TCP" && (seconds !== null || mask !== null)) {
    throw validationFailure("persistence_timeout and persistence_granularity is only for UDP and SCTP protocol pools.");
  }
  demand(work.options, "SOURCE_IP");
  if (seconds !== null) demand(work.options, "persistence_timeout");
  if (mask !== null) demand(work.options, "persistence_granularity");
  return { type, persistence_timeout: seconds, persistence_granularity: mask };
};

const refuseUnhonoured = (work: Work, input: Input<typeof changeable>): void => {
  const { lb_algorithm: algorithm } = input;
  if (algorithm === "LEAST_CONNECTIONS" || algorithm === "SOURCE_IP") {
    if (!work.options.has(algorithm)) throw unsupportedOption(`${algorithm} algorithm`);
  }
  if (input.tls_enabled) throw unsupportedOption("tls_enabled");
  for (const field of ["tls_container_ref", "ca_tls_container_ref", "crl_container_ref", "tls_ciphers"] as const) {
    if (input[field]) throw unsupportedOption(field);
  }
  for (const field of ["tls_versions", "alpn_protocols"] as const) {
    if ((input[field] ?? []).length > 0) throw unsupportedOption(field);
  }
  const { slots } = input;
  if (typeof slots === "number" && (slots & (slots - 1)) !== 0) {
    throw invalidField("slots", slots, "Value should be a power of two");
  }
};

/** A pool that was created, and what was asked for inside it. */
export interface CreatedPool {
  readonly row: PoolRow;
  readonly members: readonly unknown[];
  readonly healthMonitor: unknown;
}

/**
 * POST /pools, without what is inside.
 *
 * @param lb the load balancer when it is given by the surroundings, as in a single-call create
 */
export const createPool = (work: Work, body: unknown, lb?: LoadBalancerRow): CreatedPool => {
  const input = readObject(createSchema, body, where);
  const protocol = required(input.protocol, "protocol");
  const algorithm = required(input.lb_algorithm, "lb_algorithm");
  const { listener_id: listenerId, loadbalancer_id: lbId } = input;
  if (lb === undefined && !listenerId && !lbId) {
    throw validationFailure("Must provide at least one of: loadbalancer_id, listener_id");
  }
  const listener = listenerId ? theListener(work.draft, listenerId) : undefined;
  const parent = lb ?? theLoadBalancer(work.draft, listener?.loadbalancer_id ?? lbId!);
  if (listener !== undefined && (lbId ?? parent.id) !== parent.id) throw notFound("Listener", listener.id);
  const transport = balancedProtocol(protocol);
  refuseUnhonoured(work, input);
  if (listener !== undefined && listener.default_pool_id !== null) {
    throw conflict("This listener already has a default pool");
  }
  enforceQuota(work, parent.project_id, "pool");
  const row: PoolRow = {
    ...newObject(work, parent.project_id),
    number: nextNumber(work.draft, "pools"),
    loadbalancer_id: parent.id,
    name: input.name ?? "",
    description: input.description ?? "",
    admin_state_up: input.admin_state_up === undefined ? true : (input.admin_state_up ?? false),
    tags: input.tags ?? [],
    protocol: transport,
    lb_algorithm: algorithm,
    session_persistence: persistence(work, input.session_persistence, transport),
    slots: input.slots ?? null,
  };
  work.draft.put("pools", row);
  if (listener !== undefined) adoptPool(work, listener, row);
  return { row, members: input.members ?? [], healthMonitor: input.healthmonitor ?? undefined };
};

export const thePool = (view: View, id: string): PoolRow => {
  const row = view.get("pools", id);
  if (row === undefined) throw notFound("Pool", id);
  return row;
};

/** PUT /pools/ID */
export const updatePool = (work: Work, id: string, body: unknown): PoolRow => {
  const row = thePool(work.draft, id);
  const input = readObject(changeable, body, where);
  refuseUnhonoured(work, input);
  return putChanged(work, "pools", row, {
    ...row,
    name: updated(input.name, row.name, ""),
    description: updated(input.description, row.description, ""),
    admin_state_up: updated(input.admin_state_up, row.admin_state_up, false),
    tags: updated(input.tags, row.tags, []),
    lb_algorithm: input.lb_algorithm === undefined ? row.lb_algorithm : required(input.lb_algorithm, "lb_algorithm"),
    session_persistence:
      input.session_persistence === undefined
        ? row.session_persistence
        : persistence(work, input.session_persistence, row.protocol),
    slots: updated(input.slots, row.slots, null),
  });
};

/** DELETE /pools/ID: with its members and monitor; listeners lose their default pool. */
export const deletePool = (work: Work, id: string): void => {
  const { draft } = work;
  const row = thePool(work.draft, id);
  for (const listener of draft.children("listeners", row.loadbalancer_id)) {
    if (listener.default_pool_id === row.id)
      putChanged(work, "listeners", listener, { ...listener, default_pool_id: null });
  }
  for (const member of draft.children("members", row.id)) draft.remove("members", member.id);
  for (const monitor of draft.children("healthMonitors", row.id)) draft.remove("healthMonitors", monitor.id);
  draft.remove("pools", row.id);
};
