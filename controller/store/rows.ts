/**
 * What the store keeps: the objects of the load balancing API, one row each. Columns have the API's own names, so that whoever
 * opens the state file reads there what the API shows. Statuses are not stored: they follow from health and connections.
 */

/** Columns every object of the API has. */
interface ObjectRow {
  readonly id: string;
  readonly name: string;
  readonly admin_state_up: boolean;
  readonly project_id: string;
  /** UTC, ISO 8601 without a zone. */
  readonly created_at: string;
  /** Null until the first change. */
  readonly updated_at: string | null;
  readonly tags: readonly string[];
}

/** Columns of objects that the switch's program knows by number. */
interface NumberedRow extends ObjectRow {
  /** The small number that stands for the object in registers and cookies; never changes. */
  readonly number: number;
}

/** An address beside the first one. */
export interface AdditionalVip {
  readonly subnet_id: string;
  readonly ip_address: string;
}

export interface LoadBalancerRow extends NumberedRow {
  readonly description: string;
  readonly vip_address: string;
  readonly vip_subnet_id: string;
  readonly vip_network_id: string | null;
  readonly vip_port_id: string;
  readonly additional_vips: readonly AdditionalVip[];
}

export interface ListenerRow extends NumberedRow {
  readonly loadbalancer_id: string;
  readonly description: string;
  readonly protocol: "TCP" | "UDP";
  readonly protocol_port: number;
  readonly default_pool_id: string | null;
  readonly connection_limit: number;
  /** Networks whose clients are served; null: all. */
  readonly allowed_cidrs: readonly string[] | null;
  /** Milliseconds. */
  readonly timeout_client_data: number;
  readonly timeout_member_data: number;
  readonly timeout_member_connect: number;
  readonly timeout_tcp_inspect: number;
  /** The addresses of the load balancer it serves; null: all. */
  readonly vips: readonly string[] | null;
  readonly slot_choice: "multipath" | "bits" | null;
  readonly session_keeping: "conntrack" | "stateless" | null;
  readonly empty_policy: "drop" | "reject" | null;
}

/** How long and how widely a client sticks to its member. */
export interface SessionPersistence {
  readonly type: "SOURCE_IP";
  readonly persistence_timeout: number | null;
  readonly persistence_granularity: string | null;
}

export interface PoolRow extends NumberedRow {
  readonly loadbalancer_id: string;
  readonly description: string;
  readonly protocol: "TCP" | "UDP";
  readonly lb_algorithm: "ROUND_ROBIN" | "SOURCE_IP" | "SOURCE_IP_PORT" | "LEAST_CONNECTIONS";
  readonly session_persistence: SessionPersistence | null;
  /** Size of the slot table; null: the daemon's default. */
  readonly slots: number | null;
}

export interface MemberRow extends NumberedRow {
  readonly pool_id: string;
  readonly address: string;
  readonly protocol_port: number;
  readonly weight: number;
  readonly backup: boolean;
  readonly subnet_id: string | null;
  readonly monitor_address: string | null;
  readonly monitor_port: number | null;
  /** Set by the operator: what it serves it keeps, new connections go elsewhere. */
  readonly drain: boolean;
}

export interface HealthMonitorRow extends ObjectRow {
  readonly pool_id: string;
  readonly type: "TCP" | "HTTP" | "PING" | "UDP-CONNECT";
  /** Seconds. */
  readonly delay: number;
  readonly timeout: number;
  readonly max_retries: number;
  readonly max_retries_down: number;
  readonly http_method: "GET" | "HEAD" | "OPTIONS" | null;
  readonly url_path: string | null;
  readonly expected_codes: string | null;
  readonly http_version: number | null;
  readonly domain_name: string | null;
}

/** Limits of a project, -1 or null: none. `id` is the project. */
export interface QuotaRow {
  readonly id: string;
  readonly load_balancer: number | null;
  readonly listener: number | null;
  readonly pool: number | null;
  readonly member: number | null;
  readonly health_monitor: number | null;
  readonly l7policy: number | null;
  readonly l7rule: number | null;
}

/** Where the numbering of a table stands. `id` is the table. */
interface CounterRow {
  readonly id: string;
  /** The number given out last. */
  readonly last: number;
  /** Whether the numbering has been round once, so that a number may be in use already. */
  readonly wrapped: boolean;
}

/** The row type of each table. */
export interface Rows {
  readonly loadBalancers: LoadBalancerRow;
  readonly listeners: ListenerRow;
  readonly pools: PoolRow;
  readonly members: MemberRow;
  readonly healthMonitors: HealthMonitorRow;
  readonly quotas: QuotaRow;
  readonly counters: CounterRow;
}

export type TableName = keyof Rows;
export type Row = Rows[TableName];

export const tableNames: readonly TableName[] = [
  "loadBalancers",
  "listeners",
  "pools",
  "members",
  "healthMonitors",
  "quotas",
  "counters",
];

/** The row a row belongs to, "" for those that stand by themselves. Never changes during a row's life. */
export const parentOf = (row: Row): string =>
  "pool_id" in row ? row.pool_id : "loadbalancer_id" in row ? row.loadbalancer_id : "";
