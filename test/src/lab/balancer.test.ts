import { readFileSync } from "node:fs";
import type { FastifyInstance } from "fastify";
import { afterEach, beforeEach, expect, test } from "vitest";
import { toModel } from "../../../controller/octavia/to-model.ts";
import type { LoadBalancer } from "../../../pipeline/model.ts";
import { loadTopology } from "../../../src/config/topology.ts";
import { balancerRequests, createBalancer, curlLines, curlPreamble } from "../../../src/lab/balancer.ts";
import { attempt } from "../../../src/lab/shell.ts";
import { newWorld, octaviaApp, type World } from "../../support/octavia-app.ts";

const loaded = loadTopology("fixtures/topology.yaml");
if (!loaded.ok) throw new Error("the fixture has errors");
const { loadBalancers: wanted, ...rest } = loaded.topology;
const topology = { ...rest, loadBalancers: [] };

let world: World;
let app: FastifyInstance;
let web: string;

beforeEach(async () => {
  world = newWorld({ topology });
  app = await octaviaApp(world);
  web = `${await app.listen({ host: "127.0.0.1", port: 0 })}/`;
});
afterEach(async () => await app.close());

/** Without numbers and UUIDs, which differ from the file's; a listener and its pool are tied by the pool's name. */
const described = (balancers: readonly LoadBalancer[]) =>
  balancers.map(({ name, adminUp, vips, listeners, pools }) => ({
    ...{ name, adminUp, vips },
    listeners: listeners.map(({ id: _id, uuid: _uuid, poolId, ...listener }) => ({
      ...listener,
      pool: pools.find((pool) => pool.id === poolId)?.name,
    })),
    pools: pools.map(({ id: _id, uuid: _uuid, members, ...pool }) => ({
      ...pool,
      members: members.map(({ id: _own, uuid: _its, ...member }) => member),
    })),
  }));

const made = () => {
  const defaults = { slotChoice: "multipath", sessions: "conntrack", emptyPolicy: "drop", slots: 1024 } as const;
  const { loadBalancers, problems } = toModel(world.store.read(), topology, defaults);
  expect(problems).toEqual([]);
  return described(loadBalancers);
};

test("the requests make what the fixture's file describes", async () => {
  await createBalancer(web);
  expect(made()).toEqual(described(wanted));
});

test("the lines that are shown, given to a shell, make the same", async () => {
  const id = `${process.execPath} -p 'Object.values(JSON.parse(fs.readFileSync(0)))[0].id'`;
  const script = [
    ...curlPreamble(web),
    ...balancerRequests.flatMap((request) => {
      const command = curlLines(request).join("\n");
      return request.keeps === undefined ? [command] : [`${request.keeps}=$(${command} | ${id})`];
    }),
  ].join("\n");
  const { code, stderr } = await attempt(["bash", "-euc", script]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(made()).toEqual(described(wanted));
});

test("what is shown is what was sent, with the ids of the answers", async () => {
  const shown: string[] = [];
  await createBalancer(web, (lines) => shown.push(...lines));
  const state = world.store.read();
  const [lb] = [...state.all("loadBalancers")];
  const [pool] = [...state.all("pools")];
  expect(shown).toEqual(
    balancerRequests.flatMap((request) => [
      ...curlLines(request),
      ...(request.keeps === undefined ? [] : [`${request.keeps}=${(request.keeps === "LB" ? lb : pool)?.id}`]),
    ]),
  );
});

test("a refusal is told", async () => {
  await createBalancer(web);
  await expect(createBalancer(web)).rejects.toThrow(/^POST \/loadbalancers: 409 .*192\.168\.5\.21/);
});

test("the README shows the same lines", () => {
  const readme = readFileSync("README.md", "utf8");
  for (const request of balancerRequests) expect(readme).toContain(`\n${curlLines(request).join("\n")}\n`);
  for (const line of curlPreamble("http://127.0.0.1:9876/")) expect(readme).toContain(`\n${line}\n`);
});
