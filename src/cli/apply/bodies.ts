/** From the words of the file to the fields of the API. */
import { usualIdleMs, type Value, type Words } from "./objects.ts";

export type Kind = "load balancer" | "listener" | "pool" | "member" | "monitor";

type Field = readonly [name: string, convert?: (value: Value) => unknown];

const orElse =
  (usual: unknown) =>
  (value: Value): unknown =>
    value ?? usual;

const upper = (value: Value): string => String(value).toUpperCase();

/** Of the API's algorithms with a fixed table, the usual one is ours. */
const algorithms: Readonly<Record<string, string>> = {
  consistent: "ROUND_ROBIN",
  "least-connections": "LEAST_CONNECTIONS",
  "source-ip": "SOURCE_IP",
};

const probeTypes: Readonly<Record<string, string>> = { tcp: "TCP", http: "HTTP", icmp: "PING", udp: "UDP-CONNECT" };

const fields: Readonly<Record<Kind, Readonly<Record<string, Field>>>> = {
  "load balancer": { enabled: ["admin_state_up"] },
  listener: {
    protocol: ["protocol", upper],
    port: ["protocol_port"],
    pool: ["default_pool_id"],
    vips: ["vips"],
    allowed_sources: ["allowed_cidrs"],
    slot_choice: ["slot_choice"],
    sessions: ["session_keeping"],
    when_empty: ["empty_policy"],
    connection_limit: ["connection_limit", orElse(-1)],
    idle_timeout: ["timeout_client_data", (value) => (value === null ? usualIdleMs : Number(value) * 1000)],
    enabled: ["admin_state_up"],
  },
  pool: {
    protocol: ["protocol", (value) => upper(value ?? "tcp")],
    algorithm: ["lb_algorithm", (value) => algorithms[String(value)]],
    session_persistence: ["session_persistence", (value) => (value === null ? null : { type: "SOURCE_IP" })],
    slots: ["slots"],
  },
  member: {
    name: ["name"],
    ip: ["address"],
    port: ["protocol_port"],
    weight: ["weight"],
    enabled: ["admin_state_up"],
    backup: ["backup"],
    monitor_ip: ["monitor_address"],
    monitor_port: ["monitor_port"],
  },
  monitor: {
    type: ["type", (value) => probeTypes[String(value)]],
    interval: ["delay"],
    timeout: ["timeout"],
    rise: ["max_retries"],
    fall: ["max_retries_down"],
    method: ["http_method"],
    path: ["url_path"],
    version: ["http_version", Number],
    host: ["domain_name"],
    codes: ["expected_codes"],
  },
};

/**
 * The body of a request. On creation a null is left out, since the API takes it for a value in some places.
 *
 * @param poolId what stands for the pool that a listener names
 */
export const bodyOf = (kind: Kind, words: Words, creating: boolean, poolId?: string): Record<string, unknown> => {
  const body: Record<string, unknown> = {};
  for (const [word, value] of Object.entries(words)) {
    const [name, convert = (v: Value): unknown => v] = fields[kind][word]!;
    const converted = word === "pool" && value !== null ? poolId : convert(value);
    if (!creating || converted !== null) body[name] = converted;
  }
  return body;
};
