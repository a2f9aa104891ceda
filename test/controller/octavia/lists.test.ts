import { beforeEach, describe, expect, it } from "vitest";
import { commonNames } from "../../../controller/octavia/object-routes.ts";
import { type Api, base, fault, type Json, newApi, oneOfEach } from "./api.ts";

let api: Api;
beforeEach(async () => {
  api = await newApi();
});
const names = async (query: string): Promise<string[]> =>
  (await api.get(`loadbalancers${query}`)).loadbalancers.map((r: Json) => r.name);
const make = async (...list: string[]): Promise<Json[]> => {
  const made: Json[] = [];
  for (const name of list) made.push(await api.make("loadbalancer", { name }));
  return made;
};

describe("filters", () => {
  it("compare any attribute", async () => {
    const [a] = await make("a", "b");
    await api.call("PUT", `loadbalancers/${a.id}`, { loadbalancer: { admin_state_up: false } });
    expect(await names("?name=a")).toEqual(["a"]);
    expect(await names(`?id=${a.id}`)).toEqual(["a"]);
    expect(await names(`?vip_address=${a.vip_address}`)).toEqual(["a"]);
    expect(await names("?admin_state_up=false")).toEqual(["a"]);
    expect(await names("?admin_state_up=True&provisioning_status=ACTIVE")).toEqual(["b"]);
    expect(await names("?operating_status=OFFLINE")).toEqual(["a"]);
    expect(await names("?provider=openflow")).toEqual(["a", "b"]);
    expect(await names("?project_id=other")).toEqual([]);
    expect(await names("?description=")).toEqual(["a", "b"]);
    expect(await names("?flavor_id=null")).toEqual([]);
  });

  it("compare children by their parents", async () => {
    const { lb, listener, pool } = await oneOfEach(api);
    await oneOfEach(api);
    const monitor = await api.make("healthmonitor", { pool_id: pool.id });
    const member = await api.member(pool.id, { weight: 10 });
    for (const [path, id] of [
      [`listeners?loadbalancer_id=${lb.id}`, listener.id],
      [`listeners?load_balancer_id=${lb.id}&protocol_port=80`, listener.id],
      [`pools?loadbalancer_id=${lb.id}`, pool.id],
      [`pools?healthmonitor_id=${monitor.id}`, pool.id],
      [`healthmonitors?pool_id=${pool.id}&delay=5`, monitor.id],
      [`pools/${pool.id}/members?weight=10&address=10.20.0.10`, member.id],
    ]) {
      const body = await api.get(path);
      expect(Object.values<Json>(body)[0].map((r: Json) => r.id)).toEqual([id]);
    }
  });

  it("look for tags in all four ways", async () => {
    for (const [name, tags] of [
      ["both", ["x", "y"]],
      ["x", ["x"]],
      ["none", []],
    ] as const) {
      await api.make("loadbalancer", { name, tags });
    }
    expect(await names("?tags=x,y")).toEqual(["both"]);
    expect(await names("?tags-any=x,y")).toEqual(["both", "x"]);
    expect(await names("?not-tags=x,y")).toEqual(["x", "none"]);
    expect(await names("?not-tags-any=x,y")).toEqual(["none"]);
  });

  it.each([
    "bogus=1",
    "tenant_id=x",
    "name=a&name=b",
    "listeners=x",
    "limit=1&limit=2",
    "__proto__=1",
    "constructor=1",
  ])("refuse ?%s", async (query) => {
    expect(await api.call("GET", `loadbalancers?${query}`)).toMatchObject(
      fault(400, /^One or more arguments are either duplicate or invalid$/),
    );
  });
});

describe("fields", () => {
  it("are the ones asked for, known or not", async () => {
    const [a] = await make("a");
    expect((await api.get("loadbalancers?fields=id&fields=name")).loadbalancers).toEqual([{ id: a.id, name: "a" }]);
    expect((await api.get("loadbalancers?fields=bogus")).loadbalancers).toEqual([{}]);
    expect((await api.get(`loadbalancers/${a.id}?fields=name`)).loadbalancer).toEqual({ name: "a" });
  });
});

describe("sorting", () => {
  it("by any column in both directions, by several, and by creation when not asked", async () => {
    await make("b", "c", "a");
    expect(await names("")).toEqual(["b", "c", "a"]);
    expect(await names("?sort=name")).toEqual(["a", "b", "c"]);
    expect(await names("?sort=name:desc")).toEqual(["c", "b", "a"]);
    expect(await names("?sort_key=name&sort_dir=desc")).toEqual(["c", "b", "a"]);
    expect(await names("?sort=provider:asc,name:desc")).toEqual(["c", "b", "a"]);
    for (const column of [...commonNames, "vip_address", "vip_port_id", "provider", "description"]) {
      const up = await names(`?sort=${column}:asc`);
      expect([...up].sort()).toEqual(["a", "b", "c"]);
      expect([...(await names(`?sort=${column}:desc`))].sort()).toEqual(["a", "b", "c"]);
    }
  });

  it("of numbers goes by their value", async () => {
    const { lb } = await oneOfEach(api);
    for (const port of [9, 100, 20]) await api.make("listener", { loadbalancer_id: lb.id, protocol_port: port });
    const { listeners } = await api.get("listeners?sort=protocol_port");
    expect(listeners.map((l: Json) => l.protocol_port)).toEqual([9, 20, 80, 100]);
  });

  it("refuses what it does not know", async () => {
    expect(await api.call("GET", "loadbalancers?sort=bogus")).toMatchObject(
      fault(400, /^Supplied sort key 'bogus' is not valid\.$/),
    );
    for (const [sort, description] of [
      ["name:sideways", "Supplied sort direction 'sideways' is not valid."],
      ["name:asc:x", "Supplied sort key '['name', 'asc', 'x']' is not valid."],
    ]) {
      expect(await api.call("GET", `loadbalancers?sort=${sort}`)).toMatchObject({
        status: 400,
        body: { code: 400, title: "Bad Request", description },
      });
    }
  });
});

describe("pages", () => {
  it.each(["0", "-1", "abc", "1.5", "1e3", "", "99999999999999999999"])("refuse the limit %s", async (limit) => {
    expect(await api.call("GET", `loadbalancers?limit=${limit}`)).toMatchObject({
      status: 400,
      body: { code: 400, title: "Bad Request", description: `Supplied pagination limit '${limit}' is not valid.` },
    });
  });

  it("refuse an unknown or deleted marker", async () => {
    const [a] = await make("a", "b");
    await api.call("DELETE", `loadbalancers/${a.id}`);
    for (const marker of [a.id, "bogus"]) {
      expect(await api.call("GET", `loadbalancers?marker=${marker}`)).toMatchObject(
        fault(400, `^Supplied pagination marker '${marker}' is not valid\\.$`),
      );
    }
  });

  it("are full ones with a next, later ones with a previous, and can be walked back", async () => {
    const [a, b, c] = await make("a", "b", "c", "d", "e");
    expect(await names("?limit=1000000000")).toHaveLength(5);
    const first = await api.get("loadbalancers?limit=2&sort=name:asc&fields=name&provider=openflow");
    const path = `http://localhost:80${base}/loadbalancers?limit=2&sort=name:asc&fields=name&provider=openflow`;
    expect(first).toEqual({
      loadbalancers: [{ name: "a" }, { name: "b" }],
      loadbalancers_links: [{ rel: "next", href: `${path}&marker=${b.id}` }],
    });
    const second = await api.get(`loadbalancers?limit=2&sort=name:asc&marker=${b.id}`);
    expect(second.loadbalancers.map((r: Json) => r.name)).toEqual(["c", "d"]);
    expect(second.loadbalancers_links.map((l: Json) => l.rel)).toEqual(["previous", "next"]);
    expect(second.loadbalancers_links[0].href).toContain(`marker=${c.id}&page_reverse=True`);
    expect(await names(`?limit=1&sort=name:asc&marker=${c.id}&page_reverse=True`)).toEqual(["b"]);
    expect(await names(`?limit=9&sort=name:asc&marker=${c.id}&page_reverse=True`)).toEqual(["a", "b"]);
    expect((await api.get(`loadbalancers?limit=2&sort=name:desc&marker=${a.id}`)).loadbalancers_links).toEqual([]);
  });

  it("lead to where the caller came from", async () => {
    await make("a");
    const ask = async (headers: Record<string, string>): Promise<string> => {
      const answer = await api.app.inject({ url: `/load-balancer/v2.0/lbaas/loadbalancers?limit=1`, headers });
      return answer.json().loadbalancers_links[0].href.split("?")[0];
    };
    const path = "/load-balancer/v2.0/lbaas/loadbalancers";
    expect(await ask({ host: "lb.example:9876" })).toBe(`http://lb.example:9876${path}`);
    expect(
      await ask({ "x-forwarded-proto": "https", "x-forwarded-host": "api.example", "x-forwarded-prefix": "/net/lb" }),
    ).toBe(`https://api.example/net/lb${path}`);
    expect(
      await ask({ "x-forwarded-proto": "javascript", "x-forwarded-host": 'a/b"', "x-forwarded-prefix": "//evil" }),
    ).toBe(`http://localhost:80${path}`);
  });

  it("show every lasting member once while others come and go", async () => {
    const { pool } = await oneOfEach(api);
    const lasting = Array.from({ length: 250 }, (_, n) => ({
      address: `172.16.0.${n}`,
      protocol_port: 80,
      name: `keep${n}`,
    }));
    await api.call("PUT", `pools/${pool.id}/members`, { members: lasting });
    const seen: string[] = [];
    let path = `pools/${pool.id}/members?limit=7&sort=name`;
    for (let step = 0; path !== ""; step++) {
      const body = await api.get(path);
      seen.push(...body.members.map((m: Json) => m.name));
      const next = body.members_links.find((l: Json) => l.rel === "next");
      path = next === undefined ? "" : next.href.slice(next.href.indexOf("/pools") + 1);
      const passing = await api.member(pool.id, { address: `172.17.0.${step + 1}`, name: step % 2 === 0 ? "a" : "z" });
      if (step % 3 === 0) await api.call("DELETE", `pools/${pool.id}/members/${passing.id}`);
    }
    const kept = seen.filter((name) => name.startsWith("keep"));
    expect(kept).toHaveLength(250);
    expect(new Set(kept).size).toBe(250);
  });
});
