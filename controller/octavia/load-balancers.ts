/** Creating, changing and deleting load balancers. */
import { randomUUID } from "node:crypto";
import type { AdditionalVip, LoadBalancerRow } from "../store/rows.ts";
import type { View } from "../store/snapshot.ts";
import { Fault, notFound, unknownReference, validationFailure } from "./fault.ts";
import {
  address,
  anything,
  boolean,
  type Input,
  isUuid,
  list,
  readObject,
  required,
  tags,
  text,
  updated,
  uuid,
} from "./fields.ts";
import { providerName, unsupportedOption } from "./provider.ts";
import { enforceQuota } from "./quotas.ts";
import { claimVip, namedSegment } from "./vips.ts";
import { newObject, nextNumber, putChanged, type Work } from "./work.ts";

const where = "load_balancer.loadbalancer";

const changeable = {
  name: text(),
  description: text(),
  admin_state_up: boolean,
  tags,
  vip_qos_policy_id: uuid,
} as const;

const createSchema = {
  ...changeable,
  project_id: text(64),
  tenant_id: text(64),
  vip_address: address,
  vip_subnet_id: text(),
  vip_network_id: text(),
  vip_port_id: uuid,
  additional_vips: list(anything),
  provider: text(),
  flavor_id: text(),
  availability_zone: text(),
  listeners: list(anything),
  pools: list(anything),
} as const;

const vipSchema = { subnet_id: text(), ip_address: address } as const;

/** A load balancer and what was asked for inside it. */
export interface CreatedLoadBalancer {
  readonly row: LoadBalancerRow;
  readonly listeners: readonly unknown[];
  readonly pools: readonly unknown[];
}

/** POST /loadbalancers, without the tree inside. */
export const createLoadBalancer = (work: Work, body: unknown): CreatedLoadBalancer => {
  const input = readObject(createSchema, body, where);
  refuseUnknownCatalogue(input);
  const key = input.vip_subnet_id ?? input.vip_network_id;
  if (key === undefined || key === null) {
    if (typeof input.vip_port_id === "string") throw unknownReference("Port", input.vip_port_id);
    throw validationFailure("VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id.");
  }
  const bySubnet = typeof input.vip_subnet_id === "string";
  const segment = bySubnet
    ? namedSegment(work, key, "Subnet", "vip_subnet_id")
    : namedSegment(work, key, "Network", "vip_network_id");
  if (typeof input.vip_port_id === "string") throw unknownReference("Port", input.vip_port_id);
  if (bySubnet && typeof input.vip_network_id === "string") {
    const network = namedSegment(work, input.vip_network_id, "Network", "vip_network_id");
    if (network.uuid !== segment.uuid)
      throw validationFailure("Supplied VIP subnet is not in the supplied VIP network.");
  }
  const project = input.project_id ?? input.tenant_id ?? work.project;
  enforceQuota(work, project, "load_balancer");
  const first = claimVip(work, segment, input.vip_address, "vip_address", []);
  const row: LoadBalancerRow = {
    ...newObject(work, project),
    number: nextNumber(work.draft, "loadBalancers"),
    name: input.name ?? "",
    description: input.description ?? "",
    admin_state_up: input.admin_state_up === undefined ? true : (input.admin_state_up ?? false),
    tags: input.tags ?? [],
    vip_address: first,
    vip_subnet_id: segment.uuid,
    vip_network_id: segment.uuid,
    vip_port_id: randomUUID(),
    additional_vips: additionalVips(work, input.additional_vips ?? [], segment.uuid, first),
  };
  work.draft.put("loadBalancers", row);
  return { row, listeners: input.listeners ?? [], pools: input.pools ?? [] };
};

const refuseUnknownCatalogue = (input: Input<typeof createSchema>): void => {
  if (typeof input.provider === "string" && input.provider !== providerName) {
    throw new Fault(400, `Provider '${input.provider}' is not enabled.`);
  }
  if (typeof input.flavor_id === "string") {
    throw isUuid(input.flavor_id) ? validationFailure("Invalid flavor_id.") : notUuid("flavor_id", input.flavor_id);
  }
  if (typeof input.availability_zone === "string") throw validationFailure("Invalid availability zone.");
  refuseQos(input.vip_qos_policy_id);
};

const notUuid = (field: string, value: string): Fault => {
  try {
    uuid(value, field);
  } catch (error) {
    if (error instanceof Fault) return error;
  }
  return unknownReference(field, value);
};

const refuseQos = (policy: string | null | undefined): void => {
  if (typeof policy === "string") throw unsupportedOption("vip_qos_policy_id");
};

const additionalVips = (
  work: Work,
  wanted: readonly unknown[],
  subnet: string,
  first: string,
): readonly AdditionalVip[] => {
  const vips: AdditionalVip[] = [];
  for (const item of wanted) {
    const vip = readObject(vipSchema, item, `${where}.additional_vips`);
    const segment = namedSegment(work, required(vip.subnet_id, "subnet_id"), "Subnet", "subnet_id");
    const others = [
      ...(segment.uuid === subnet ? [first] : []),
      ...vips.filter((v) => v.subnet_id === segment.uuid).map((v) => v.ip_address),
    ];
    vips.push({ subnet_id: segment.uuid, ip_address: claimVip(work, segment, vip.ip_address, "ip_address", others) });
  }
  return vips;
};

/** The load balancer of a path. */
export const theLoadBalancer = (view: View, id: string): LoadBalancerRow => {
  const row = view.get("loadBalancers", id);
  if (row === undefined) throw notFound("Load Balancer", id);
  return row;
};

/** PUT /loadbalancers/ID */
export const updateLoadBalancer = (work: Work, id: string, body: unknown): LoadBalancerRow => {
  const row = theLoadBalancer(work.draft, id);
  const input = readObject(changeable, body, where);
  refuseQos(input.vip_qos_policy_id);
  return putChanged(work, "loadBalancers", row, {
    ...row,
    name: updated(input.name, row.name, ""),
    description: updated(input.description, row.description, ""),
    admin_state_up: updated(input.admin_state_up, row.admin_state_up, false),
    tags: updated(input.tags, row.tags, []),
  });
};

/** DELETE /loadbalancers/ID */
export const deleteLoadBalancer = (work: Work, id: string, cascade: boolean): void => {
  const { draft } = work;
  const row = theLoadBalancer(work.draft, id);
  const listeners = draft.children("listeners", row.id);
  const pools = draft.children("pools", row.id);
  if (!cascade && listeners.length + pools.length > 0) {
    throw validationFailure(`Cannot delete Load Balancer ${row.id} - it has children`);
  }
  for (const listener of listeners) draft.remove("listeners", listener.id);
  for (const pool of pools) {
    for (const member of draft.children("members", pool.id)) draft.remove("members", member.id);
    for (const monitor of draft.children("healthMonitors", pool.id)) draft.remove("healthMonitors", monitor.id);
    draft.remove("pools", pool.id);
  }
  draft.remove("loadBalancers", row.id);
};
