import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { patience } from "../../src/lab/patience.ts";
import { type Served, serve } from "../support/serve.ts";

/** One private segment, one load balancer on 10.20.0.100:80. */
const topology = (more = ""): string => `nodes: [{ name: lb1 }]
segments:
  - name: back
    subnet: 10.20.0.0/24
    gateway: { ip: 10.20.0.1, mac: "02:42:0a:14:00:01" }
    probe: 10.20.0.253
    ports: [be1]
load_balancers:
  - name: web
    vips: [{ segment: back, ip: 10.20.0.100 }]
    listeners: [{ name: http, port: 80, pool: web }]
    pools: [{ name: web, members: [{ name: be1, ip: 10.20.0.2, port: 8080 }] }]
${more}`;
const balancerAt = (ip: string): string => `  - name: other\n    vips: [{ segment: back, ip: ${ip} }]\n`;

// biome-ignore lint/suspicious/noExplicitAny: answers are JSON of a shape the test itself looks at
type Json = any;

describe("what the file has, and what was made through the API", () => {
  let daemon: Served;
  let lb: Json;
  let pool: Json;

  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${daemon.url}${path}`, {
      method,
      headers: { "content-type": typeof body === "string" ? "application/yaml" : "application/json", ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : text };
  };
  const lbaas = (method: string, path: string, body?: unknown) => call(method, `/v2.0/lbaas/${path}`, body);
  const status = async (): Promise<Json> => (await call("GET", "/v1/status")).body;

  beforeAll(async () => {
    daemon = await serve(topology());
    const vip = { name: "api", vip_subnet_id: "back", vip_address: "10.20.0.50" };
    lb = (await lbaas("POST", "loadbalancers", { loadbalancer: vip })).body.loadbalancer;
    pool = (
      await lbaas("POST", "pools", {
        pool: { loadbalancer_id: lb.id, protocol: "TCP", lb_algorithm: "ROUND_ROBIN" },
      })
    ).body.pool;
    const member = { member: { address: "10.20.0.9", protocol_port: 80 } };
    expect(await lbaas("POST", `pools/${pool.id}/members`, member)).toMatchObject({ status: 201 });
  }, 60_000);
  afterAll(async () => await daemon?.end());

  it.each([
    ["10.20.0.100", /in use by load balancer web/],
    ["10.20.0.2", /in use by member be1/],
    ["10.20.0.1", /in use by the segment's gateway/],
    ["10.20.0.253", /in use by the probe address/],
    ["10.20.0.50", /in use by load balancer/],
    ["10.20.0.9", /in use by member/],
  ])("no VIP %s by the API", async (ip, words) => {
    const answer = await lbaas("POST", "loadbalancers", {
      loadbalancer: { vip_subnet_id: "back", vip_address: ip },
    });
    expect(answer).toMatchObject({ status: 409, body: { faultstring: expect.stringMatching(words) } });
  });

  it("a slash at the end of a path is no other path", async () => {
    expect((await lbaas("GET", "loadbalancers/")).body.loadbalancers.map((row: Json) => row.id)).toEqual([lb.id]);
  });

  it("no member at a VIP of the file", async () => {
    const answer = await lbaas("POST", `pools/${pool.id}/members`, {
      member: { address: "10.20.0.100", protocol_port: 1 },
    });
    expect(answer).toMatchObject({ status: 400, body: { faultstring: expect.stringMatching(/VIP.*balancer web/) } });
  });

  it("a file with an address of the API's is refused, by PUT and by SIGHUP", async () => {
    const before = readFileSync(daemon.config, "utf8");
    for (const [ip, owner] of [
      ["10.20.0.50", `load balancer ${lb.id}`],
      ["10.20.0.9", "member"],
    ] as const) {
      const refused = await call("PUT", "/v1/topology", topology(balancerAt(ip)), { "if-match": "*" });
      expect(refused).toMatchObject({
        status: 400,
        body: {
          errors: [{ line: 14, message: expect.stringContaining(`${ip} is taken by ${owner}`) }],
        },
      });
    }
    const member = topology().replace("10.20.0.2,", "10.20.0.50,");
    expect(await call("POST", "/v1/plan", member)).toMatchObject({
      status: 400,
      body: { errors: [{ message: expect.stringContaining("10.20.0.50 is our own address") }] },
    });
    expect(readFileSync(daemon.config, "utf8")).toBe(before);
    writeFileSync(daemon.config, topology(balancerAt("10.20.0.50")));
    daemon.reload();
    const until = Date.now() + patience(5000);
    while ((await status()).reloadError === null && Date.now() < until) await sleep(20);
    expect((await status()).reloadError).toContain("10.20.0.50 is taken by load balancer");
  });

  it("at the start the file wins; what it took from the API is out of service, and says so", async () => {
    await daemon.restart();
    expect(daemon.log()).toContain("VIP 10.20.0.50 is in use by load balancer other");
    expect((await status()).reloadError).toBeNull();
    const slots = (await call("GET", "/v1/slots")).body;
    expect(slots.map((p: Json) => p.loadBalancer).sort()).toEqual(["api", "web"]);
    writeFileSync(daemon.config, topology());
    daemon.reload();
    expect((await lbaas("DELETE", `loadbalancers/${lb.id}?cascade=true`)).status).toBe(204);
  });
});
