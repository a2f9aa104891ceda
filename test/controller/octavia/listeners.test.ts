import { beforeEach, describe, expect, it } from "vitest";
import { optionNames } from "../../../controller/octavia/provider.ts";
import { type Api, fault, type Json, newApi, oneOfEach } from "./api.ts";

let api: Api;
let lb: Json;
beforeEach(async () => {
  api = await newApi();
  lb = await api.make("loadbalancer", {
    vip_address: "192.0.2.10",
    additional_vips: [{ subnet_id: "back", ip_address: "10.20.0.100" }],
  });
});
const create = (fields: object) =>
  api.call("POST", "listeners", {
    listener: { loadbalancer_id: lb.id, protocol: "TCP", protocol_port: 1234, ...fields },
  });

describe("creating a listener", () => {
  it("answers with all its columns", async () => {
    const listener = await api.make("listener", { loadbalancer_id: lb.id, name: "web" });
    expect(listener).toMatchObject({
      name: "web",
      description: "",
      provisioning_status: "ACTIVE",
      operating_status: "ONLINE",
      admin_state_up: true,
      protocol: "TCP",
      protocol_port: 80,
      connection_limit: -1,
      default_pool_id: null,
      loadbalancers: [{ id: lb.id }],
      timeout_client_data: 50000,
      timeout_member_connect: 5000,
      timeout_member_data: 50000,
      timeout_tcp_inspect: 0,
      allowed_cidrs: null,
      insert_headers: {},
      l7policies: [],
      sni_container_refs: [],
      client_authentication: "NONE",
      vips: null,
      slot_choice: null,
      session_keeping: null,
      empty_policy: null,
    });
    expect((await api.get(`loadbalancers/${lb.id}`)).loadbalancer.listeners).toEqual([{ id: listener.id }]);
  });

  it("takes numbers as text", async () => {
    const listener = await api.make("listener", {
      loadbalancer_id: lb.id,
      protocol_port: "8080",
      connection_limit: " 5 ",
    });
    expect(listener).toMatchObject({ protocol_port: 8080, connection_limit: 5 });
  });

  it("lets TCP and UDP have the same port, and nobody else", async () => {
    expect(await create({})).toMatchObject({ status: 201 });
    expect(await create({ protocol: "UDP" })).toMatchObject({ status: 201 });
    for (const protocol of ["TCP", "HTTP", "UDP"]) {
      const other = protocol === "HTTP" ? "TCP" : protocol;
      expect(await create({ protocol })).toMatchObject(
        fault(
          409,
          `^Another Listener on this Load Balancer is already using protocol ${other} and protocol_port 1234$`,
        ),
      );
    }
    const second = await api.make("loadbalancer");
    expect(await create({ loadbalancer_id: second.id })).toMatchObject({ status: 201 });
  });

  it("brings networks to one spelling, and none at all to null", async () => {
    const listener = await api.make("listener", {
      loadbalancer_id: lb.id,
      allowed_cidrs: ["10.1.2.3/8", "198.51.100.7", "10.0.0.0/8"],
    });
    expect(listener.allowed_cidrs).toEqual(["10.0.0.0/8", "198.51.100.7/32"]);
    const open = await api.call("PUT", `listeners/${listener.id}`, { listener: { allowed_cidrs: [] } });
    expect(open.body.listener.allowed_cidrs).toBeNull();
  });

  it("serves a subset of the load balancer's addresses", async () => {
    const listener = await api.make("listener", { loadbalancer_id: lb.id, vips: ["10.20.0.100"] });
    expect(listener.vips).toEqual(["10.20.0.100"]);
    expect(await create({ vips: ["10.20.0.101"] })).toMatchObject(
      fault(400, /vips. Value: '10.20.0.101'. Value should be one of: 192.0.2.10, 10.20.0.100$/),
    );
    expect(await create({ vips: [] })).toMatchObject(fault(400, /vips.*at least one address/));
    const all = await api.call("PUT", `listeners/${listener.id}`, { listener: { vips: null } });
    expect(all.body.listener.vips).toBeNull();
  });

  it.each([
    [
      "no load balancer",
      { loadbalancer_id: undefined },
      400,
      /loadbalancer_id. Value: 'None'. Mandatory field missing\.$/,
    ],
    [
      "an unknown load balancer",
      { loadbalancer_id: "dddddddd-dead-4bad-8bad-dddddddddddd" },
      404,
      /^Load Balancer dddd.* not found\.$/,
    ],
    [
      "a load balancer that is no UUID",
      { loadbalancer_id: 7 },
      400,
      /loadbalancer_id. Value: '7'. Value should be UUID/,
    ],
    ["no protocol", { protocol: undefined }, 400, /protocol. Value: 'None'. Mandatory field missing\.$/],
    ["no port", { protocol_port: null }, 400, /protocol_port. Value: 'None'. Mandatory field missing\.$/],
    ["lower case", { protocol: "tcp" }, 400, /protocol. Value: 'tcp'. Value should be one of: /],
    ["port 0", { protocol_port: 0 }, 400, /protocol_port. Value: '0'. Value should be greater or equal to 1$/],
    [
      "port 65536",
      { protocol_port: 65536 },
      400,
      /protocol_port. Value: '65536'. Value should be lower or equal to 65535$/,
    ],
    ["a huge port", { protocol_port: "9".repeat(400) }, 400, /protocol_port.*lower or equal to 65535$/],
    ["half a port", { protocol_port: 80.5 }, 400, /protocol_port. Value: '80.5'. invalid literal for int/],
    [
      "port text",
      { protocol_port: "x" },
      400,
      /protocol_port. Value: 'x'. invalid literal for int\(\) with base 10: 'x'$/,
    ],
    ["a truth as port", { protocol_port: true }, 400, /protocol_port. Value: 'True'. invalid literal/],
    ["a list as port", { protocol_port: [80] }, 400, /protocol_port. Value: '\[80\]'. invalid literal/],
    [
      "limit -2",
      { connection_limit: -2 },
      400,
      /connection_limit. Value: '-2'. Value should be greater or equal to -1$/,
    ],
    [
      "a network of 33 bits",
      { allowed_cidrs: ["10.0.0.0/33"] },
      400,
      /allowed_cidrs. Value: '\['10.0.0.0\/33'\]'. Value should be IPv4 or IPv6 CIDR/,
    ],
    [
      "networks that are no list",
      { allowed_cidrs: "10.0.0.0/8" },
      400,
      /allowed_cidrs. Value: '10.0.0.0\/8'. Value not a valid list/,
    ],
    [
      "an IPv6 network",
      { allowed_cidrs: ["2001:DB8::/32"] },
      400,
      /CIDR 2001:db8::\/32 IP version incompatible with VIP 192.0.2.10/,
    ],
    [
      "a timeout below 0",
      { timeout_client_data: -1 },
      400,
      /timeout_client_data. Value: '-1'. Value should be greater or equal to 0$/,
    ],
    [
      "a timeout too long",
      { timeout_client_data: 31536000001 },
      400,
      /timeout_client_data.*lower or equal to 2073600000$/,
    ],
    ["an unknown pool", { default_pool_id: "dddddddd-dead-4bad-8bad-dddddddddddd" }, 404, /^Pool .* not found\.$/],
    [
      "insert_headers",
      { insert_headers: { "X-Forwarded-For": "true" } },
      400,
      /^insert-headers is not a valid option for a TCP/,
    ],
    [
      "a certificate",
      { default_tls_container_ref: "http://x/1" },
      400,
      /Certificate container references are not allowed on TCP/,
    ],
    ["SNI", { sni_container_refs: ["http://x/1"] }, 400, /Certificate container references are not allowed/],
    ["client authentication", { client_authentication: "MANDATORY" }, 501, /does not support client_authentication/],
    ["ciphers", { tls_ciphers: "AES" }, 501, /tls_ciphers/],
    ["TLS versions", { tls_versions: ["TLSv1.2"] }, 501, /tls_versions/],
    ["ALPN", { alpn_protocols: ["h2"] }, 501, /alpn_protocols/],
    ["L7 policies", { l7policies: [{ action: "REJECT" }] }, 501, /L7 policies on TCP/],
    [
      "HTTP",
      { protocol: "HTTP" },
      501,
      /^Provider 'openflow' does not support a requested option: .*HTTP protocol. Supported: TCP, UDP/,
    ],
    ["HTTPS", { protocol: "HTTPS" }, 501, /HTTPS protocol/],
    [
      "TERMINATED_HTTPS",
      { protocol: "TERMINATED_HTTPS", default_tls_container_ref: "x" },
      501,
      /TERMINATED_HTTPS protocol/,
    ],
    ["SCTP", { protocol: "SCTP" }, 501, /SCTP protocol/],
    ["PROMETHEUS", { protocol: "PROMETHEUS" }, 501, /PROMETHEUS protocol/],
    ["an unknown field", { bogus: 1 }, 400, /^Unknown attribute for argument listener_\.listener: bogus$/],
    [
      "an unknown slot choice",
      { slot_choice: "random" },
      400,
      /slot_choice. Value: 'random'. Value should be one of: multipath, bits/,
    ],
  ])("refuses %s", async (_what, fields, status, message) => {
    expect(await create(fields)).toMatchObject(fault(status, message));
    expect(api.world.store.read().size("listeners")).toBe(0);
  });

  it("takes empty TLS and HTTP fields for what they are: nothing", async () => {
    expect(
      await create({
        insert_headers: {},
        default_tls_container_ref: null,
        sni_container_refs: [],
        client_authentication: "NONE",
        tls_versions: [],
        alpn_protocols: null,
        l7policies: [],
      }),
    ).toMatchObject({ status: 201 });
  });
});

describe("options the switch's program does not honour", () => {
  beforeEach(() => {
    api.world.options = new Set();
  });
  it.each([
    ["connection_limit", 1000],
    ["timeout_client_data", 30000],
    ["timeout_member_data", 30000],
    ["timeout_member_connect", 1000],
    ["timeout_tcp_inspect", 1],
    ["allowed_cidrs", ["10.0.0.0/8"]],
  ])("%s is refused, not ignored, on create and on change", async (field, value) => {
    const message = `^Provider 'openflow' does not support a requested option: openflow provider does not support ${field}\\.$`;
    expect(await create({ [field]: value })).toMatchObject(fault(501, message));
    const listener = await api.make("listener", { loadbalancer_id: lb.id });
    expect(await api.call("PUT", `listeners/${listener.id}`, { listener: { [field]: value } })).toMatchObject(
      fault(501, message),
    );
    api.world.options = new Set(optionNames);
    expect(await create({ [field]: value })).toMatchObject({ status: 201 });
  });

  it("their usual values are accepted", async () => {
    expect(
      await create({
        connection_limit: -1,
        timeout_client_data: 50000,
        timeout_member_connect: 5000,
        timeout_member_data: 50000,
        timeout_tcp_inspect: 0,
        allowed_cidrs: [],
      }),
    ).toMatchObject({ status: 201 });
  });
});

it("refuses to keep sessions without state, and silences that no flow can wait for", async () => {
  const body = { protocol: "TCP", protocol_port: 81, loadbalancer_id: lb.id };
  const stateless = await api.call("POST", "listeners", { listener: { ...body, session_keeping: "stateless" } });
  expect(stateless).toMatchObject({ status: 400 });
  expect(stateless.body.faultstring).toContain("session_keeping");
  const silent = await api.call("POST", "listeners", { listener: { ...body, timeout_client_data: 65_535_001 } });
  expect(silent).toMatchObject({ status: 501 });
});

describe("changing and deleting a listener", () => {
  it("puts a default back for null", async () => {
    const listener = await api.make("listener", {
      loadbalancer_id: lb.id,
      name: "n",
      connection_limit: 5,
      timeout_client_data: 1000,
      allowed_cidrs: ["10.0.0.0/8"],
      slot_choice: "bits",
      session_keeping: "conntrack",
      empty_policy: "reject",
    });
    expect(listener).toMatchObject({ slot_choice: "bits", session_keeping: "conntrack", empty_policy: "reject" });
    const fields = [
      "name",
      "connection_limit",
      "timeout_client_data",
      "allowed_cidrs",
      "slot_choice",
      "session_keeping",
      "empty_policy",
    ];
    const answer = await api.call("PUT", `listeners/${listener.id}`, {
      listener: Object.fromEntries(fields.map((f) => [f, null])),
    });
    expect(answer.body.listener).toMatchObject({
      name: "",
      connection_limit: -1,
      timeout_client_data: 50000,
      allowed_cidrs: null,
      slot_choice: null,
      session_keeping: null,
      empty_policy: null,
    });
  });

  it.each(["protocol", "protocol_port", "loadbalancer_id", "bogus"])("refuses to change %s", async (field) => {
    const listener = await api.make("listener", { loadbalancer_id: lb.id });
    expect(await api.call("PUT", `listeners/${listener.id}`, { listener: { [field]: "UDP" } })).toMatchObject(
      fault(400, `^Unknown attribute for argument listener_.listener: ${field}$`),
    );
  });

  it("sets and unsets its default pool, which must fit", async () => {
    const listener = await api.make("listener", { loadbalancer_id: lb.id });
    const pool = await api.make("pool", { loadbalancer_id: lb.id });
    const udp = await api.make("pool", { loadbalancer_id: lb.id, protocol: "UDP" });
    const other = await oneOfEach(api);
    const put = (id: string | null) =>
      api.call("PUT", `listeners/${listener.id}`, { listener: { default_pool_id: id } });
    expect(await put(pool.id)).toMatchObject({ status: 200, body: { listener: { default_pool_id: pool.id } } });
    expect(await put(udp.id)).toMatchObject(
      fault(400, /The pool protocol 'UDP' is invalid while the listener protocol is 'TCP'\.$/),
    );
    expect(await put(other.pool.id)).toMatchObject(fault(404, `^Pool ${other.pool.id} not found`));
    expect(await put(null)).toMatchObject({ status: 200, body: { listener: { default_pool_id: null } } });
  });

  it("will not take a pool with members of another family", async () => {
    const listener = await api.make("listener", { loadbalancer_id: lb.id });
    const pool = await api.make("pool", { loadbalancer_id: lb.id });
    await api.member(pool.id, { address: "2001:db8::33" });
    expect(await api.call("PUT", `listeners/${listener.id}`, { listener: { default_pool_id: pool.id } })).toMatchObject(
      fault(400, /Member .* has address 2001:db8::33, the VIP is IPv4/),
    );
  });

  it("leaves its pool behind", async () => {
    const { lb: own, listener, pool } = await oneOfEach(api);
    expect(await api.call("DELETE", `listeners/${listener.id}`)).toMatchObject({ status: 204 });
    expect(await api.call("DELETE", `listeners/${listener.id}`)).toMatchObject(fault(404, /^Listener .* not found\.$/));
    expect((await api.get(`pools/${pool.id}`)).pool).toMatchObject({ listeners: [], loadbalancers: [{ id: own.id }] });
  });
});
