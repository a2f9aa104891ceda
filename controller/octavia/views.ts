/** Rows as the API shows them. */
import type { HealthMonitorRow, ListenerRow, LoadBalancerRow, MemberRow, PoolRow } from "../store/rows.ts";
import type { View } from "../store/snapshot.ts";
import { providerName } from "./provider.ts";
import type { OperatingStatus, Statuses } from "./status.ts";

/** Stored means carried out as far as the API is concerned: there is no state in which an object could not be changed. */
const provisioned = "ACTIVE";

const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => ({ id }));

/** What every object begins with. */
const common = (
  row: { readonly id: string; readonly name: string; readonly admin_state_up: boolean },
  status: OperatingStatus,
) => ({
  id: row.id,
  name: row.name,
  provisioning_status: provisioned,
  operating_status: status,
  admin_state_up: row.admin_state_up,
});

const owner = (row: { readonly project_id: string }) => ({ project_id: row.project_id, tenant_id: row.project_id });

const times = (row: {
  readonly created_at: string;
  readonly updated_at: string | null;
  readonly tags: readonly string[];
}) => ({
  created_at: row.created_at,
  updated_at: row.updated_at,
  tags: row.tags,
});

/** An object shown inside its load balancer does not name it again. */
const inside = <T extends { readonly loadbalancers: unknown }>({ loadbalancers: _, ...rest }: T) => rest;

/** The objects of one state as answers. */
export interface Views {
  loadBalancer(row: LoadBalancerRow): object;
  listener(row: ListenerRow): object;
  pool(row: PoolRow): object;
  member(row: MemberRow, pool?: PoolRow): object;
  healthMonitor(row: HealthMonitorRow): object;
  /** The load balancer with everything in it in full. */
  whole(row: LoadBalancerRow): object;
  /** GET /loadbalancers/ID/status */
  statusTree(row: LoadBalancerRow): object;
}

export const viewsOf = (view: View, statuses: Statuses): Views => {
  const loadBalancer = (row: LoadBalancerRow) => ({
    ...common(row, statuses.loadBalancer(row)),
    description: row.description,
    ...owner(row),
    ...times(row),
    vip_address: row.vip_address,
    vip_port_id: row.vip_port_id,
    vip_subnet_id: row.vip_subnet_id,
    vip_network_id: row.vip_network_id,
    additional_vips: row.additional_vips,
    listeners: ids(view.children("listeners", row.id)),
    pools: ids(view.children("pools", row.id)),
    provider: providerName,
    flavor_id: null,
    vip_qos_policy_id: null,
    availability_zone: null,
  });

  const listener = (row: ListenerRow) => ({
    ...common(row, statuses.listener(row)),
    description: row.description,
    ...owner(row),
    ...times(row),
    protocol: row.protocol,
    protocol_port: row.protocol_port,
    connection_limit: row.connection_limit,
    default_pool_id: row.default_pool_id,
    loadbalancers: [{ id: row.loadbalancer_id }],
    timeout_client_data: row.timeout_client_data,
    timeout_member_connect: row.timeout_member_connect,
    timeout_member_data: row.timeout_member_data,
    timeout_tcp_inspect: row.timeout_tcp_inspect,
    allowed_cidrs: row.allowed_cidrs,
    default_tls_container_ref: null,
    sni_container_refs: [],
    l7policies: [],
    insert_headers: {},
    client_ca_tls_container_ref: null,
    client_authentication: "NONE",
    client_crl_container_ref: null,
    tls_ciphers: null,
    tls_versions: null,
    alpn_protocols: null,
    vips: row.vips,
    slot_choice: row.slot_choice,
    session_keeping: row.session_keeping,
    empty_policy: row.empty_policy,
  });

  const users = (row: PoolRow) =>
    view.children("listeners", row.loadbalancer_id).filter((l) => l.default_pool_id === row.id);

  const pool = (row: PoolRow) => {
    const monitor = view.children("healthMonitors", row.id)[0];
    return {
      ...common(row, statuses.pool(row)),
      description: row.description,
      ...owner(row),
      ...times(row),
      protocol: row.protocol,
      lb_algorithm: row.lb_algorithm,
      session_persistence: row.session_persistence === null ? null : { ...row.session_persistence, cookie_name: null },
      loadbalancers: [{ id: row.loadbalancer_id }],
      listeners: ids(users(row)),
      members: ids(view.children("members", row.id)),
      ...(monitor === undefined ? {} : { healthmonitor_id: monitor.id }),
      tls_container_ref: null,
      ca_tls_container_ref: null,
      crl_container_ref: null,
      tls_enabled: false,
      tls_ciphers: null,
      tls_versions: null,
      alpn_protocols: null,
      slots: row.slots,
    };
  };

  const member = (row: MemberRow, parent?: PoolRow) => ({
    ...common(row, statuses.member(row, parent)),
    ...owner(row),
    ...times(row),
    address: row.address,
    protocol_port: row.protocol_port,
    weight: row.weight,
    backup: row.backup,
    subnet_id: row.subnet_id,
    monitor_address: row.monitor_address,
    monitor_port: row.monitor_port,
  });

  const healthMonitor = (row: HealthMonitorRow) => ({
    ...common(row, statuses.healthMonitor(row)),
    ...owner(row),
    ...times(row),
    type: row.type,
    delay: row.delay,
    timeout: row.timeout,
    max_retries: row.max_retries,
    max_retries_down: row.max_retries_down,
    http_method: row.http_method,
    url_path: row.url_path,
    expected_codes: row.expected_codes,
    http_version: row.http_version,
    domain_name: row.domain_name,
    pools: [{ id: row.pool_id }],
  });

  const whole = (row: LoadBalancerRow) => ({
    ...loadBalancer(row),
    listeners: view.children("listeners", row.id).map((l) => inside(listener(l))),
    pools: view.children("pools", row.id).map((p) => {
      const monitor = view.children("healthMonitors", p.id)[0];
      return {
        ...inside(pool(p)),
        members: view.children("members", p.id).map((m) => member(m, p)),
        healthmonitor: monitor === undefined ? null : healthMonitor(monitor),
      };
    }),
  });

  const leaf = (row: { readonly id: string; readonly name: string }, status: OperatingStatus) => ({
    id: row.id,
    name: row.name,
    operating_status: status,
    provisioning_status: provisioned,
  });

  const poolTree = (row: PoolRow) => {
    const monitor = view.children("healthMonitors", row.id)[0];
    return {
      ...leaf(row, statuses.pool(row)),
      ...(monitor === undefined
        ? {}
        : { health_monitor: { ...leaf(monitor, statuses.healthMonitor(monitor)), type: monitor.type } }),
      members: view.children("members", row.id).map((m) => ({
        ...leaf(m, statuses.member(m, row)),
        address: m.address,
        protocol_port: m.protocol_port,
      })),
    };
  };

  const statusTree = (row: LoadBalancerRow) => ({
    loadbalancer: {
      ...leaf(row, statuses.loadBalancer(row)),
      listeners: view.children("listeners", row.id).map((l) => {
        const used = l.default_pool_id === null ? undefined : view.get("pools", l.default_pool_id);
        return { ...leaf(l, statuses.listener(l)), pools: used === undefined ? [] : [poolTree(used)] };
      }),
    },
  });

  return { loadBalancer, listener, pool, member, healthMonitor, whole, statusTree };
};
