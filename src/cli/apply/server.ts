/** What is on the server, read over its Octavia API. */
import type { Answer } from "../client.ts";
import { CliError } from "../command.ts";
import { type Balancer, type Existing, type Pool, usualIdleMs } from "./objects.ts";

/** Puts a request to the API. `path` is that on the server. */
export type Api = (method: string, path: string, body?: unknown) => Promise<Answer>;

export const lbaas = "/v2.0/lbaas";

/** The server's own words for a refusal. */
export const faultOf = ({ status, body }: Answer): string => {
  const { faultstring, message } = (body ?? {}) as { readonly faultstring?: unknown; readonly message?: unknown };
  return String(faultstring ?? message ?? `the daemon answers ${status}`);
};

/** The rows as the API shows them; only what is used here. */
interface Row {
  readonly id: string;
  readonly name: string;
  readonly admin_state_up: boolean;
  readonly loadbalancers: readonly { readonly id: string }[];
}

export interface BalancerRow extends Row {
  readonly operating_status: string;
  readonly provisioning_status: string;
  readonly vip_address: string;
  readonly vip_subnet_id: string;
  readonly additional_vips: readonly { readonly ip_address: string; readonly subnet_id: string }[];
}

interface ListenerRow extends Row {
  readonly protocol: string;
  readonly protocol_port: number;
  readonly default_pool_id: string | null;
  readonly allowed_cidrs: readonly string[] | null;
  readonly connection_limit: number;
  readonly timeout_client_data: number;
  readonly vips: readonly string[] | null;
  readonly slot_choice: string | null;
  readonly session_keeping: string | null;
  readonly empty_policy: string | null;
}

interface PoolRow extends Row {
  readonly protocol: string;
  readonly lb_algorithm: string;
  readonly session_persistence: { readonly type: string } | null;
  readonly slots: number | null;
  readonly healthmonitor_id?: string;
}

interface MemberRow extends Row {
  readonly address: string;
  readonly protocol_port: number;
  readonly weight: number;
  readonly backup: boolean;
  readonly monitor_address: string | null;
  readonly monitor_port: number | null;
}

interface MonitorRow extends Row {
  readonly type: string;
  readonly delay: number;
  readonly timeout: number;
  readonly max_retries: number;
  readonly max_retries_down: number;
  readonly http_method: string | null;
  readonly url_path: string | null;
  readonly expected_codes: string | null;
  readonly http_version: number | null;
  readonly domain_name: string | null;
  readonly pools: readonly { readonly id: string }[];
}

/** GETs a list; its key is the last word of the path. */
const rows = async <R>(api: Api, path: string): Promise<readonly R[]> => {
  const answer = await api("GET", path);
  if (answer.status !== 200) throw new CliError(`${path}: ${faultOf(answer)}`);
  const key = path.split("/").at(-1)!;
  const list = (answer.body as Readonly<Record<string, readonly R[] | undefined>>)[key];
  if (!Array.isArray(list)) throw new CliError(`${path}: the answer has no ${key}`);
  return list;
};

export const balancerRows = (api: Api): Promise<readonly BalancerRow[]> => rows(api, `${lbaas}/loadbalancers`);

/** The name an object goes by: one without a name has that which the daemon calls it by in its tables. */
export const shownName = (row: Pick<Row, "id" | "name">): string => row.name || row.id;

const listener = (row: ListenerRow, pools: ReadonlyMap<string, PoolRow>): Existing => {
  const pool = row.default_pool_id === null ? undefined : pools.get(row.default_pool_id);
  const idle = row.timeout_client_data;
  return {
    id: row.id,
    name: row.name || `${row.protocol.toLowerCase()}-${row.protocol_port}`,
    fixed: { protocol: row.protocol.toLowerCase(), port: row.protocol_port },
    words: {
      pool: pool === undefined ? null : shownName(pool),
      vips: row.vips?.toSorted() ?? null,
      allowed_sources: row.allowed_cidrs?.toSorted() ?? null,
      slot_choice: row.slot_choice,
      sessions: row.session_keeping,
      when_empty: row.empty_policy,
      connection_limit: row.connection_limit === -1 ? null : row.connection_limit,
      idle_timeout: idle === 0 || idle === usualIdleMs ? null : Math.ceil(idle / 1000),
      enabled: row.admin_state_up,
    },
  };
};

const member = (row: MemberRow): Existing => ({
  id: row.id,
  name: row.name || `${row.address}-${row.protocol_port}`,
  fixed: { ip: row.address, port: row.protocol_port },
  words: {
    weight: row.weight,
    enabled: row.admin_state_up,
    backup: row.backup,
    monitor_ip: row.monitor_address,
    monitor_port: row.monitor_port,
  },
});

const probeTypes: Readonly<Record<string, string>> = { TCP: "tcp", HTTP: "http", PING: "icmp", "UDP-CONNECT": "udp" };

const monitor = (row: MonitorRow): Existing => ({
  id: row.id,
  name: "",
  fixed: { type: probeTypes[row.type] ?? row.type },
  words: {
    interval: row.delay,
    // A probe ends with its interval, whatever its own time is.
    timeout: Math.min(row.timeout, row.delay),
    rise: row.max_retries,
    fall: row.max_retries_down,
    ...(row.type === "HTTP"
      ? {
          method: row.http_method ?? "GET",
          path: row.url_path ?? "/",
          version: row.http_version === 1.1 ? "1.1" : "1.0",
          host: row.domain_name,
          codes: (row.expected_codes ?? "200").replaceAll(/\s/g, ""),
        }
      : {}),
  },
});

const algorithms: Readonly<Record<string, string>> = {
  LEAST_CONNECTIONS: "least-connections",
  SOURCE_IP: "source-ip",
};

/** The load balancers whose name or id `wanted` takes, with all that is in them. */
export const readBalancers = async (
  api: Api,
  wanted: (row: BalancerRow) => boolean,
): Promise<readonly Balancer<Existing>[]> => {
  const balancers = (await balancerRows(api)).filter(wanted);
  if (balancers.length === 0) return [];
  const subnets = await rows<Pick<Row, "id" | "name">>(api, "/v2.0/subnets");
  const segments = new Map(subnets.map((s) => [s.id, s.name]));
  const vip = (ip: string, subnet: string) => ({ ip, segment: segments.get(subnet) ?? subnet });
  const listeners = await rows<ListenerRow>(api, `${lbaas}/listeners`);
  const pools = await rows<PoolRow>(api, `${lbaas}/pools`);
  const monitors = await rows<MonitorRow>(api, `${lbaas}/healthmonitors`);
  const poolsById = new Map(pools.map((p) => [p.id, p]));
  const inside = <R extends Row>(all: readonly R[], lb: Row): readonly R[] =>
    all.filter((r) => r.loadbalancers.some(({ id }) => id === lb.id));
  const whole = async (row: PoolRow): Promise<Pool<Existing>> => {
    const probe = monitors.find((m) => m.pools.some(({ id }) => id === row.id));
    return {
      self: {
        id: row.id,
        name: shownName(row),
        fixed: { protocol: row.protocol.toLowerCase() },
        words: {
          algorithm: algorithms[row.lb_algorithm] ?? "consistent",
          session_persistence: row.session_persistence === null ? null : "source-ip",
          slots: row.slots,
        },
      },
      members: (await rows<MemberRow>(api, `${lbaas}/pools/${row.id}/members`)).map(member),
      monitor: probe === undefined ? undefined : monitor(probe),
    };
  };
  const result: Balancer<Existing>[] = [];
  for (const lb of balancers) {
    const mine: Pool<Existing>[] = [];
    for (const row of inside(pools, lb)) mine.push(await whole(row));
    result.push({
      self: { id: lb.id, name: shownName(lb), fixed: {}, words: { enabled: lb.admin_state_up } },
      vips: [vip(lb.vip_address, lb.vip_subnet_id), ...lb.additional_vips.map((v) => vip(v.ip_address, v.subnet_id))],
      listeners: inside(listeners, lb).map((l) => listener(l, poolsById)),
      pools: mine,
    });
  }
  return result;
};
