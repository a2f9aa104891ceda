import { beforeEach, describe, expect, it } from "vitest";
import { emptySnapshot } from "../../../controller/store/snapshot.ts";
import { StoreUnavailable, storeOn } from "../../../controller/store/store.ts";
import { subnets } from "../../support/octavia-app.ts";
import { type Api, base, fault, type Json, newApi, oneOfEach } from "./api.ts";

let api: Api;
beforeEach(async () => {
  api = await newApi();
});
const post = (payload: string | Buffer, headers: Record<string, string> = { "content-type": "application/json" }) =>
  api.app.inject({ method: "POST", url: `${base}/loadbalancers`, headers, payload });

describe("discovery", () => {
  it("lists the versions, at the root and below the other mount", async () => {
    const root = await api.call("GET", "/");
    expect(root.body.versions).toHaveLength(27);
    expect(root.body.versions.at(-1)).toMatchObject({
      id: "v2.26",
      status: "CURRENT",
      links: [{ rel: "self", href: "http://localhost:80/v2" }],
    });
    const below = await api.app.inject({ url: "/load-balancer" });
    expect(below.json().versions[0].links[0].href).toBe("http://localhost:80/load-balancer/v2");
    for (const path of ["/v2", "/v2/", "/v2.0", "/v2/lbaas", "/load-balancer/v2.0"]) {
      expect((await api.app.inject({ url: path })).body).toBe('"v2"');
    }
  });

  it("leaves browsers to the web page, when there is one", async () => {
    const paged = await newApi({}, { webPage: (_request, reply) => reply.type("text/html").send("<p>page</p>") });
    const accept = "text/html,application/xhtml+xml,*/*;q=0.8";
    expect((await paged.app.inject({ url: "/", headers: { accept } })).body).toBe("<p>page</p>");
    expect((await paged.app.inject({ url: "/", headers: { accept: "application/json" } })).json()).toHaveProperty(
      "versions",
    );
    expect((await api.app.inject({ url: "/", headers: { accept } })).json()).toHaveProperty("versions");
  });

  it("answers what the openstack client asks Neutron and Keystone", async () => {
    const { body } = await api.call("GET", `/v2.0/subnets?id=${subnets.front}`);
    expect(body.subnets).toEqual([
      expect.objectContaining({ id: subnets.front, name: "front", cidr: "192.0.2.0/24", gateway_ip: "192.0.2.1" }),
    ]);
    expect((await api.call("GET", "/v2.0/subnets.json?name=back")).body.subnets[0].id).toBe(subnets.back);
    expect((await api.call("GET", "/v2.0/networks?name=back")).body.networks[0]).toMatchObject({
      subnets: [subnets.back],
    });
    expect((await api.call("GET", "/v2.0/networks?id=nobody")).body).toEqual({ networks: [] });
    expect((await api.call("GET", "/v2.0/ports?name=x")).body).toEqual({ ports: [] });
    expect((await api.call("GET", "/v2.0/qos/policies?name=x")).body).toEqual({ policies: [] });
    const project = await api.app.inject({ url: "/projects/demo" });
    expect(project.json()).toEqual({ project: { id: "demo", name: "demo", enabled: true, domain_id: "default" } });
    expect((await api.app.inject({ url: "/healthcheck" })).json()).toEqual({ detailed: false, reasons: [] });
  });

  it("names each answer and knows the project of the caller", async () => {
    const answer = await api.app.inject({
      method: "POST",
      url: "/load-balancer/v2/lbaas/loadbalancers",
      headers: { "x-project-id": "demo" },
      payload: { loadbalancer: { vip_subnet_id: "front" } },
    });
    expect(answer.headers["x-openstack-request-id"]).toMatch(/^req-[0-9a-f-]{36}$/);
    expect(answer.json().loadbalancer).toMatchObject({ project_id: "demo", tenant_id: "demo" });
  });
});

describe("bodies", () => {
  it.each([
    ["nothing", "", 400, /^Missing argument: "load_balancer"$/],
    ["broken JSON", "{", 400, /^Request is not in valid JSON format$/],
    ["an array", "[]", 400, /load_balancer. Value: '\[\]'. Value should be an object/],
    ["null", "null", 400, /load_balancer. Value: 'None'. Value should be an object/],
    ["a string", '"x"', 400, /load_balancer. Value: 'x'. Value should be an object/],
    ["an empty object", "{}", 400, /^Missing argument: "loadbalancer"$/],
    ["a wrong root", '{"lb":{}}', 400, /^Unknown attribute for argument load_balancer: lb$/],
    ["two roots", '{"loadbalancer":{},"x":1}', 400, /^Unknown attribute for argument load_balancer: x$/],
    ["a root that is an array", '{"loadbalancer":[]}', 400, /loadbalancer. Value: '\[\]'. Value should be an object/],
    ["a root that is null", '{"loadbalancer":null}', 400, /loadbalancer. Value: 'None'. Value should be an object/],
    ["depth", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, 400, /^Request is nested more than 32 levels deep$/],
    ["deep objects", `{"loadbalancer":${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}}`, 400, /nested/],
    ["a long value", `{"loadbalancer":{"name":"${"x".repeat(100_000)}"}}`, 400, /^.{0,700}$/],
    [
      "many unknown fields",
      JSON.stringify({ loadbalancer: Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`f${n}`, n])) }),
      400,
      /^Unknown attributes for .{0,600}$/,
    ],
    ["invalid UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), 400, /valid JSON/],
  ])("%s: refused", async (_what, payload, status, message) => {
    const answer = await post(payload);
    expect({ status: answer.statusCode, body: answer.json() }).toMatchObject(fault(status, message));
    expect(answer.headers["content-type"]).toMatch(/^application\/json/);
  });

  it("of other media types are refused, a missing type means JSON", async () => {
    const ok = '{"loadbalancer":{"vip_subnet_id":"front"}}';
    const status = async (type: string | undefined): Promise<[number, string]> => {
      const answer = await post(ok, type === undefined ? {} : { "content-type": type });
      return [answer.statusCode, answer.json().faultstring];
    };
    expect(await status("text/plain")).toEqual([415, "Unknown mimetype: text/plain"]);
    expect(await status("application/xml")).toEqual([415, "Unknown mimetype: application/xml"]);
    expect((await status("no media type"))[0]).toBe(415);
    expect((await status("application/x-www-form-urlencoded"))[0]).toBe(400);
    expect((await status("application/json; charset=utf-8"))[0]).toBe(201);
    expect((await status(undefined))[0]).toBe(201);
  });

  it("that are huge are refused without being read", async () => {
    const answer = await post(Buffer.alloc(20 << 20, 0x20));
    expect(answer.statusCode).toBe(413);
    expect(answer.json()).toMatchObject({ faultcode: "Client", debuginfo: null });
  });

  it("with a key twice mean the last one", async () => {
    const answer = await post('{"loadbalancer":{"vip_subnet_id":"front","name":"a","name":"b"}}');
    expect(answer.json().loadbalancer.name).toBe("b");
  });
});

describe("methods, paths and media types", () => {
  it.each([
    ["text/html", 406],
    ["application/xml", 406],
    ["*/*", 200],
    ["application/*", 200],
    ["application/json", 200],
    ["text/html, */*;q=0.1", 200],
    ["", 200],
  ])("Accept: %s is answered %i, in JSON", async (accept, status) => {
    const answer = await api.app.inject({ url: `${base}/pools`, headers: { accept } });
    expect(answer.statusCode).toBe(status);
    expect(answer.headers["content-type"]).toMatch(/^application\/json/);
  });

  it("that are not there", async () => {
    const ask = async (method: "GET" | "PATCH" | "PUT" | "DELETE" | "POST" | "OPTIONS", path: string) => {
      const answer = await api.app.inject({ method, url: `${base}/${path}` });
      return [answer.statusCode, answer.body === "" ? undefined : answer.json()] as const;
    };
    const nothing = { code: 404, title: "Not Found", description: "" };
    expect(await ask("GET", "nothing")).toEqual([404, nothing]);
    const { id } = await api.make("loadbalancer");
    expect(await ask("GET", `loadbalancers/${id}/bogus`)).toEqual([404, nothing]);
    expect(await ask("PATCH", "loadbalancers")).toEqual([
      405,
      { code: 405, title: "Method Not Allowed", description: "" },
    ]);
    expect((await ask("PATCH", `pools/${id}`))[0]).toBe(405);
    expect(await ask("DELETE", "loadbalancers")).toMatchObject([400, { faultstring: 'Missing argument: "id"' }]);
    expect(await ask("PUT", "listeners")).toMatchObject([400, { faultstring: 'Missing argument: "id"' }]);
    expect(await ask("OPTIONS", "loadbalancers")).toEqual([200, undefined]);
    expect(await ask("GET", "loadbalancers/%ff")).toMatchObject([400, {}]);
  });

  it.each(["loadbalancers", "listeners", "pools", "healthmonitors"])("%s of an unknown id", async (plural) => {
    const root = plural.slice(0, -1);
    for (const id of ["dddddddd-dead-4bad-8bad-dddddddddddd", "not-a-uuid", "__proto__"]) {
      const gone = { status: 404, body: { faultstring: expect.stringContaining(`${id} not found.`) } };
      expect(await api.call("GET", `${plural}/${id}`)).toMatchObject(gone);
      expect(await api.call("PUT", `${plural}/${id}`, { [root]: {} })).toMatchObject(gone);
      expect(await api.call("DELETE", `${plural}/${id}`)).toMatchObject(gone);
    }
  });
});

describe("catalogues and counters", () => {
  it("know one provider and nothing else", async () => {
    expect(await api.get("providers")).toEqual({
      providers: [{ name: "openflow", description: "Open vSwitch, programmed over OpenFlow" }],
    });
    expect(await api.get("providers?fields=name")).toEqual({ providers: [{ name: "openflow" }] });
    expect(await api.get("providers/openflow/flavor_capabilities")).toEqual({ flavor_capabilities: [] });
    expect(await api.call("GET", "providers/none/flavor_capabilities")).toMatchObject(
      fault(400, /^Provider 'none' is not enabled/),
    );
    expect(await api.get("flavors")).toEqual({ flavors: [], flavors_links: [] });
    expect(await api.get("availabilityzones")).toEqual({ availability_zones: [], availability_zones_links: [] });
    expect(await api.get("flavorprofiles")).toEqual({ flavorprofiles: [], flavorprofile_links: [] });
    expect(await api.get("l7policies")).toEqual({ l7policies: [], l7policies_links: [] });
    expect(await api.call("POST", "l7policies", { l7policy: {} })).toMatchObject(fault(501, /L7 policies/));
    expect(await api.call("GET", "flavors/x")).toMatchObject(fault(404, /^Flavor x not found\.$/));
    expect((await api.call("GET", "/v2/octavia/amphorae")).body).toEqual({ amphorae: [], amphorae_links: [] });
    expect(await api.call("GET", "/v2.0/octavia/amphorae/x")).toMatchObject(fault(404, /^Amphora x not found/));
  });

  it("give the counters of the daemon, and refuse a failover", async () => {
    const counters = { bytes_in: 1, bytes_out: 2, active_connections: 3, total_connections: 4, request_errors: 0 };
    const asked: string[] = [];
    const counted = await newApi(
      {},
      {
        stats: (id) => {
          asked.push(id);
          return counters;
        },
      },
    );
    const { lb, listener } = await oneOfEach(counted);
    expect(await counted.get(`listeners/${listener.id}/stats`)).toEqual({ stats: counters });
    expect(await counted.get(`loadbalancers/${lb.id}/stats`)).toEqual({ stats: counters });
    expect(asked).toEqual([listener.id, lb.id]);
    expect(await counted.call("PUT", `loadbalancers/${lb.id}/failover`)).toMatchObject(fault(501, /requested action/));
    expect(await api.call("GET", "listeners/nobody/stats")).toMatchObject(fault(404, /Listener nobody not found/));
  });

  it("keep quotas, and to them", async () => {
    const none = {
      load_balancer: -1,
      listener: -1,
      member: -1,
      pool: -1,
      health_monitor: -1,
      l7policy: -1,
      l7rule: -1,
    };
    const project = "00000000000000000000000000000000";
    expect(await api.get("quotas/defaults")).toEqual({ quota: none });
    expect(await api.get(`quotas/${project}`)).toEqual({ quota: none });
    expect(await api.get("quotas")).toEqual({ quotas: [], quotas_links: [] });
    const set = await api.call("PUT", `quotas/${project}`, {
      quota: { loadbalancer: 1, listener: 0, healthmonitor: 7 },
    });
    expect(set).toMatchObject({
      status: 202,
      body: { quota: { ...none, load_balancer: 1, listener: 0, health_monitor: 7 } },
    });
    expect((await api.get("quotas")).quotas).toEqual([
      expect.objectContaining({
        project_id: project,
        load_balancer: 1,
        loadbalancer: 1,
        pool: null,
        health_monitor: 7,
      }),
    ]);
    const lb = await api.make("loadbalancer");
    expect(await api.call("POST", "loadbalancers", { loadbalancer: { vip_subnet_id: "front" } })).toMatchObject(
      fault(403, /^Quota has been met for resources: Load Balancer$/),
    );
    const listener = { loadbalancer_id: lb.id, protocol: "TCP", protocol_port: 1 };
    expect(await api.call("POST", "listeners", { listener })).toMatchObject(fault(403, /Listener$/));
    expect(await api.call("PUT", `quotas/${project}`, { quota: { load_balancer: -5 } })).toMatchObject(
      fault(400, /load_balancer. Value: '-5'. Value should be greater or equal to -1/),
    );
    expect(await api.call("DELETE", `quotas/${project}`)).toMatchObject({ status: 202 });
    expect(await api.call("POST", "listeners", { listener })).toMatchObject({ status: 201 });
  });
});

describe("when the state cannot be written", () => {
  it.each([
    [true, 507],
    [false, 503],
  ])("(disk full: %s) the answer is %i and nothing has changed", async (full, status) => {
    let broken = false;
    const log = {
      append: async () => {
        if (broken) throw new StoreUnavailable("cannot write to /data: no", full);
      },
      close: async () => undefined,
    };
    api.world.store = storeOn(log, emptySnapshot, () => undefined);
    const lb = await api.make("loadbalancer", { name: "a" });
    broken = true;
    expect(await api.call("PUT", `loadbalancers/${lb.id}`, { loadbalancer: { name: "b" } })).toMatchObject(
      fault(status, /^The change was not made: cannot write to \/data: no$/),
    );
    expect((await api.get(`loadbalancers/${lb.id}`)).loadbalancer.name).toBe("a");
    broken = false;
    expect(await api.call("PUT", `loadbalancers/${lb.id}`, { loadbalancer: { name: "b" } })).toMatchObject({
      status: 200,
    });
  });

  it("even a fault of ours is no 500", async () => {
    const odd = await newApi(
      {},
      {
        stats: () => {
          throw new Error("secret");
        },
      },
    );
    const lb = await odd.make("loadbalancer");
    const answer = await odd.call("GET", `loadbalancers/${lb.id}/stats`);
    expect(answer).toMatchObject(fault(503, /could not be handled/));
    expect(JSON.stringify(answer.body as Json)).not.toContain("secret");
  });
});
