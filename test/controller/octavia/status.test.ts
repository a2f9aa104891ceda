import { beforeEach, describe, expect, it } from "vitest";
import { setDrain } from "../../../controller/octavia/members.ts";
import { type Api, type Json, newApi, oneOfEach } from "./api.ts";

let api: Api;
let lb: Json;
let listener: Json;
let pool: Json;
let first: Json;
let second: Json;
beforeEach(async () => {
  api = await newApi();
  ({ lb, listener, pool } = await oneOfEach(api));
  first = await api.member(pool.id, { address: "10.20.0.11" });
  second = await api.member(pool.id, { address: "10.20.0.12" });
});

/** Operating statuses of load balancer, listener, pool and the two members. */
const statuses = async (): Promise<string[]> => {
  const tree = (await api.get(`loadbalancers/${lb.id}/status`)).statuses.loadbalancer;
  const [l] = tree.listeners;
  const [p] = l.pools;
  const found = [tree, l, p, ...p.members].map((o: Json) => o.operating_status);
  // The tree and the objects themselves must agree.
  expect((await api.get(`loadbalancers/${lb.id}`)).loadbalancer.operating_status).toBe(found[0]);
  expect((await api.get(`listeners/${listener.id}`)).listener.operating_status).toBe(found[1]);
  expect((await api.get(`pools/${pool.id}`)).pool.operating_status).toBe(found[2]);
  expect((await api.get(`pools/${pool.id}/members`)).members.map((m: Json) => m.operating_status)).toEqual(
    found.slice(3),
  );
  return found;
};

const set = (path: string, root: string, fields: object) => api.call("PUT", path, { [root]: fields });

describe("without a monitor", () => {
  it("members are believed", async () => {
    api.world.health.set(first.id, "down");
    expect(await statuses()).toEqual(["ONLINE", "ONLINE", "ONLINE", "NO_MONITOR", "NO_MONITOR"]);
  });
});

describe("with a monitor", () => {
  beforeEach(() => api.make("healthmonitor", { pool_id: pool.id }));

  it.each([
    ["up", "up", ["ONLINE", "ONLINE", "ONLINE", "ONLINE", "ONLINE"]],
    ["down", "up", ["DEGRADED", "ONLINE", "DEGRADED", "ERROR", "ONLINE"]],
    ["down", "down", ["ERROR", "ONLINE", "ERROR", "ERROR", "ERROR"]],
    ["unknown", "up", ["ONLINE", "ONLINE", "ONLINE", "OFFLINE", "ONLINE"]],
    ["unknown", "unknown", ["DEGRADED", "ONLINE", "OFFLINE", "OFFLINE", "OFFLINE"]],
  ] as const)("one %s, one %s", async (a, b, expected) => {
    api.world.health.set(first.id, a).set(second.id, b);
    expect(await statuses()).toEqual(expected);
  });

  it("a member that is told to drain, or has no weight, drains", async () => {
    await api.world.store.transact((draft) => {
      setDrain(
        { draft, topology: api.world.topology, options: new Set(), project: "", stamp: () => "t" },
        first.id,
        true,
      );
    });
    await set(`pools/${pool.id}/members/${second.id}`, "member", { weight: 0 });
    expect((await statuses()).slice(2)).toEqual(["OFFLINE", "DRAINING", "DRAINING"]);
  });

  it("that is switched off leaves members unmonitored", async () => {
    const { healthmonitors } = await api.get("healthmonitors");
    await set(`healthmonitors/${healthmonitors[0].id}`, "healthmonitor", { admin_state_up: false });
    expect((await statuses()).slice(3)).toEqual(["NO_MONITOR", "NO_MONITOR"]);
    expect((await api.get("healthmonitors")).healthmonitors[0].operating_status).toBe("OFFLINE");
  });
});

describe("what is switched off is OFFLINE, with all below, and comes back", () => {
  const cases = {
    loadbalancer: [() => `loadbalancers/${lb.id}`, ["OFFLINE", "OFFLINE", "OFFLINE", "OFFLINE", "OFFLINE"]],
    listener: [() => `listeners/${listener.id}`, ["ONLINE", "OFFLINE", "ONLINE", "NO_MONITOR", "NO_MONITOR"]],
    pool: [() => `pools/${pool.id}`, ["ONLINE", "ONLINE", "OFFLINE", "OFFLINE", "OFFLINE"]],
    member: [() => `pools/${pool.id}/members/${first.id}`, ["ONLINE", "ONLINE", "ONLINE", "OFFLINE", "NO_MONITOR"]],
  } as const;
  for (const [root, [path, expected]] of Object.entries(cases)) {
    it(root, async () => {
      for (let twice = 0; twice < 2; twice++) {
        await set(path(), root, { admin_state_up: false });
        expect(await statuses()).toEqual(expected);
      }
      for (let twice = 0; twice < 2; twice++) {
        await set(path(), root, { admin_state_up: true });
        expect(await statuses()).toEqual(["ONLINE", "ONLINE", "ONLINE", "NO_MONITOR", "NO_MONITOR"]);
      }
    });
  }
});

it("without a switch nothing is served", async () => {
  api.world.connected = false;
  expect((await statuses()).slice(0, 3)).toEqual(["OFFLINE", "OFFLINE", "OFFLINE"]);
});

it("a load balancer whose segment is gone is faulty", async () => {
  api.world.topology = { ...api.world.topology, segments: api.world.topology.segments.slice(1) };
  expect((await statuses())[0]).toBe("ERROR");
});
