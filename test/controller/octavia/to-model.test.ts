import { beforeEach, describe, expect, it } from "vitest";
import { setDrain } from "../../../controller/octavia/members.ts";
import { type ModelDefaults, toModel } from "../../../controller/octavia/to-model.ts";
import { parseIpv4 } from "../../../openflow/packet/address.ts";
import { type Api, type Json, newApi, oneOfEach } from "./api.ts";

const defaults: ModelDefaults = { slotChoice: "multipath", sessions: "conntrack", emptyPolicy: "drop", slots: 1024 };
/** Where the numbers of stored objects begin, behind those of the topology file. */
const FIRST = 0x100_0000;
const ip = (text: string): number => parseIpv4(text)!;

let api: Api;
beforeEach(async () => {
  api = await newApi();
});
const model = () => toModel(api.world.store.read(), api.world.topology, defaults);

describe("the model", () => {
  it("of a load balancer with everything", async () => {
    const lb = await api.make("loadbalancer", {
      name: "lb",
      vip_address: "192.0.2.10",
      additional_vips: [{ subnet_id: "back", ip_address: "10.20.0.100" }],
    });
    const listener = await api.make("listener", {
      loadbalancer_id: lb.id,
      name: "web",
      vips: ["10.20.0.100"],
      allowed_cidrs: ["10.0.0.0/8"],
      connection_limit: 9,
      timeout_client_data: 20_000,
      slot_choice: "bits",
      session_keeping: "conntrack",
      empty_policy: "reject",
    });
    const pool = await api.make("pool", {
      listener_id: listener.id,
      name: "servers",
      slots: 256,
      lb_algorithm: "SOURCE_IP",
    });
    const member = await api.member(pool.id, {
      name: "m",
      weight: 3,
      backup: true,
      monitor_address: "10.20.0.77",
      monitor_port: 81,
    });
    await api.make("healthmonitor", {
      pool_id: pool.id,
      type: "PING",
      delay: 5,
      timeout: 9,
      max_retries: 2,
      max_retries_down: 4,
    });
    expect(model()).toEqual({
      problems: [],
      loadBalancers: [
        {
          id: FIRST + 1,
          name: "lb",
          uuid: lb.id,
          adminUp: true,
          vips: [
            { ip: ip("192.0.2.10"), segment: 1 },
            { ip: ip("10.20.0.100"), segment: 2 },
          ],
          listeners: [
            {
              id: FIRST + 1,
              name: "web",
              uuid: listener.id,
              protocol: "tcp",
              port: 80,
              vips: [ip("10.20.0.100")],
              poolId: FIRST + 1,
              allowedSources: [{ address: ip("10.0.0.0"), length: 8 }],
              connectionLimit: 9,
              idleTimeoutMs: 20_000,
              slotChoice: "bits",
              sessions: "conntrack",
              adminUp: true,
              emptyPolicy: "reject",
            },
          ],
          pools: [
            {
              id: FIRST + 1,
              name: "servers",
              uuid: pool.id,
              algorithm: "consistent",
              slots: 256,
              affinity: "source-ip",
              members: [
                {
                  id: FIRST + 1,
                  name: "m",
                  uuid: member.id,
                  ip: ip("10.20.0.10"),
                  port: 8080,
                  weight: 3,
                  adminUp: true,
                  drain: false,
                  segment: 2,
                  backup: true,
                  monitor: { ip: ip("10.20.0.77"), port: 81 },
                },
              ],
              healthMonitor: { type: "icmp", intervalMs: 5000, timeoutMs: 5000, rise: 2, fall: 4 },
            },
          ],
        },
      ],
    });
  });

  it("has the defaults for what is not said", async () => {
    const { listener } = await oneOfEach(api);
    const [made] = model().loadBalancers[0]!.listeners;
    expect(made).toEqual({
      id: FIRST + 1,
      name: "web",
      uuid: listener.id,
      protocol: "tcp",
      port: 80,
      poolId: FIRST + 1,
      slotChoice: "multipath",
      sessions: "conntrack",
      adminUp: true,
      emptyPolicy: "drop",
    });
    expect(model().loadBalancers[0]!.pools[0]).toMatchObject({ slots: 1024 });
    expect(model().loadBalancers[0]!.pools[0]).not.toHaveProperty("affinity");
  });

  it("reads HTTP probes", async () => {
    const { pool } = await oneOfEach(api);
    await api.make("healthmonitor", {
      pool_id: pool.id,
      type: "HTTP",
      http_method: "HEAD",
      url_path: "/x",
      expected_codes: "200, 204",
      http_version: "1.1",
      domain_name: "example.com",
    });
    expect(model().loadBalancers[0]!.pools[0]!.healthMonitor!.http).toEqual({
      method: "HEAD",
      path: "/x",
      version: "1.1",
      host: "example.com",
      expectedCodes: [
        { first: 200, last: 200 },
        { first: 204, last: 204 },
      ],
    });
  });

  it("follows admin states, weight 0 and drains", async () => {
    const { lb, listener, pool } = await oneOfEach(api);
    const member = await api.member(pool.id, { weight: 0, admin_state_up: false });
    const put = (path: string, root: string, up: boolean) => api.call("PUT", path, { [root]: { admin_state_up: up } });
    await put(`loadbalancers/${lb.id}`, "loadbalancer", false);
    await put(`listeners/${listener.id}`, "listener", false);
    const [off] = model().loadBalancers;
    expect([off!.adminUp, off!.listeners[0]!.adminUp, off!.pools[0]!.members[0]!.adminUp]).toEqual([
      false,
      false,
      false,
    ]);
    expect(off!.pools[0]!.members[0]!.weight).toBe(0);
    await put(`pools/${pool.id}/members/${member.id}`, "member", true);
    expect(model().loadBalancers[0]!.pools[0]!.members[0]!.adminUp).toBe(true);
    await put(`pools/${pool.id}`, "pool", false);
    expect(model().loadBalancers[0]!.pools[0]!.members[0]!.adminUp).toBe(false);
    await api.world.store.transact((draft) =>
      setDrain(
        { draft, topology: api.world.topology, options: new Set(), project: "", stamp: () => "t" },
        member.id,
        true,
      ),
    );
    expect(model().loadBalancers[0]!.pools[0]!.members[0]!.drain).toBe(true);
  });

  it("has no probes from a monitor that is switched off", async () => {
    const { pool } = await oneOfEach(api);
    await api.make("healthmonitor", { pool_id: pool.id, admin_state_up: false });
    expect(model().loadBalancers[0]!.pools[0]).not.toHaveProperty("healthMonitor");
  });

  it("leaves out what the topology has no place for, and says so", async () => {
    const { lb } = await oneOfEach(api);
    const unused = await api.make("pool", { loadbalancer_id: lb.id });
    const member = await api.member(unused.id, { address: "2001:db8::1" });
    api.world.topology = { ...api.world.topology, segments: [] };
    const { loadBalancers, problems } = model();
    expect(loadBalancers[0]!.vips).toEqual([]);
    expect(loadBalancers[0]!.pools[1]!.members).toEqual([]);
    expect(problems.map((p) => p.id).sort()).toEqual([lb.id, member.id].sort());
  });

  it("gives a member behind a route no segment", async () => {
    const { pool } = await oneOfEach(api);
    await api.member(pool.id, { address: "172.16.0.9" });
    expect(model().loadBalancers[0]!.pools[0]!.members[0]).not.toHaveProperty("segment");
  });
});

describe("numbers", () => {
  const numbers = async (pool: Json): Promise<number[]> => {
    const found = model()
      .loadBalancers.flatMap((lb) => lb.pools)
      .find((p) => p.uuid === pool.id);
    return found!.members.map((m) => m.id - FIRST);
  };

  it("stay, and come again as late as possible", async () => {
    const { pool } = await oneOfEach(api);
    const [a] = [await api.member(pool.id, { protocol_port: 1 }), await api.member(pool.id, { protocol_port: 2 })];
    expect(await numbers(pool)).toEqual([1, 2]);
    await api.call("DELETE", `pools/${pool.id}/members/${a.id}`);
    await api.member(pool.id, { protocol_port: 3 });
    expect(await numbers(pool)).toEqual([2, 3]);
  });

  it("go round at the end, over those in use", async () => {
    const { lb } = await oneOfEach(api);
    await api.world.store.transact((draft) => draft.put("counters", { id: "pools", last: 65_534, wrapped: false }));
    for (let n = 0; n < 3; n++) await api.make("pool", { loadbalancer_id: lb.id });
    // The first pool has 1.
    expect(model().loadBalancers[0]!.pools.map((p) => p.id - FIRST)).toEqual([1, 65_535, 2, 3]);
  });
});
