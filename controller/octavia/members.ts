/** Creating, changing and deleting members, one by one and all at once. */
import { formatPrefix, isHostIpv4, parseIpv4, prefixBroadcast, prefixContains } from "../../openflow/packet/address.ts";
import type { MemberRow, PoolRow } from "../store/rows.ts";
import type { View } from "../store/snapshot.ts";
import { isIpv6Text } from "./address.ts";
import { conflict, invalidField, invalidOption, notFound, PlainFault } from "./fault.ts";
import {
  address,
  boolean,
  type Input,
  integer,
  list,
  readObject,
  required,
  tags,
  text,
  unwrap,
  updated,
  uuid,
} from "./fields.ts";
import { refuseForeignFamily } from "./listeners.ts";
import { demand, unsupportedOption } from "./provider.ts";
import { enforceQuota } from "./quotas.ts";
import { segmentOf } from "./segments.ts";
import { namedSegment, storedVips } from "./vips.ts";
import { newObject, nextNumber, putChanged, type Work } from "./work.ts";

const where = "member_.member";

/** Where clouds serve instance metadata; nobody may be made to call it. */
const metadataAddress = "169.254.169.254";

const changeable = {
  name: text(),
  admin_state_up: boolean,
  tags,
  weight: integer(0, 256),
  backup: boolean,
  monitor_address: address,
  monitor_port: integer(1, 65_535),
} as const;

const createSchema = {
  ...changeable,
  address,
  protocol_port: integer(1, 65_535),
  subnet_id: uuid,
  project_id: text(64),
  tenant_id: text(64),
} as const;

type NewMember = Input<typeof createSchema>;

/** The pool of a path with members behind it. */
export const thePoolOf = (view: View, id: string): PoolRow => {
  const pool = view.get("pools", id);
  if (pool === undefined) throw new PlainFault(404, "Bad Request", `Pool ${id} not found.`);
  return pool;
};

export const theMember = (view: View, pool: PoolRow, id: string): MemberRow => {
  const row = view.get("members", id);
  if (row === undefined || row.pool_id !== pool.id) throw notFound("Member", id);
  return row;
};

/** Addresses no server has, or that are ours: what is sent there would come back to us. */
const refuseAddress = (work: Work, value: string, field: string): void => {
  if (value === metadataAddress) throw invalidOption(value, "member address");
  const ip = parseIpv4(value);
  if (ip === undefined) return;
  if (!isHostIpv4(ip)) throw invalidField(field, value, "Value should be the address of a host");
  const segment = segmentOf(work.topology, ip);
  if (segment === undefined) return;
  const edge = segment.subnet.length < 31 && (ip === segment.subnet.address || ip === prefixBroadcast(segment.subnet));
  if (edge)
    throw invalidField(field, value, `Value should be the address of a host in ${formatPrefix(segment.subnet)}`);
  if (ip === segment.gateway.ip) throw invalidField(field, value, "Value should not be the address of a gateway");
  if (ip === segment.probe?.ip) throw invalidField(field, value, "Value should not be the address probes leave from");
  const owner = work.topology.loadBalancers.find((lb) => lb.vips.some((vip) => vip.ip === ip));
  if (owner !== undefined)
    throw invalidField(field, value, `Value should not be a VIP: it is that of load balancer ${owner.name}`);
  for (const vip of storedVips(work.draft)) {
    if (vip.ip === value)
      throw invalidField(field, value, `Value should not be a VIP: it is that of load balancer ${vip.owner}`);
  }
};

const refuseMonitor = (work: Work, input: Input<typeof changeable>): void => {
  if (input.monitor_address) {
    demand(work.options, "monitor_address");
    if (isIpv6Text(input.monitor_address)) throw unsupportedOption("IPv6 addresses (monitor_address)");
    refuseAddress(work, input.monitor_address, "monitor_address");
  }
  if (input.monitor_port) demand(work.options, "monitor_port");
};

const memberSubnet = (work: Work, input: NewMember): string | null => {
  if (typeof input.subnet_id !== "string") return null;
  const segment = namedSegment(work, input.subnet_id, "Subnet", "subnet_id");
  const ip = parseIpv4(input.address ?? "");
  if (ip === undefined || !prefixContains(segment.subnet, ip)) {
    const why = `Value should be an address of subnet ${segment.uuid}, ${formatPrefix(segment.subnet)}`;
    throw invalidField("address", input.address, why);
  }
  return segment.uuid;
};

const duplicate = (ip: string, port: number) =>
  conflict(`Another member on this pool is already using ip ${ip} on protocol_port ${port}`);

const readNew = (
  work: Work,
  pool: PoolRow,
  value: unknown,
): NewMember & { readonly address: string; readonly protocol_port: number } => {
  const input = readObject(createSchema, value, where);
  const ip = required(input.address, "address");
  const port = required(input.protocol_port, "protocol_port");
  refuseAddress(work, ip, "address");
  refuseMonitor(work, input);
  refuseForeignFamily(work, pool, ip);
  return { ...input, address: ip, protocol_port: port };
};

const addMember = (work: Work, pool: PoolRow, input: ReturnType<typeof readNew>): MemberRow => {
  enforceQuota(work, pool.project_id, "member");
  const row: MemberRow = {
    ...newObject(work, pool.project_id),
    number: nextNumber(work.draft, "members"),
    pool_id: pool.id,
    name: input.name ?? "",
    admin_state_up: input.admin_state_up === undefined ? true : (input.admin_state_up ?? false),
    tags: input.tags ?? [],
    address: input.address,
    protocol_port: input.protocol_port,
    weight: input.weight ?? 1,
    backup: input.backup ?? false,
    subnet_id: memberSubnet(work, input),
    monitor_address: input.monitor_address ?? null,
    monitor_port: input.monitor_port ?? null,
    drain: false,
  };
  work.draft.put("members", row);
  return row;
};

/** POST /pools/POOL/members */
export const createMember = (work: Work, pool: PoolRow, body: unknown): MemberRow => {
  const input = readNew(work, pool, body);
  const { address: ip, protocol_port: port } = input;
  if (work.draft.children("members", pool.id).some((m) => m.address === ip && m.protocol_port === port)) {
    throw duplicate(ip, port);
  }
  return addMember(work, pool, input);
};

const change = (work: Work, row: MemberRow, input: Input<typeof changeable>): MemberRow =>
  putChanged(work, "members", row, {
    ...row,
    name: updated(input.name, row.name, ""),
    admin_state_up: updated(input.admin_state_up, row.admin_state_up, false),
    tags: updated(input.tags, row.tags, []),
    weight: updated(input.weight, row.weight, 1),
    backup: updated(input.backup, row.backup, false),
    monitor_address: updated(input.monitor_address, row.monitor_address, null),
    monitor_port: updated(input.monitor_port, row.monitor_port, null),
  });

/** PUT /pools/POOL/members/ID */
export const updateMember = (work: Work, pool: PoolRow, id: string, body: unknown): MemberRow => {
  const row = theMember(work.draft, pool, id);
  const input = readObject(changeable, body, where);
  refuseMonitor(work, input);
  return change(work, row, input);
};

/** DELETE /pools/POOL/members/ID */
export const deleteMember = (work: Work, pool: PoolRow, id: string): void =>
  work.draft.remove("members", theMember(work.draft, pool, id).id);

/**
 * PUT /pools/POOL/members: the members become those of the list, found by address and port. Who stays keeps its id, and what
 * the list does not say of it.
 *
 * @param additive keep the members that are not in the list
 */
export const replaceMembers = (work: Work, pool: PoolRow, body: unknown, additive: boolean): void => {
  const items = list((v) => v)(unwrap(body, "members_", "members"), "members");
  const wanted = new Map<string, ReturnType<typeof readNew>>();
  for (const item of items) {
    const input = readNew(work, pool, item);
    const key = socket(input.address, input.protocol_port);
    if (wanted.has(key)) throw duplicate(input.address, input.protocol_port);
    wanted.set(key, input);
  }
  for (const row of work.draft.children("members", pool.id)) {
    const key = socket(row.address, row.protocol_port);
    const input = wanted.get(key);
    if (input !== undefined) change(work, row, input);
    else if (!additive) work.draft.remove("members", row.id);
    wanted.delete(key);
  }
  for (const input of wanted.values()) addMember(work, pool, input);
};

const socket = (ip: string, port: number): string => (isIpv6Text(ip) ? `[${ip}]:${port}` : `${ip}:${port}`);

/** Takes a member out of service gently, or brings it back. Not part of the API of Octavia. */
export const setDrain = (work: Work, id: string, drain: boolean): MemberRow => {
  const row = work.draft.get("members", id);
  if (row === undefined) throw notFound("Member", id);
  return putChanged(work, "members", row, { ...row, drain });
};
