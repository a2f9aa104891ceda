import { beforeEach, describe, expect, it } from "vitest";
import { subnets } from "../../support/octavia-app.ts";
import { type Api, fault, newApi, oneOfEach } from "./api.ts";

let api: Api;
beforeEach(async () => {
  api = await newApi();
});
const create = (fields: object) => api.call("POST", "loadbalancers", { loadbalancer: fields });

describe("creating a load balancer", () => {
  it("answers with all its columns, in force at once", async () => {
    const lb = await api.make("loadbalancer", {
      name: "lb1",
      description: "first",
      vip_address: "192.0.2.10",
      tags: ["blue", "red", "blue"],
    });
    expect(lb).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: "lb1",
      description: "first",
      provisioning_status: "ACTIVE",
      operating_status: "ONLINE",
      admin_state_up: true,
      project_id: "00000000000000000000000000000000",
      tenant_id: "00000000000000000000000000000000",
      created_at: expect.stringMatching(/^2026-01-02T03:04:05\.678\d{3}$/),
      updated_at: null,
      vip_address: "192.0.2.10",
      vip_port_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      vip_subnet_id: subnets.front,
      vip_network_id: subnets.front,
      additional_vips: [],
      listeners: [],
      pools: [],
      provider: "openflow",
      flavor_id: null,
      vip_qos_policy_id: null,
      availability_zone: null,
      tags: ["blue", "red"],
    });
    expect((await api.get(`loadbalancers/${lb.id}`)).loadbalancer).toEqual(lb);
  });

  it("takes subnet or network, by UUID in any spelling or by name", async () => {
    for (const fields of [
      { vip_subnet_id: subnets.back.replaceAll("-", "").toUpperCase() },
      { vip_subnet_id: "back" },
      { vip_network_id: subnets.back },
      { vip_network_id: "back" },
      { vip_network_id: "back", vip_subnet_id: "back" },
    ]) {
      const answer = await create(fields);
      expect(answer).toMatchObject({ status: 201, body: { loadbalancer: { vip_subnet_id: subnets.back } } });
    }
    expect(await create({ vip_network_id: "back", vip_subnet_id: "front" })).toMatchObject(
      fault(400, /^Validation failure: Supplied VIP subnet is not in the supplied VIP network/),
    );
  });

  it("gives out free addresses from above, none twice", async () => {
    // .255 is broadcast, .253 is where probes leave from.
    const first = await api.make("loadbalancer");
    await api.make("loadbalancer", { vip_address: "192.0.2.252" });
    const third = await api.make("loadbalancer");
    expect([first.vip_address, third.vip_address]).toEqual(["192.0.2.254", "192.0.2.251"]);
    await api.call("DELETE", `loadbalancers/${first.id}`);
    expect((await api.make("loadbalancer", { vip_address: "192.0.2.254" })).vip_address).toBe("192.0.2.254");
  });

  it.each([
    ["no subnet", {}, 400, /VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id\./],
    ["null", { vip_subnet_id: null }, 400, /VIP must contain one of/],
    [
      "an unknown subnet",
      { vip_subnet_id: "dddddddd-dead-4bad-8bad-dddddddddddd" },
      400,
      /^Subnet dddddddd-.* not found\.$/,
    ],
    ["an unknown network", { vip_network_id: "dddddddd-dead-4bad-8bad-dddddddddddd" }, 400, /^Network .* not found\.$/],
    ["an unknown name", { vip_subnet_id: "nope" }, 400, /vip_subnet_id. Value: 'nope'. Value should be UUID format/],
    ["an empty subnet", { vip_subnet_id: "" }, 400, /vip_subnet_id. Value: ''. Value should be UUID format/],
    ["a port", { vip_port_id: "dddddddd-dead-4bad-8bad-dddddddddddd" }, 400, /^Port .* not found\.$/],
    [
      "a number as address",
      { vip_subnet_id: "front", vip_address: 5 },
      400,
      /vip_address. Value: '5'. Value should be IPv4/,
    ],
    ["three octets", { vip_subnet_id: "front", vip_address: "1.2.3" }, 400, /Value should be IPv4 or IPv6 format/],
    [
      "leading zeros",
      { vip_subnet_id: "front", vip_address: "192.0.2.010" },
      400,
      /Value should be IPv4 or IPv6 format/,
    ],
    [
      "another subnet's address",
      { vip_subnet_id: "front", vip_address: "10.20.0.5" },
      400,
      /vip_address.*address of subnet/,
    ],
    [
      "the network address",
      { vip_subnet_id: "front", vip_address: "192.0.2.0" },
      400,
      /vip_address.*address of a host/,
    ],
    [
      "the broadcast address",
      { vip_subnet_id: "front", vip_address: "192.0.2.255" },
      400,
      /vip_address.*address of a host/,
    ],
    [
      "the gateway",
      { vip_subnet_id: "front", vip_address: "192.0.2.1" },
      409,
      /vip_address.*in use by the segment's gateway/,
    ],
    ["the probe address", { vip_subnet_id: "front", vip_address: "192.0.2.253" }, 409, /in use by the probe address/],
    ["a router", { vip_subnet_id: "back", vip_address: "10.20.0.254" }, 409, /in use by the gateway of a route/],
    [
      "IPv6",
      { vip_subnet_id: "front", vip_address: "2001:DB8::10" },
      501,
      /does not support a requested option: .*2001:db8::10/,
    ],
    ["another provider", { vip_subnet_id: "front", provider: "amphora" }, 400, /^Provider 'amphora' is not enabled\.$/],
    [
      "a flavor",
      { vip_subnet_id: "front", flavor_id: "dddddddd-dead-4bad-8bad-dddddddddddd" },
      400,
      /Invalid flavor_id/,
    ],
    ["a zone", { vip_subnet_id: "front", availability_zone: "az" }, 400, /Invalid availability zone/],
    [
      "QoS",
      { vip_subnet_id: "front", vip_qos_policy_id: "dddddddd-dead-4bad-8bad-dddddddddddd" },
      501,
      /vip_qos_policy_id/,
    ],
    [
      "an id",
      { vip_subnet_id: "front", id: "x" },
      400,
      /^Unknown attribute for argument load_balancer\.loadbalancer: id$/,
    ],
    ["two unknown fields", { vip_subnet_id: "front", b: 1, c: 2 }, 400, /^Unknown attributes for argument .*: b, c$/],
    ["__proto__", JSON.parse('{"vip_subnet_id":"front","__proto__":{"x":1}}'), 400, /Unknown attribute .*: __proto__$/],
    [
      "a number as name",
      { vip_subnet_id: "front", name: 5 },
      400,
      /attribute name. Value: '5'. Value should be string/,
    ],
    [
      "an ambiguous truth",
      { vip_subnet_id: "front", admin_state_up: "maybe" },
      400,
      /admin_state_up.*unambiguous boolean: maybe/,
    ],
    [
      "tags that are no list",
      { vip_subnet_id: "front", tags: "a" },
      400,
      /attribute tags. Value: 'a'. Value not a valid list/,
    ],
    [
      "a tag that is a number",
      { vip_subnet_id: "front", tags: [1] },
      400,
      /attribute tags. Value: '\[1\]'. Value should be string/,
    ],
    [
      "additional VIPs without subnet",
      { vip_subnet_id: "front", additional_vips: [{}] },
      400,
      /subnet_id.*Mandatory field missing/,
    ],
    [
      "one VIP twice",
      {
        vip_subnet_id: "front",
        vip_address: "192.0.2.9",
        additional_vips: [{ subnet_id: "front", ip_address: "192.0.2.9" }],
      },
      409,
      /ip_address.*in use by this load balancer/,
    ],
  ])("refuses %s", async (_what, fields, status, message) => {
    expect(await create(fields)).toMatchObject(fault(status, message));
    expect((await api.get("loadbalancers")).loadbalancers).toEqual([]);
  });

  it.each([
    ["true", true],
    ["False", false],
    [1, true],
    [0, false],
    [null, false],
  ])("takes %o for the admin state %s", async (given, meant) => {
    expect((await api.make("loadbalancer", { admin_state_up: given })).admin_state_up).toBe(meant);
  });

  it("takes names of 255 characters of any script, and null for none", async () => {
    const name = "балансировщик🙂".repeat(18) + "x".repeat(3);
    expect([...name]).toHaveLength(255);
    expect((await api.make("loadbalancer", { name })).name).toBe(name);
    expect(await create({ vip_subnet_id: "front", name: `${name}x` })).toMatchObject(
      fault(400, /attribute name\. Value/),
    );
    const nameless = await api.make("loadbalancer", { name: null, description: null });
    expect([nameless.name, nameless.description]).toEqual(["", ""]);
  });

  it("serves several VIPs, in several segments", async () => {
    const lb = await api.make("loadbalancer", {
      vip_address: "192.0.2.9",
      additional_vips: [{ subnet_id: "back", ip_address: "10.20.0.100" }, { subnet_id: subnets.front }],
    });
    expect(lb.additional_vips).toEqual([
      { subnet_id: subnets.back, ip_address: "10.20.0.100" },
      { subnet_id: subnets.front, ip_address: "192.0.2.254" },
    ]);
    expect(await create({ vip_subnet_id: "back", vip_address: "10.20.0.100" })).toMatchObject(
      fault(409, `IP address 10.20.0.100 \\(vip_address\\) is already in use by load balancer ${lb.id}`),
    );
  });

  it("refuses the address of a member as VIP, and a VIP as member", async () => {
    const { lb, pool } = await oneOfEach(api);
    await api.member(pool.id, { address: "192.0.2.77" });
    expect(await create({ vip_subnet_id: "front", vip_address: "192.0.2.77" })).toMatchObject(fault(409, /by member/));
    const answer = await api.call("POST", `pools/${pool.id}/members`, {
      member: { address: lb.vip_address, protocol_port: 80 },
    });
    expect(answer).toMatchObject(fault(400, /address.*should not be a VIP/));
  });
});

describe("changing a load balancer", () => {
  it("changes what is given, and only that", async () => {
    const lb = await api.make("loadbalancer", { name: "a", description: "b", tags: ["t"] });
    api.world.now = new Date("2026-01-02T04:00:00Z");
    const answer = await api.call("PUT", `loadbalancers/${lb.id}`, {
      loadbalancer: { name: "", admin_state_up: false },
    });
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body.loadbalancer).toEqual({
      ...lb,
      name: "",
      admin_state_up: false,
      operating_status: "OFFLINE",
      updated_at: "2026-01-02T04:00:00.000000",
    });
    const cleared = await api.call("PUT", `loadbalancers/${lb.id}`, { loadbalancer: { description: null, tags: [] } });
    expect(cleared.body.loadbalancer).toMatchObject({ description: "", tags: [] });
  });

  it("does nothing when nothing is different", async () => {
    const lb = await api.make("loadbalancer", { name: "a" });
    const { version } = api.world.store.read();
    expect(await api.call("PUT", `loadbalancers/${lb.id}`, { loadbalancer: { name: "a" } })).toMatchObject({
      status: 200,
      body: { loadbalancer: { updated_at: null } },
    });
    expect(await api.call("PUT", `loadbalancers/${lb.id}`, { loadbalancer: {} })).toMatchObject({ status: 200 });
    expect(api.world.store.read().version).toBe(version);
  });

  it.each(["vip_address", "vip_subnet_id", "provider", "flavor_id", "additional_vips", "id", "bogus"])(
    "refuses to change %s",
    async (field) => {
      const lb = await api.make("loadbalancer");
      expect(await api.call("PUT", `loadbalancers/${lb.id}`, { loadbalancer: { [field]: "x" } })).toMatchObject(
        fault(400, `^Unknown attribute for argument load_balancer.loadbalancer: ${field}$`),
      );
    },
  );
});

describe("deleting a load balancer", () => {
  it("refuses one with children and leaves it usable", async () => {
    const { lb } = await oneOfEach(api);
    expect(await api.call("DELETE", `loadbalancers/${lb.id}`)).toMatchObject(
      fault(400, `^Validation failure: Cannot delete Load Balancer ${lb.id} - it has children$`),
    );
    expect(await api.call("PUT", `loadbalancers/${lb.id}`, { loadbalancer: { name: "still here" } })).toMatchObject({
      status: 200,
      body: { loadbalancer: { provisioning_status: "ACTIVE" } },
    });
  });

  it("removes everything below on a cascade, and nothing beside", async () => {
    const other = await oneOfEach(api);
    const { lb, pool } = await oneOfEach(api);
    for (let n = 10; n < 20; n++) {
      await api.make("listener", { loadbalancer_id: lb.id, protocol_port: 8000 + n });
      await api.member(pool.id, { address: `10.20.0.${n}` });
    }
    await api.make("healthmonitor", { pool_id: pool.id });
    expect(await api.call("DELETE", `loadbalancers/${lb.id}?cascade=true`)).toMatchObject({
      status: 204,
      body: undefined,
    });
    const state = api.world.store.read();
    expect(
      ["loadBalancers", "listeners", "pools", "members", "healthMonitors"].map((t) => state.size(t as "pools")),
    ).toEqual([1, 1, 1, 0, 0]);
    expect((await api.get(`loadbalancers/${other.lb.id}`)).loadbalancer.listeners).toHaveLength(1);
    expect(await api.call("DELETE", `loadbalancers/${lb.id}?cascade=true`)).toMatchObject(fault(404, /not found/));
    expect(await api.call("GET", `loadbalancers/${lb.id}`)).toMatchObject(fault(404, /^Load Balancer .* not found\.$/));
    expect(await create({ vip_subnet_id: "front", vip_address: lb.vip_address })).toMatchObject({ status: 201 });
  });

  it("is harmless while members change", async () => {
    const { lb, pool } = await oneOfEach(api);
    const member = await api.member(pool.id);
    const change = (weight: number) => api.call("PUT", `pools/${pool.id}/members/${member.id}`, { member: { weight } });
    const answers = await Promise.all([
      ...[1, 2, 3, 4].map(change),
      api.call("DELETE", `loadbalancers/${lb.id}?cascade=true`),
      ...[5, 6, 7, 8].map(change),
      api.call("POST", `pools/${pool.id}/members`, { member: { address: "10.20.0.99", protocol_port: 1 } }),
    ]);
    // Whichever comes first: a change is made, or there is nothing left to change.
    const statuses = answers.map((a) => a.status);
    expect(statuses[4]).toBe(204);
    expect(statuses.filter((s) => ![200, 201, 204, 404].includes(s))).toEqual([]);
    expect(await change(9)).toMatchObject({ status: 404 });
    expect(api.world.store.read().size("members")).toBe(0);
  });
});

describe("the whole tree in one request", () => {
  const tree = (members: object[]) => ({
    name: "full",
    vip_subnet_id: subnets.front,
    pools: [{ name: "shared", protocol: "TCP", lb_algorithm: "SOURCE_IP_PORT" }],
    listeners: [
      {
        name: "https",
        protocol: "TCP",
        protocol_port: 443,
        default_pool: {
          name: "own",
          protocol: "TCP",
          lb_algorithm: "ROUND_ROBIN",
          healthmonitor: { type: "TCP", delay: 5, timeout: 3, max_retries: 2 },
          members,
        },
      },
      { name: "web", protocol: "TCP", protocol_port: 80, default_pool: { name: "shared" } },
      { name: "alias", protocol: "TCP", protocol_port: 81, default_pool: { name: "shared" } },
    ],
  });

  it("is created and shown in full", async () => {
    const lb = await api.make("loadbalancer", tree([{ address: "10.20.0.5", protocol_port: 1 }]));
    expect(lb.listeners.map((l: { name: string }) => l.name)).toEqual(["https", "web", "alias"]);
    const [shared, own] = lb.pools;
    expect(own).toMatchObject({
      name: "own",
      healthmonitor: { type: "TCP", delay: 5 },
      members: [{ address: "10.20.0.5", protocol_port: 1 }],
    });
    expect(lb.listeners.map((l: { default_pool_id: string }) => l.default_pool_id)).toEqual([
      own.id,
      shared.id,
      shared.id,
    ]);
    expect((await api.get(`loadbalancers/${lb.id}`)).loadbalancer.pools).toEqual([{ id: shared.id }, { id: own.id }]);
    const { statuses } = await api.get(`loadbalancers/${lb.id}/status`);
    expect(statuses.loadbalancer.listeners[0].pools[0]).toMatchObject({
      id: own.id,
      health_monitor: { type: "TCP", operating_status: "ONLINE" },
      members: [{ address: "10.20.0.5", protocol_port: 1, operating_status: "ONLINE" }],
    });
    expect(await api.get(`loadbalancers/${lb.id}/statuses`)).toEqual({ statuses });
  });

  it("is refused as a whole when one member in it is wrong", async () => {
    const answer = await create(tree([{ address: "10.20.0.5", protocol_port: 1 }, { address: "10.20.0.300" }]));
    expect(answer).toMatchObject(fault(400, /address. Value: '10.20.0.300'/));
    const state = api.world.store.read();
    expect(["loadBalancers", "listeners", "pools", "members"].map((t) => state.size(t as "pools"))).toEqual([
      0, 0, 0, 0,
    ]);
  });

  it.each([
    [
      "a pool without a name",
      { default_pool: { protocol: "TCP", lb_algorithm: "ROUND_ROBIN" } },
      /Pools must be named/,
    ],
    ["an unknown pool", { default_pool: { name: "nobody" } }, /Pool 'nobody' was referenced/],
    ["a pool that is no object", { default_pool: "x" }, /default_pool. Value: 'x'. Value should be an object/],
    [
      "a pool of another protocol",
      { default_pool: { name: "u", protocol: "UDP", lb_algorithm: "ROUND_ROBIN" } },
      /pool protocol 'UDP' is invalid/,
    ],
  ])("refuses %s", async (_what, listener, message) => {
    const listeners = [{ protocol: "TCP", protocol_port: 80, ...listener }];
    expect(await create({ vip_subnet_id: "front", listeners })).toMatchObject(fault(400, message));
    expect(api.world.store.read().size("loadBalancers")).toBe(0);
  });
});
