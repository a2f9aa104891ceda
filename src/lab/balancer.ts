/** The lab's load balancer, made by the requests to the controller's API that an operator would send. */
import { patience } from "./patience.ts";
import { LabError } from "./shell.ts";

/** One request. In its path and in the texts of its body, $LB and $POOL stand for ids that earlier answers gave. */
export interface ApiRequest {
  readonly method: "POST" | "PUT";
  /** Below {@link apiBase}. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The variable that keeps the id of the object in the answer. */
  readonly keeps?: "LB" | "POOL";
}

/** How the lab's members are probed. Seconds, and results in a row. */
export const monitor = { delay: 2, timeout: 1, max_retries: 2, max_retries_down: 3 } as const;

/** All that it takes, in this order. */
export const balancerRequests: readonly ApiRequest[] = [
  {
    method: "POST",
    path: "/loadbalancers",
    body: {
      loadbalancer: {
        name: "web",
        vip_subnet_id: "pub",
        vip_address: "192.168.5.21",
        additional_vips: [
          { subnet_id: "p2", ip_address: "10.20.0.100" },
          { subnet_id: "p3", ip_address: "10.30.0.100" },
        ],
      },
    },
    keeps: "LB",
  },
  {
    method: "POST",
    path: "/pools",
    body: { pool: { name: "web", loadbalancer_id: "$LB", protocol: "TCP", lb_algorithm: "ROUND_ROBIN" } },
    keeps: "POOL",
  },
  {
    method: "POST",
    path: "/healthmonitors",
    body: { healthmonitor: { pool_id: "$POOL", type: "HTTP", http_version: 1.1, url_path: "/", ...monitor } },
  },
  {
    method: "PUT",
    path: "/pools/$POOL/members",
    body: {
      members: [
        { name: "be1", address: "10.20.0.2", protocol_port: 8080 },
        { name: "be2", address: "10.30.0.2", protocol_port: 8080 },
        { name: "be3", address: "10.20.0.3", protocol_port: 8080 },
        { name: "be4", address: "10.30.0.3", protocol_port: 8080 },
      ],
    },
  },
  {
    method: "POST",
    path: "/listeners",
    body: {
      listener: { name: "http", loadbalancer_id: "$LB", protocol: "TCP", protocol_port: 80, default_pool_id: "$POOL" },
    },
  },
];

/** Where the load balancers are, below the base URL of the controller's API. */
function apiBase(web: string): string {
  return new URL("v2.0/lbaas", web).href;
}

/** What a shell needs to know for the lines of {@link curlLines}. */
export function curlPreamble(web: string): readonly string[] {
  return [`API=${apiBase(web)}`, "JSON=content-type:application/json"];
}

/** A request as a shell command of one or more lines. */
export function curlLines({ method, path, body }: ApiRequest): readonly string[] {
  const text = JSON.stringify(body)
    .replace(/^(.*?:\{)/, "$1\n  ")
    .replaceAll("[{", "[\n  {")
    .replaceAll("},{", "},\n  {")
    // Inside single quotes nothing is replaced, so variables stand outside of them.
    .replace(/\$(LB|POOL)/g, "'$&'");
  return `curl -s ${method === "POST" ? "" : `-X ${method} `}$API${path} -H $JSON -d '${text}'`.split("\n");
}

/**
 * Sends all requests to the API at `web`.
 *
 * @param show called with each request before it is sent, and with what an answer's id is kept as
 * @throws LabError with the refusal when one is refused.
 */
export async function createBalancer(web: string, show: (lines: readonly string[]) => void = () => {}): Promise<void> {
  const ids = new Map<string, string>();
  const filled = (text: string) => text.replace(/\$(LB|POOL)/g, (whole, name: string) => ids.get(name) ?? whole);
  for (const request of balancerRequests) {
    show(curlLines(request));
    const response = await fetch(`${apiBase(web)}${filled(request.path)}`, {
      method: request.method,
      headers: { "content-type": "application/json" },
      body: filled(JSON.stringify(request.body)),
      signal: AbortSignal.timeout(patience(10_000)),
    });
    const answer = await response.text();
    if (!response.ok) throw new LabError(`${request.method} ${request.path}: ${response.status} ${answer}`);
    if (request.keeps === undefined) continue;
    const id = createdId(answer);
    ids.set(request.keeps, id);
    show([`${request.keeps}=${id}`]);
  }
}

/** The id of the one object in an answer. @throws LabError when there is none. */
function createdId(answer: string): string {
  const [object] = Object.values(JSON.parse(answer) as Record<string, unknown>);
  if (typeof object !== "object" || object === null || !("id" in object)) throw new LabError(`no id in ${answer}`);
  return String(object.id);
}
