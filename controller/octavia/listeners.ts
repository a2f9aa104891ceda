/** Creating, changing and deleting listeners. */
import type { ListenerRow, LoadBalancerRow, PoolRow } from "../store/rows.ts";
import type { View } from "../store/snapshot.ts";
import { isIpv6Text } from "./address.ts";
import { conflict, Fault, invalidField, invalidOption, notFound, validationFailure } from "./fault.ts";
import {
  addresses,
  anything,
  boolean,
  cidrs,
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
import { theLoadBalancer } from "./load-balancers.ts";
import { demand, unsupportedOption } from "./provider.ts";
import { enforceQuota } from "./quotas.ts";
import { newObject, nextNumber, putChanged, type Work } from "./work.ts";

const where = "listener_.listener";

const protocols = ["TCP", "UDP", "HTTP", "HTTPS", "TERMINATED_HTTPS", "SCTP", "PROMETHEUS"] as const;

const timeout = integer(0, 2_073_600_000);

/** Milliseconds; the values that stand for "nothing special". */
const timeoutDefaults = {
  timeout_client_data: 50_000,
  timeout_member_connect: 5_000,
  timeout_member_data: 50_000,
  timeout_tcp_inspect: 0,
} as const;

/** Milliseconds: flows wait for packets for 16 bits of seconds. */
const longestSilence = 65_535_000;

const changeable = {
  name: text(),
  description: text(),
  admin_state_up: boolean,
  tags,
  connection_limit: integer(-1, 2_147_483_647),
  default_pool_id: uuid,
  timeout_client_data: timeout,
  timeout_member_connect: timeout,
  timeout_member_data: timeout,
  timeout_tcp_inspect: timeout,
  allowed_cidrs: cidrs,
  insert_headers: anything,
  default_tls_container_ref: text(),
  sni_container_refs: list(text()),
  client_ca_tls_container_ref: text(),
  client_authentication: oneOf(["NONE", "OPTIONAL", "MANDATORY"]),
  client_crl_container_ref: text(),
  tls_ciphers: text(2048),
  tls_versions: list(text()),
  alpn_protocols: list(text()),
  vips: addresses,
  slot_choice: oneOf(["multipath", "bits"]),
  session_keeping: oneOf(["conntrack"]),
  empty_policy: oneOf(["drop", "reject"]),
} as const;

const createSchema = {
  ...changeable,
  protocol: oneOf(protocols),
  protocol_port: integer(1, 65_535),
  project_id: text(64),
  tenant_id: text(64),
  loadbalancer_id: uuid,
  default_pool: anything,
  l7policies: list(anything),
} as const;

type Changes = Input<typeof changeable>;

/** Fields of TLS and HTTP, which nobody who forwards packets can honour. */
const refuseUpperLayers = (input: Changes, protocol: string): void => {
  const headers = input.insert_headers;
  if (headers !== undefined && headers !== null) {
    if (typeof headers !== "object") throw invalidField("insert_headers", headers, "Value should be an object");
    if (Object.keys(headers).length > 0) {
      throw new Fault(400, `insert-headers is not a valid option for a ${protocol} protocol listener.`);
    }
  }
  if (input.default_tls_container_ref || (input.sni_container_refs ?? []).length > 0) {
    throw validationFailure(`Certificate container references are not allowed on ${protocol} protocol listeners.`);
  }
  if (input.client_ca_tls_container_ref || input.client_crl_container_ref) {
    throw validationFailure(`Certificate container references are not allowed on ${protocol} protocol listeners.`);
  }
  if ((input.client_authentication ?? "NONE") !== "NONE") throw unsupportedOption("client_authentication");
  if (input.tls_ciphers) throw unsupportedOption("tls_ciphers");
  if ((input.tls_versions ?? []).length > 0) throw unsupportedOption("tls_versions");
  if ((input.alpn_protocols ?? []).length > 0) throw unsupportedOption("alpn_protocols");
};

const refuseUnhonoured = (work: Work, input: Changes, lb: LoadBalancerRow): void => {
  for (const [name, usual] of Object.entries(timeoutDefaults)) {
    const field = name as keyof typeof timeoutDefaults;
    if ((input[field] ?? usual) !== usual) demand(work.options, field);
  }
  if ((input.timeout_client_data ?? 0) > longestSilence) {
    throw unsupportedOption(`timeout_client_data beyond ${longestSilence}`);
  }
  if ((input.connection_limit ?? -1) !== -1) demand(work.options, "connection_limit");
  for (const cidr of input.allowed_cidrs ?? []) {
    demand(work.options, "allowed_cidrs");
    if (isIpv6Text(cidr)) {
      throw validationFailure(`CIDR ${cidr} IP version incompatible with VIP ${lb.vip_address} IP version.`);
    }
  }
  const own = [lb.vip_address, ...lb.additional_vips.map((v) => v.ip_address)];
  for (const vip of input.vips ?? []) {
    if (!own.includes(vip)) throw invalidField("vips", vip, `Value should be one of: ${own.join(", ")}`);
  }
  if (input.vips?.length === 0)
    throw invalidField("vips", [], "Value should name at least one address, or be null for all");
};

/** The pool a listener may use as its default. */
const usablePool = (work: Work, lb: string, protocol: string, id: string): PoolRow => {
  const pool = work.draft.get("pools", id);
  if (pool === undefined || pool.loadbalancer_id !== lb) throw notFound("Pool", id);
  if (pool.protocol !== protocol) {
    throw validationFailure(
      `The pool protocol '${pool.protocol}' is invalid while the listener protocol is '${protocol}'.`,
    );
  }
  for (const member of work.draft.children("members", pool.id)) {
    if (isIpv6Text(member.address)) {
      throw validationFailure(`Member ${member.id} of pool ${pool.id} has address ${member.address}, the VIP is IPv4.`);
    }
  }
  return pool;
};

/** A listener that was created, and the pool description inside it, if there was one. */
export interface CreatedListener {
  readonly row: ListenerRow;
  readonly defaultPool: unknown;
}

/**
 * POST /listeners
 *
 * @param lb the load balancer when it is given by the surroundings, as in a single-call create
 */
export const createListener = (work: Work, body: unknown, lb?: LoadBalancerRow): CreatedListener => {
  const input = readObject(createSchema, body, where);
  const wanted = lb === undefined ? required(input.loadbalancer_id, "loadbalancer_id") : lb.id;
  const protocol = required(input.protocol, "protocol");
  const port = required(input.protocol_port, "protocol_port");
  const parent = lb ?? theLoadBalancer(work.draft, wanted);
  const isBalanced = protocol === "TCP" || protocol === "UDP";
  if (isBalanced) {
    if ((input.l7policies ?? []).length > 0) throw unsupportedOption(`L7 policies on ${protocol} protocol listeners`);
    refuseUpperLayers(input, protocol);
    refuseUnhonoured(work, input, parent);
  }
  const pool = input.default_pool_id ? usablePool(work, parent.id, protocol, input.default_pool_id) : undefined;
  refuseTaken(work, parent.id, protocol, port);
  if (!isBalanced) throw unsupportedOption(`${protocol} protocol. Supported: TCP, UDP`);
  enforceQuota(work, parent.project_id, "listener");
  const row: ListenerRow = {
    ...newObject(work, parent.project_id),
    number: nextNumber(work.draft, "listeners"),
    loadbalancer_id: parent.id,
    name: input.name ?? "",
    description: input.description ?? "",
    admin_state_up: input.admin_state_up === undefined ? true : (input.admin_state_up ?? false),
    tags: input.tags ?? [],
    protocol,
    protocol_port: port,
    default_pool_id: pool?.id ?? null,
    connection_limit: input.connection_limit ?? -1,
    allowed_cidrs: orNull(input.allowed_cidrs),
    timeout_client_data: input.timeout_client_data ?? timeoutDefaults.timeout_client_data,
    timeout_member_connect: input.timeout_member_connect ?? timeoutDefaults.timeout_member_connect,
    timeout_member_data: input.timeout_member_data ?? timeoutDefaults.timeout_member_data,
    timeout_tcp_inspect: input.timeout_tcp_inspect ?? timeoutDefaults.timeout_tcp_inspect,
    vips: input.vips ?? null,
    slot_choice: input.slot_choice ?? null,
    session_keeping: input.session_keeping ?? null,
    empty_policy: input.empty_policy ?? null,
  };
  work.draft.put("listeners", row);
  return { row, defaultPool: input.default_pool ?? undefined };
};

/** No networks at all means the same as all networks, so it is kept in one way. */
const orNull = <T>(values: readonly T[] | null | undefined): readonly T[] | null =>
  values === undefined || values === null || values.length === 0 ? null : values;

/** Protocols over the same transport share its ports. */
const refuseTaken = (work: Work, lb: string, protocol: string, port: number): void => {
  const transport = (p: string): string => (p === "UDP" || p === "SCTP" ? p : "TCP");
  const other = work.draft
    .children("listeners", lb)
    .find((l) => l.protocol_port === port && transport(l.protocol) === transport(protocol));
  if (other !== undefined) {
    throw conflict(
      `Another Listener on this Load Balancer is already using protocol ${other.protocol} and protocol_port ${port}`,
    );
  }
};

export const theListener = (view: View, id: string): ListenerRow => {
  const row = view.get("listeners", id);
  if (row === undefined) throw notFound("Listener", id);
  return row;
};

/** PUT /listeners/ID */
export const updateListener = (work: Work, id: string, body: unknown): ListenerRow => {
  const row = theListener(work.draft, id);
  const lb = theLoadBalancer(work.draft, row.loadbalancer_id);
  const input = readObject(changeable, body, where);
  refuseUpperLayers(input, row.protocol);
  refuseUnhonoured(work, input, lb);
  if (input.default_pool_id) usablePool(work, lb.id, row.protocol, input.default_pool_id);
  return putChanged(work, "listeners", row, {
    ...row,
    name: updated(input.name, row.name, ""),
    description: updated(input.description, row.description, ""),
    admin_state_up: updated(input.admin_state_up, row.admin_state_up, false),
    tags: updated(input.tags, row.tags, []),
    default_pool_id: updated(input.default_pool_id, row.default_pool_id, null),
    connection_limit: updated(input.connection_limit, row.connection_limit, -1),
    allowed_cidrs: input.allowed_cidrs === undefined ? row.allowed_cidrs : orNull(input.allowed_cidrs),
    timeout_client_data: updated(
      input.timeout_client_data,
      row.timeout_client_data,
      timeoutDefaults.timeout_client_data,
    ),
    timeout_member_connect: updated(
      input.timeout_member_connect,
      row.timeout_member_connect,
      timeoutDefaults.timeout_member_connect,
    ),
    timeout_member_data: updated(
      input.timeout_member_data,
      row.timeout_member_data,
      timeoutDefaults.timeout_member_data,
    ),
    timeout_tcp_inspect: updated(
      input.timeout_tcp_inspect,
      row.timeout_tcp_inspect,
      timeoutDefaults.timeout_tcp_inspect,
    ),
    vips: updated(input.vips, row.vips, null),
    slot_choice: updated(input.slot_choice, row.slot_choice, null),
    session_keeping: updated(input.session_keeping, row.session_keeping, null),
    empty_policy: updated(input.empty_policy, row.empty_policy, null),
  });
};

/** DELETE /listeners/ID: its pool stays. */
export const deleteListener = (work: Work, id: string): void => {
  work.draft.remove("listeners", theListener(work.draft, id).id);
};

/** Makes a new pool the default of its listener. */
export const adoptPool = (work: Work, listener: ListenerRow, pool: PoolRow): void => {
  if (listener.default_pool_id !== null) throw conflict("This listener already has a default pool");
  usablePool(work, listener.loadbalancer_id, listener.protocol, pool.id);
  putChanged(work, "listeners", listener, { ...listener, default_pool_id: pool.id });
};

/** @throws Fault when a pool's member cannot be called through the listeners that use the pool */
export const refuseForeignFamily = (work: Work, pool: PoolRow, address: string): void => {
  if (!isIpv6Text(address)) return;
  const user = work.draft.children("listeners", pool.loadbalancer_id).find((l) => l.default_pool_id === pool.id);
  if (user !== undefined) throw invalidOption(address, `member address: listener ${user.id} has an IPv4 VIP`);
};
