import { beforeEach, describe, expect, it } from "vitest";
import { type Api, fault, type Json, newApi, oneOfEach } from "./api.ts";

let api: Api;
let lb: Json;
beforeEach(async () => {
  api = await newApi();
  lb = await api.make("loadbalancer");
});
const create = (fields: object) =>
  api.call("POST", "pools", {
    pool: { loadbalancer_id: lb.id, protocol: "TCP", lb_algorithm: "ROUND_ROBIN", ...fields },
  });

describe("creating a pool", () => {
  it("answers with all its columns, and no healthmonitor_id while it has no monitor", async () => {
    const pool = await api.make("pool", { loadbalancer_id: lb.id, name: "p" });
    expect(pool).toMatchObject({
      name: "p",
      provisioning_status: "ACTIVE",
      operating_status: "ONLINE",
      protocol: "TCP",
      lb_algorithm: "ROUND_ROBIN",
      session_persistence: null,
      loadbalancers: [{ id: lb.id }],
      listeners: [],
      members: [],
      tls_enabled: false,
      slots: null,
    });
    expect(pool).not.toHaveProperty("healthmonitor_id");
    const monitor = await api.make("healthmonitor", { pool_id: pool.id });
    expect((await api.get(`pools/${pool.id}`)).pool.healthmonitor_id).toBe(monitor.id);
  });

  it("by listener becomes its default pool, once", async () => {
    const listener = await api.make("listener", { loadbalancer_id: lb.id });
    const pool = await api.make("pool", { listener_id: listener.id });
    expect(pool.listeners).toEqual([{ id: listener.id }]);
    expect((await api.get(`listeners/${listener.id}`)).listener.default_pool_id).toBe(pool.id);
    expect(await create({ loadbalancer_id: undefined, listener_id: listener.id })).toMatchObject(
      fault(409, /^This listener already has a default pool$/),
    );
    expect(api.world.store.read().size("pools")).toBe(1);
  });

  it("with members and monitor inside", async () => {
    const pool = await api.make("pool", {
      loadbalancer_id: lb.id,
      members: [{ address: "10.20.0.5", protocol_port: 1 }],
      healthmonitor: { type: "PING", delay: 5, timeout: 3, max_retries: 2 },
    });
    expect(pool.members).toHaveLength(1);
    expect(pool).toHaveProperty("healthmonitor_id");
  });

  it.each(["ROUND_ROBIN", "SOURCE_IP", "SOURCE_IP_PORT"])("takes %s", async (lb_algorithm) => {
    expect((await api.make("pool", { loadbalancer_id: lb.id, lb_algorithm })).lb_algorithm).toBe(lb_algorithm);
  });

  it("keeps clients by their address", async () => {
    const pool = await api.make("pool", { loadbalancer_id: lb.id, session_persistence: { type: "SOURCE_IP" } });
    expect(pool.session_persistence).toEqual({
      type: "SOURCE_IP",
      cookie_name: null,
      persistence_timeout: null,
      persistence_granularity: null,
    });
    const udp = { type: "SOURCE_IP", persistence_timeout: 60, persistence_granularity: "255.255.255.0" };
    expect(
      (await api.make("pool", { loadbalancer_id: lb.id, protocol: "UDP", session_persistence: udp }))
        .session_persistence,
    ).toMatchObject(udp);
  });

  it.each([
    [
      "neither load balancer nor listener",
      { loadbalancer_id: undefined },
      400,
      /Must provide at least one of: loadbalancer_id, listener_id$/,
    ],
    [
      "an unknown load balancer",
      { loadbalancer_id: "dddddddd-dead-4bad-8bad-dddddddddddd" },
      404,
      /^Load Balancer .* not found/,
    ],
    ["an unknown listener", { listener_id: "dddddddd-dead-4bad-8bad-dddddddddddd" }, 404, /^Listener .* not found/],
    ["an unknown algorithm", { lb_algorithm: "RANDOM" }, 400, /lb_algorithm. Value: 'RANDOM'. Value should be one of/],
    ["no algorithm", { lb_algorithm: undefined }, 400, /lb_algorithm. Value: 'None'. Mandatory field missing/],
    ["an unknown protocol", { protocol: "ICMP" }, 400, /protocol. Value: 'ICMP'. Value should be one of/],
    ["no protocol", { protocol: undefined }, 400, /protocol. Value: 'None'. Mandatory field missing/],
    ["HTTP", { protocol: "HTTP" }, 501, /HTTP protocol. Supported: TCP, UDP/],
    ["PROXY", { protocol: "PROXYV2" }, 501, /PROXYV2 protocol/],
    ["SCTP", { protocol: "SCTP" }, 501, /SCTP protocol/],
    [
      "an unknown persistence",
      { session_persistence: { type: "BOGUS" } },
      400,
      /type. Value: 'BOGUS'. Value should be one of/,
    ],
    ["persistence without type", { session_persistence: {} }, 400, /type. Value: 'None'. Mandatory field missing/],
    [
      "persistence as text",
      { session_persistence: "SOURCE_IP" },
      400,
      /session_persistence. Value: 'SOURCE_IP'. Value should be an object/,
    ],
    [
      "unknown persistence fields",
      { session_persistence: { type: "SOURCE_IP", x: 1 } },
      400,
      /Unknown attribute .*session_persistence: x$/,
    ],
    [
      "cookies on UDP",
      { protocol: "UDP", session_persistence: { type: "HTTP_COOKIE" } },
      400,
      /HTTP_COOKIE is not supported for UDP\/SCTP/,
    ],
    [
      "cookies on TCP",
      { session_persistence: { type: "HTTP_COOKIE" } },
      501,
      /session persistence of type HTTP_COOKIE/,
    ],
    [
      "a cookie name",
      { session_persistence: { type: "SOURCE_IP", cookie_name: "x" } },
      400,
      /"cookie_name" can only be specified/,
    ],
    [
      "a persistence timeout on TCP",
      { session_persistence: { type: "SOURCE_IP", persistence_timeout: 60 } },
      400,
      /only for UDP and SCTP/,
    ],
    ["TLS to members", { tls_enabled: true }, 501, /tls_enabled/],
    ["a certificate", { tls_container_ref: "x" }, 501, /tls_container_ref/],
    ["an odd number of slots", { slots: 1000 }, 400, /slots. Value: '1000'. Value should be a power of two/],
    ["too few slots", { slots: 32 }, 400, /slots.*greater or equal to 64/],
    ["an unknown field", { bogus: 1 }, 400, /^Unknown attribute for argument pool_\.pool: bogus$/],
  ])("refuses %s", async (_what, fields, status, message) => {
    expect(await create(fields)).toMatchObject(fault(status, message));
    expect(api.world.store.read().size("pools")).toBe(0);
  });

  it("refuses what the switch's program does not honour", async () => {
    api.world.options = new Set();
    for (const lb_algorithm of ["SOURCE_IP", "LEAST_CONNECTIONS"]) {
      expect(await create({ lb_algorithm })).toMatchObject(
        fault(501, `does not support ${lb_algorithm} algorithm\\.$`),
      );
    }
    expect(await create({ session_persistence: { type: "SOURCE_IP" } })).toMatchObject(fault(501, /SOURCE_IP/));
    const pool = await api.make("pool", { loadbalancer_id: lb.id });
    expect(await api.call("PUT", `pools/${pool.id}`, { pool: { lb_algorithm: "LEAST_CONNECTIONS" } })).toMatchObject(
      fault(501, /LEAST_CONNECTIONS/),
    );
    api.world.options = new Set(["SOURCE_IP"]);
    expect(
      await create({ protocol: "UDP", session_persistence: { type: "SOURCE_IP", persistence_timeout: 1 } }),
    ).toMatchObject(fault(501, /persistence_timeout/));
  });
});

describe("changing and deleting a pool", () => {
  it("changes what is given and unsets with null", async () => {
    const pool = await api.make("pool", {
      loadbalancer_id: lb.id,
      description: "d",
      session_persistence: { type: "SOURCE_IP" },
      slots: 256,
    });
    const answer = await api.call("PUT", `pools/${pool.id}`, {
      pool: { lb_algorithm: "SOURCE_IP", session_persistence: null, description: null, slots: null },
    });
    expect(answer.body.pool).toMatchObject({
      lb_algorithm: "SOURCE_IP",
      session_persistence: null,
      description: "",
      slots: null,
    });
    expect(await api.call("PUT", `pools/${pool.id}`, { pool: { protocol: "UDP" } })).toMatchObject(
      fault(400, /^Unknown attribute for argument pool_\.pool: protocol$/),
    );
    expect(await api.call("PUT", `pools/${pool.id}`, { pool: { lb_algorithm: null } })).toMatchObject(
      fault(400, /lb_algorithm.*Mandatory/),
    );
  });

  it("takes its members and monitor along and frees the listener", async () => {
    const { listener, pool } = await oneOfEach(api);
    await api.member(pool.id);
    const monitor = await api.make("healthmonitor", { pool_id: pool.id });
    expect(await api.call("DELETE", `pools/${pool.id}`)).toMatchObject({ status: 204 });
    expect((await api.get(`listeners/${listener.id}`)).listener.default_pool_id).toBeNull();
    expect(await api.call("GET", `healthmonitors/${monitor.id}`)).toMatchObject(
      fault(404, /^Health Monitor .* not found/),
    );
    expect(api.world.store.read().size("members")).toBe(0);
    expect(await api.call("DELETE", `pools/${pool.id}`)).toMatchObject(fault(404, /^Pool .* not found\.$/));
  });
});
