/**
 * What the `openstack` client asks Neutron and Keystone before it comes to the point. With `--os-endpoint` those questions reach
 * us; the segments of the topology are the answer.
 */
import { formatIpv4, formatPrefix } from "../../openflow/packet/address.ts";
import type { Topology } from "../../pipeline/model.ts";
import { type Entry, page, type Query } from "./lists.ts";

/** What can be looked up. Ports and QoS policies are not ours to make, so there are none. */
export type LookupKind = "subnets" | "networks" | "ports" | "policies";

const subnets = (topology: Topology, project: string): readonly Entry[] =>
  topology.segments.map((s) => ({
    shown: {
      id: s.uuid,
      name: s.name,
      network_id: s.uuid,
      cidr: formatPrefix(s.subnet),
      gateway_ip: formatIpv4(s.gateway.ip),
      ip_version: 4,
      enable_dhcp: false,
      project_id: project,
      tenant_id: project,
    },
  }));

const networks = (topology: Topology, project: string): readonly Entry[] =>
  topology.segments.map((s) => ({
    shown: {
      id: s.uuid,
      name: s.name,
      subnets: [s.uuid],
      admin_state_up: true,
      status: "ACTIVE",
      "router:external": s.kind === "public",
      project_id: project,
      tenant_id: project,
    },
  }));

/** GET /v2.0/KIND */
export const lookup = (kind: LookupKind, topology: Topology, project: string, query: Query): object => {
  const entries =
    kind === "subnets" ? subnets(topology, project) : kind === "networks" ? networks(topology, project) : [];
  const names = ["id", "name", "network_id", "cidr", "ip_version", "project_id", "tenant_id", "router:external"];
  return { [kind]: page(entries, [...names, "created_at"], query).rows };
};

/** GET /projects/ID: every project exists. */
export const projectView = (id: string) => ({ project: { id, name: id, enabled: true, domain_id: "default" } });
