/** Requests made of the real service and of ours, in this order, and where the answers may differ. */
import { subnets } from "../support/octavia-app.ts";

export interface Step {
  readonly what: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below /v2.0/lbaas; `$name` stands for the id that a step with `save: "name"` gave. */
  readonly path: string;
  /** May hold `$name` as well. */
  readonly body?: unknown;
  /** Remember the id of the object in the answer. */
  readonly save?: string;
  /** Our status where it is not the real one's, and why. */
  readonly ours?: { readonly status: number; readonly why: string };
  /** Why the message of a refusal is not the same word for word. */
  readonly wording?: string;
}

const nobody = "dddddddd-dead-4bad-8bad-dddddddddddd";

const post = (what: string, path: string, body: object, more: Partial<Step> = {}): Step => ({
  what,
  method: "POST",
  path,
  body,
  ...more,
});
const put = (what: string, path: string, body: object, more: Partial<Step> = {}): Step => ({
  what,
  method: "PUT",
  path,
  body,
  ...more,
});
const get = (what: string, path: string, more: Partial<Step> = {}): Step => ({ what, method: "GET", path, ...more });
const remove = (what: string, path: string, more: Partial<Step> = {}): Step => ({
  what,
  method: "DELETE",
  path,
  ...more,
});

const lb = (fields: object) => ({ loadbalancer: { vip_subnet_id: subnets.front, ...fields } });
const listener = (fields: object) => ({
  listener: { loadbalancer_id: "$lb", protocol: "TCP", protocol_port: 1234, ...fields },
});
const pool = (fields: object) => ({
  pool: { loadbalancer_id: "$lb", protocol: "TCP", lb_algorithm: "ROUND_ROBIN", ...fields },
});
const member = (fields: object) => ({ member: { address: "10.20.0.5", protocol_port: 80, ...fields } });
const monitor = (fields: object) => ({
  healthmonitor: { pool_id: "$pool", type: "TCP", delay: 5, timeout: 3, max_retries: 3, ...fields },
});

const order = "the words of a list come in another order";
const narrower = "the field is named, not the whole body quoted";
const forwarder = "a forwarder of packets cannot do it";
const noHost = "packets for it would reach no server";
const bug = "the real service answers 500";

const loadBalancers: readonly Step[] = [
  get("no load balancers", "loadbalancers"),
  post("a load balancer", "loadbalancers", lb({ name: "one", vip_address: "192.0.2.10", tags: ["blue", "red"] }), {
    save: "lb",
  }),
  get("it", "loadbalancers/$lb"),
  get("its empty tree", "loadbalancers/$lb/status"),
  get("its counters", "loadbalancers/$lb/stats"),
  put("a new name", "loadbalancers/$lb", { loadbalancer: { name: "uno", description: "d", admin_state_up: false } }),
  put("nulls", "loadbalancers/$lb", { loadbalancer: { name: null, description: null } }),
  put("back", "loadbalancers/$lb", { loadbalancer: { name: "one", admin_state_up: true, tags: [] } }),
  put("an immutable field", "loadbalancers/$lb", { loadbalancer: { vip_address: "192.0.2.11" } }),
  put("an unknown field", "loadbalancers/$lb", { loadbalancer: { x: 1 } }),
  post("another", "loadbalancers", lb({ name: "two" }), { save: "two" }),
  post("no subnet", "loadbalancers", { loadbalancer: { name: "x" } }),
  post("a subnet that is no UUID", "loadbalancers", { loadbalancer: { vip_subnet_id: "nope" } }),
  post("an address that is none", "loadbalancers", lb({ vip_address: "1.2.3" })),
  post("a name that is a number", "loadbalancers", lb({ name: 5 })),
  post("tags that are a string", "loadbalancers", lb({ tags: "x" }), { wording: narrower }),
  post("an ambiguous truth", "loadbalancers", lb({ admin_state_up: "maybe" }), { wording: narrower }),
  post("an unknown provider", "loadbalancers", lb({ provider: "nobody" })),
  post("an unknown flavor", "loadbalancers", lb({ flavor_id: nobody })),
  post("an unknown zone", "loadbalancers", lb({ availability_zone: "az" })),
  post("IPv6", "loadbalancers", lb({ vip_address: "2001:db8::1" }), { ours: { status: 501, why: "IPv4 only" } }),
  post("no root", "loadbalancers", {}, { ours: { status: 400, why: bug } }),
  post("an array", "loadbalancers", [], { ours: { status: 400, why: bug } }),
  get("by name", "loadbalancers?name=one"),
  get("some fields", "loadbalancers?fields=id&fields=name"),
  get("sorted", "loadbalancers?sort=name:desc&fields=name"),
  get("a page", "loadbalancers?limit=1&sort=name:asc"),
  get("the next page", "loadbalancers?limit=1&sort=name:asc&marker=$lb"),
  get("an unknown filter", "loadbalancers?bogus=1"),
  get("an unknown sort key", "loadbalancers?sort=bogus"),
  get("an unknown direction", "loadbalancers?sort=name:sideways"),
  get("an unknown marker", `loadbalancers?marker=${nobody}`),
  get("a limit that is no number", "loadbalancers?limit=abc"),
  get("limit 0", "loadbalancers?limit=0", { ours: { status: 400, why: bug } }),
  get("a filter twice", "loadbalancers?name=one&name=two", { ours: { status: 400, why: bug } }),
  get("one that is not there", `loadbalancers/${nobody}`),
  put("change one that is not there", `loadbalancers/${nobody}`, { loadbalancer: {} }),
  remove("delete one that is not there", `loadbalancers/${nobody}`),
  put(
    "a failover",
    "loadbalancers/$lb/failover",
    {},
    { ours: { status: 501, why: "there is nothing to fail over to" } },
  ),
];

const listeners: readonly Step[] = [
  post("a listener", "listeners", listener({ name: "web", protocol_port: 80 }), { save: "listener" }),
  post(
    "a UDP listener on the same port",
    "listeners",
    listener({ protocol: "UDP", protocol_port: 80, allowed_cidrs: ["10.1.2.3/8"] }),
    { save: "udp" },
  ),
  get("it", "listeners/$listener"),
  get("all", "listeners?loadbalancer_id=$lb"),
  get("its counters", "listeners/$listener/stats"),
  post("the port again", "listeners", listener({ protocol_port: 80 })),
  post("no port", "listeners", listener({ protocol_port: undefined })),
  post("port 0", "listeners", listener({ protocol_port: 0 })),
  post("port 65536", "listeners", listener({ protocol_port: 65536 })),
  post("port x", "listeners", listener({ protocol_port: "x" }), { wording: narrower }),
  post("a lower-case protocol", "listeners", listener({ protocol: "tcp" }), { wording: order }),
  post("limit -2", "listeners", listener({ connection_limit: -2 })),
  post("a bad network", "listeners", listener({ allowed_cidrs: ["10.0.0.0/33"] })),
  post("an IPv6 network", "listeners", listener({ allowed_cidrs: ["2001:db8::/32"] })),
  post("a timeout too long", "listeners", listener({ timeout_client_data: 2073600001 })),
  post("an unknown pool", "listeners", listener({ default_pool_id: nobody })),
  post("headers on TCP", "listeners", listener({ insert_headers: { "X-Forwarded-For": "true" } })),
  post("a certificate on TCP", "listeners", listener({ default_tls_container_ref: "http://x/1" })),
  post("HTTP", "listeners", listener({ protocol: "HTTP" }), { ours: { status: 501, why: forwarder } }),
  put("new options", "listeners/$listener", {
    listener: { name: "www", connection_limit: 5, timeout_client_data: 1000 },
  }),
  put("nulls", "listeners/$listener", { listener: { name: null, connection_limit: null, timeout_client_data: null } }),
  put("an immutable field", "listeners/$listener", { listener: { protocol_port: 81 } }),
  get("one that is not there", `listeners/${nobody}`),
];

const pools: readonly Step[] = [
  post(
    "a pool",
    "pools",
    { pool: { listener_id: "$listener", name: "p", protocol: "TCP", lb_algorithm: "ROUND_ROBIN" } },
    { save: "pool" },
  ),
  get("its listener", "listeners/$listener"),
  post("a UDP pool", "pools", pool({ protocol: "UDP", lb_algorithm: "SOURCE_IP" }), { save: "udppool" }),
  post("a sticky one", "pools", pool({ lb_algorithm: "SOURCE_IP_PORT", session_persistence: { type: "SOURCE_IP" } }), {
    save: "sticky",
  }),
  get("all", "pools"),
  post("a second default pool", "pools", {
    pool: { listener_id: "$listener", protocol: "TCP", lb_algorithm: "ROUND_ROBIN" },
  }),
  post("neither parent", "pools", { pool: { protocol: "TCP", lb_algorithm: "ROUND_ROBIN" } }),
  post("an unknown parent", "pools", pool({ loadbalancer_id: nobody })),
  post(
    "an unknown listener",
    "pools",
    { pool: { listener_id: nobody, protocol: "TCP", lb_algorithm: "ROUND_ROBIN" } },
    { ours: { status: 404, why: bug } },
  ),
  post("an unknown algorithm", "pools", pool({ lb_algorithm: "RANDOM" }), { wording: order }),
  post("no algorithm", "pools", pool({ lb_algorithm: undefined })),
  post("a null algorithm", "pools", pool({ lb_algorithm: null }), { ours: { status: 400, why: bug } }),
  post("cookies on UDP", "pools", pool({ protocol: "UDP", session_persistence: { type: "HTTP_COOKIE" } })),
  post("cookies on TCP", "pools", pool({ session_persistence: { type: "HTTP_COOKIE" } }), {
    ours: { status: 501, why: forwarder },
  }),
  post("a cookie name", "pools", pool({ session_persistence: { type: "SOURCE_IP", cookie_name: "x" } })),
  post("a timeout on TCP", "pools", pool({ session_persistence: { type: "SOURCE_IP", persistence_timeout: 60 } })),
  put("new options", "pools/$sticky", {
    pool: { lb_algorithm: "ROUND_ROBIN", session_persistence: null, description: "x" },
  }),
  put("an immutable field", "pools/$pool", { pool: { protocol: "UDP" } }),
  put("the wrong protocol", "listeners/$listener", { listener: { default_pool_id: "$udppool" } }),
  put("a default pool", "listeners/$udp", { listener: { default_pool_id: "$udppool" } }),
];

const members: readonly Step[] = [
  post("a member", "pools/$pool/members", member({ name: "m" }), { save: "member" }),
  get("it", "pools/$pool/members/$member"),
  post("the same again", "pools/$pool/members", member({})),
  post("a bad address", "pools/$pool/members", member({ address: "10.20.0.300" })),
  post("no address", "pools/$pool/members", member({ address: undefined })),
  post("a null address", "pools/$pool/members", member({ address: null }), { ours: { status: 400, why: bug } }),
  post("port 65536", "pools/$pool/members", member({ protocol_port: 65536 })),
  post("half a port", "pools/$pool/members", member({ address: "10.20.0.8", protocol_port: 80.5 }), {
    ours: { status: 400, why: "80.5 is not a port" },
  }),
  post("weight 257", "pools/$pool/members", member({ weight: 257 })),
  post("the metadata address", "pools/$pool/members", member({ address: "169.254.169.254" })),
  post("a loopback address", "pools/$pool/members", member({ address: "127.0.0.1" }), {
    ours: { status: 400, why: noHost },
  }),
  post("a multicast address", "pools/$pool/members", member({ address: "224.0.0.1" }), {
    ours: { status: 400, why: noHost },
  }),
  post("a member of no pool", `pools/${nobody}/members`, member({})),
  put("new options", "pools/$pool/members/$member", { member: { weight: 0, monitor_port: 81, admin_state_up: false } }),
  put("nulls", "pools/$pool/members/$member", { member: { weight: null, monitor_port: null, name: null } }),
  put("an immutable field", "pools/$pool/members/$member", { member: { address: "10.20.0.6" } }),
  put("all at once", "pools/$pool/members", {
    members: [
      { address: "10.20.0.11", protocol_port: 80, weight: 7 },
      { address: "10.20.0.12", protocol_port: 80 },
    ],
  }),
  get("they", "pools/$pool/members?sort=address"),
  put("one more", "pools/$pool/members?additive_only=true", {
    members: [{ address: "10.20.0.13", protocol_port: 80 }],
  }),
  get("three", "pools/$pool/members?sort=address"),
  put("one twice", "pools/$pool/members", {
    members: [
      { address: "10.20.0.14", protocol_port: 1 },
      { address: "10.20.0.14", protocol_port: 1 },
    ],
  }),
  put("a bad one", "pools/$pool/members", { members: [{ address: "bad", protocol_port: 1 }] }),
  put("the wrong root", "pools/$pool/members", { member: [] }),
  put("no list", "pools/$pool/members", { members: {} }, { wording: narrower }),
  get("one of another pool", "pools/$udppool/members/$member"),
];

const monitors: readonly Step[] = [
  post("a monitor", "healthmonitors", monitor({ name: "h" }), { save: "monitor" }),
  get("it", "healthmonitors/$monitor"),
  get("its pool", "pools/$pool"),
  get("the whole tree", "loadbalancers/$lb/status"),
  post("a second one", "healthmonitors", monitor({})),
  post(
    "HTTP",
    "healthmonitors",
    monitor({
      pool_id: "$sticky",
      type: "HTTP",
      url_path: "/x",
      expected_codes: "200,204",
      http_method: "HEAD",
      http_version: 1.1,
      domain_name: "example.com",
    }),
    { save: "http" },
  ),
  put("nulls", "healthmonitors/$http", {
    healthmonitor: { url_path: null, expected_codes: null, http_method: null, domain_name: null, http_version: null },
  }),
  post("UDP-CONNECT", "healthmonitors", monitor({ pool_id: "$udppool", type: "UDP-CONNECT" }), { save: "connect" }),
  remove("its end", "healthmonitors/$connect"),
  post("PING on UDP", "healthmonitors", monitor({ pool_id: "$udppool", type: "PING" })),
  post("an unknown pool", "healthmonitors", monitor({ pool_id: nobody })),
  post("an unknown type", "healthmonitors", monitor({ pool_id: "$udppool", type: "BOGUS" }), { wording: order }),
  post("11 retries", "healthmonitors", monitor({ pool_id: "$udppool", max_retries: 11 })),
  post("no timeout", "healthmonitors", monitor({ pool_id: "$udppool", timeout: null }), {
    wording: "the real service names the option, not the field",
  }),
  post("a bad path", "healthmonitors", monitor({ pool_id: "$udppool", type: "HTTP", url_path: "x" })),
  post("bad codes", "healthmonitors", monitor({ pool_id: "$udppool", type: "HTTP", expected_codes: "abc" })),
  post("HTTPS", "healthmonitors", monitor({ pool_id: "$udppool", type: "HTTPS" })),
  put("a path on TCP", "healthmonitors/$monitor", { healthmonitor: { url_path: "/x" } }),
  put("an immutable field", "healthmonitors/$monitor", { healthmonitor: { type: "HTTP" } }),
];

const ends: readonly Step[] = [
  remove("a load balancer with children", "loadbalancers/$lb"),
  remove("the monitor", "healthmonitors/$monitor"),
  get("no monitor", "healthmonitors/$monitor"),
  remove("the pool", "pools/$pool"),
  get("no default pool", "listeners/$listener"),
  remove("the listener", "listeners/$listener"),
  get("no listener", "listeners/$listener"),
  post(
    "a whole tree",
    "loadbalancers",
    lb({
      name: "tree",
      listeners: [
        {
          protocol: "TCP",
          protocol_port: 443,
          default_pool: {
            name: "tp",
            protocol: "TCP",
            lb_algorithm: "ROUND_ROBIN",
            members: [{ address: "10.20.0.9", protocol_port: 1 }],
          },
        },
      ],
    }),
    { save: "tree" },
  ),
  post(
    "a tree with an unnamed pool",
    "loadbalancers",
    lb({
      listeners: [
        { protocol: "TCP", protocol_port: 1, default_pool: { protocol: "TCP", lb_algorithm: "ROUND_ROBIN" } },
      ],
    }),
  ),
  remove("the tree", "loadbalancers/$tree?cascade=true"),
  remove("the tree again", "loadbalancers/$tree?cascade=true"),
  remove("the first", "loadbalancers/$lb?cascade=true"),
  remove("the second", "loadbalancers/$two"),
  get("nothing left", "loadbalancers"),
  get("no listeners left", "listeners"),
  get("no pools left", "pools"),
  get("quotas", "quotas"),
  get("quota defaults", "quotas/defaults"),
  put("a quota", "quotas/demo", { quota: { load_balancer: 4, healthmonitor: 7 } }),
  get("the quota", "quotas/demo"),
  get("flavors", "flavors"),
  get("an unknown flavor", `flavors/${nobody}`),
  get("L7 policies", "l7policies"),
  get("availability zones", "availabilityzones"),
];

export const scenario: readonly Step[] = [...loadBalancers, ...listeners, ...pools, ...members, ...monitors, ...ends];
