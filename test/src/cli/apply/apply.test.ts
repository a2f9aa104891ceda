import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { decide } from "../../../../src/cli/apply/decide.ts";
import { makeChanges } from "../../../../src/cli/apply/run.ts";
import { readBalancers } from "../../../../src/cli/apply/server.ts";
import { parseWanted } from "../../../../src/cli/apply/wanted.ts";
import { yamlOf } from "../../../../src/cli/apply/write-yaml.ts";
import { formatErrors } from "../../../../src/config/errors.ts";
import { loadTopology } from "../../../../src/config/topology.ts";
import { newApi, oneOfEach } from "../../../controller/octavia/api.ts";
import { apiOn, applyText, planOf, wantedIn } from "./server.ts";

const fixtureTopology = () => {
  const read = loadTopology(new URL("../../../../fixtures/topology.yaml", import.meta.url).pathname);
  if (!read.ok) throw new Error(formatErrors(read.errors));
  return read.topology;
};

const shop = `
load_balancers:
  - name: shop
    vips: [{ segment: front, ip: 192.0.2.30 }, { segment: back, ip: 10.20.0.130 }]
    listeners:
      - { name: http, port: 80, pool: web }
    pools:
      - name: web
        health_monitor: { type: http, interval: 2, timeout: 1 }
        members:
          - { name: a, ip: 10.20.0.10, port: 8080 }
          - { name: b, ip: 10.20.0.11, port: 8080 }
`;

const start = async (text = shop) => {
  const octavia = await newApi();
  const { api, writes } = apiOn(octavia.app);
  const lines = await applyText(api, text);
  writes.length = 0;
  return { octavia, api, writes, lines };
};

const idOf = async (api: Awaited<ReturnType<typeof newApi>>, kind: string): Promise<string> =>
  (await api.get(kind))[kind][0].id;

describe("applying a file", () => {
  test("creates what is referred to first", async () => {
    expect((await start()).lines).toEqual([
      "+ load balancer shop created",
      "+ pool shop/web created",
      "+ member web/a created",
      "+ member web/b created",
      "+ monitor web created",
      "+ listener shop/http created",
    ]);
  });

  test("again sends no write", async () => {
    const { api, writes } = await start();
    expect(await applyText(api, shop)).toEqual([]);
    expect(writes).toEqual([]);
  });

  test("sends only what differs", async () => {
    const { api, writes, octavia } = await start();
    const text = shop
      .replace("name: b, ip: 10.20.0.11, port: 8080", "name: b, ip: 10.20.0.11, port: 8080, weight: 2")
      .replace("a, ip", "c, ip: 10.20.0.12, port: 8080 }\n          - { name: a, ip");
    expect(await applyText(api, text)).toEqual(["+ member web/c created", "~ member web/b weight 1 → 2"]);
    expect(writes).toHaveLength(2);
    const pool = await idOf(octavia, "pools");
    const { members } = await octavia.get(`pools/${pool}/members`);
    expect(members.map((m: { name: string; weight: number }) => [m.name, m.weight]).sort()).toEqual([
      ["a", 1],
      ["b", 2],
      ["c", 1],
    ]);
  });

  test("leaves what is not in the file, unless it is asked to prune", async () => {
    const { api } = await start();
    const text = shop.replace(/ +- \{ name: b.*\n/, "").replace(/ +health_monitor.*\n/, "");
    expect(await applyText(api, text)).toEqual([]);
    expect(await applyText(api, text, true)).toEqual(["- member web/b deleted", "- monitor web deleted"]);
    expect(await planOf(api, text, true)).toEqual({ ok: true, changes: [] });
  });

  test("prunes only inside the load balancers of the file, children first", async () => {
    const { api, octavia } = await start();
    await oneOfEach(octavia);
    const bare = shop.slice(0, shop.indexOf("    listeners:"));
    expect(await applyText(api, bare, true)).toEqual(["- listener shop/http deleted", "- pool shop/web deleted"]);
    const { listeners } = await octavia.get("listeners");
    expect(listeners.map((l: { name: string }) => l.name)).toEqual(["web"]);
  });

  test("makes anew what cannot be changed, and lets two listeners swap their ports", async () => {
    const two = shop.replace("pool: web }", "pool: web }\n      - { name: alt, port: 81, pool: web }");
    const { api } = await start(two);
    const swapped = two.replace("port: 80,", "port: XX,").replace("port: 81,", "port: 80,").replace("XX", "81");
    expect(await applyText(api, swapped)).toEqual([
      "- listener shop/http deleted, to be made anew: port 80 → 81",
      "- listener shop/alt deleted, to be made anew: port 81 → 80",
      "+ listener shop/http created",
      "+ listener shop/alt created",
    ]);
    expect(await planOf(api, swapped)).toEqual({ ok: true, changes: [] });
  });

  test("a pool takes the protocol of its listeners", async () => {
    const { api, octavia } = await start(shop.replace(/ +health_monitor.*\n/, ""));
    const udp = shop.replace(/ +health_monitor.*\n/, "").replace("port: 80,", "protocol: udp, port: 53,");
    await applyText(api, udp);
    expect((await octavia.get("pools")).pools).toMatchObject([{ protocol: "UDP" }]);
    expect(await planOf(api, udp)).toEqual({ ok: true, changes: [] });
  });

  test("finds members without a name by their address", async () => {
    const { api, octavia } = await start();
    const pool = await idOf(octavia, "pools");
    await octavia.member(pool, { address: "10.20.0.20" });
    const text = shop.replace("- { name: a,", "- { name: n, ip: 10.20.0.20, port: 8080 }\n          - { name: a,");
    expect(await applyText(api, text)).toEqual(["~ member web/n name 10.20.0.20-8080 → n"]);
  });

  test("refuses names that the server has twice, with their ids", async () => {
    const { api, writes, octavia } = await start();
    const { id } = await octavia.make("loadbalancer", { name: "shop" });
    const decision = await planOf(api, shop);
    expect(decision).toMatchObject({
      ok: false,
      refusals: expect.arrayContaining([expect.stringContaining("load balancer shop: the server has 2")]),
    });
    expect(JSON.stringify(decision)).toContain(id);
    expect(writes).toEqual([]);
  });

  test("refuses other addresses, which the API cannot change", async () => {
    const { api } = await start();
    expect(await planOf(api, shop.replace("192.0.2.30", "192.0.2.31"))).toEqual({
      ok: false,
      refusals: [expect.stringContaining("192.0.2.30 in front and cannot be changed to")],
    });
  });

  test("a refusal names the object and has the server's words; what was done stays", async () => {
    const octavia = await newApi();
    const { api } = apiOn(octavia.app);
    await expect(applyText(api, shop.replace("10.20.0.11", "10.20.0.1"))).rejects.toThrow(
      /^member web\/b: .*Value should not be the address of a gateway/,
    );
    expect(await applyText(api, shop)).toEqual([
      "+ member web/b created",
      "+ monitor web created",
      "+ listener shop/http created",
    ]);
  });
});

describe("an object that is being changed", () => {
  const busy = { status: 409, body: { faultstring: "Load Balancer x is immutable and cannot be updated." } };
  const decision = decide(wantedIn(shop), [], false);
  const first = decision.ok ? decision.changes.slice(0, 1) : [];

  test("is tried again", async () => {
    const answers = [busy, busy, { status: 201, body: { loadbalancer: { id: "1" } } }];
    const slept: number[] = [];
    let made = 0;
    await makeChanges(
      async () => answers.shift()!,
      first,
      () => made++,
      async (ms) => slept.push(ms),
    );
    expect({ made, slept, left: answers.length }).toEqual({ made: 1, slept: [500, 1000], left: 0 });
  });

  test("is not tried for ever, and other conflicts not at all", async () => {
    let requests = 0;
    const answering = (answer: typeof busy) =>
      makeChanges(
        async () => {
          requests++;
          return answer;
        },
        first,
        () => {},
        async () => {},
      );
    await expect(answering(busy)).rejects.toThrow("load balancer shop: Load Balancer x is immutable");
    expect(requests).toBe(10);
    await expect(answering({ status: 409, body: { faultstring: "taken" } })).rejects.toThrow("shop: taken");
    expect(requests).toBe(11);
  });
});

describe("the file that get writes", () => {
  test("is taken back unchanged, whoever made the objects", async () => {
    const octavia = await newApi();
    const { api } = apiOn(octavia.app);
    const { pool, listener } = await oneOfEach(octavia);
    await octavia.member(pool.id, { weight: 7, backup: true });
    await octavia.make("healthmonitor", { pool_id: pool.id, type: "HTTP", timeout: 9, delay: 5 });
    await octavia.call("PUT", `listeners/${listener.id}`, {
      listener: { slot_choice: "bits", connection_limit: 10, timeout_client_data: 1500, admin_state_up: false },
    });
    const text = yamlOf(await readBalancers(api, () => true));
    expect(text).toContain("idle_timeout: 2");
    expect(await planOf(api, text, true)).toEqual({ ok: true, changes: [] });
  });

  test("is not written when a name does not go into it", async () => {
    const octavia = await newApi();
    await octavia.make("loadbalancer", { name: "two words" });
    const balancers = await readBalancers(apiOn(octavia.app).api, () => true);
    expect(() => yamlOf(balancers)).toThrow('load_balancers[0].name: "two words" is not a name');
  });
});

test("the example of the README is applied and taken back", async () => {
  const octavia = await newApi();
  octavia.world.topology = fixtureTopology();
  const { api, writes } = apiOn(octavia.app);
  const text = readFileSync(new URL("../../../../fixtures/shop.yaml", import.meta.url), "utf8");
  expect(await applyText(api, text)).toHaveLength(6);
  writes.length = 0;
  expect(await applyText(api, text, true)).toEqual([]);
  expect(await applyText(api, yamlOf(await readBalancers(api, () => true)), true)).toEqual([]);
  expect(writes).toEqual([]);
});

describe("errors in the file", () => {
  const errors = (text: string): string => {
    const read = parseWanted(text, "f.yaml");
    return read.ok ? "" : formatErrors(read.errors);
  };

  test.each([
    ["", "f.yaml:1:1: the file is empty (want the key load_balancers)"],
    [shop.replace("port: 80,", "port: 800000,"), "f.yaml:6:29: load_balancers[0].listeners[0].port:"],
    [shop.replace("pool: web }", "pool: wbe }"), 'there is no pool "wbe", did you mean "web"?'],
    [shop.replace("interval: 2", "interval: 2.5"), "health_monitor.interval: the API has whole seconds only"],
    [shop.replace("port: 8080 }", "port: 8080, drain: true }"), "members[0].drain: draining is no part of the API"],
    [shop.replace("name: shop", "name: shop\n    id: 4"), "load_balancers[0].id: the daemon numbers"],
    [shop.replace("interval: 2,", "codes: '200,300-302',"), "codes: the API has a list of codes or one range"],
    [
      shop.replace("pool: web }", "pool: web }\n      - { name: dns, protocol: udp, port: 53, pool: web }"),
      "a pool has one protocol: http is tcp, dns is udp",
    ],
  ])("case %#", (text, message) => {
    expect(errors(text)).toContain(message);
  });
});
