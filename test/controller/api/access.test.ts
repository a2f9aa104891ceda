import type { InjectOptions } from "fastify";
import { describe, expect, test } from "vitest";
import type { AccessOptions } from "../../../controller/api/access.ts";
import { isLoopback } from "../../../controller/api/access.ts";
import type { AuditEntry } from "../../../controller/api/audit.ts";
import { parseTokens } from "../../../controller/api/tokens.ts";
import { webApp } from "../../support/web-app.ts";

const ADMIN = "admin-token-0123456789";
const READER = "reader-token-0123456789";
const tokens = parseTokens(`ops admin ${ADMIN}\nwatch read-only ${READER}\n`, "f");

/** An API that asks for tokens, and what its audit log gets. */
function guarded(more: Partial<AccessOptions> = {}) {
  const entries: AuditEntry[] = [];
  const audit = { write: (e: AuditEntry) => void entries.push(e), close: () => undefined };
  return { ...webApp({ access: { tokens: () => tokens, audit, ...more } }), entries };
}

const drain = (token?: string, more: InjectOptions = {}): InjectOptions => ({
  method: "POST",
  url: "/v1/members/be1/drain",
  ...more,
  headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...more.headers },
});

describe("tokens", () => {
  test.each([
    ["Authorization", { authorization: `Bearer ${READER}` }, 200],
    ["Authorization in other letters", { authorization: `bearer ${READER}` }, 200],
    ["X-Auth-Token", { "x-auth-token": READER }, 200],
    ["none", {}, 401],
    ["another", { "x-auth-token": `${READER}x` }, 401],
    ["a password", { authorization: `Basic ${READER}` }, 401],
    ["an empty one", { "x-auth-token": "" }, 401],
  ])("%s", async (_name, headers, status) => {
    const response = await guarded().app.inject({ url: "/v1/status", headers });
    expect(response.statusCode).toBe(status);
    if (status === 401) expect(response.headers["www-authenticate"]).toMatch(/^Bearer/);
  });

  test.each(["/", "/healthz", "/readyz", "/dashboard/app.js", "/v1/openapi.json", "/v1/docs"])(
    "%s is there without one",
    async (url) => {
      expect((await guarded().app.inject({ url, headers: { accept: "text/html" } })).statusCode).toBe(200);
    },
  );

  test.each(["/metrics", "/v1/events?follow=false", "/v1/topology", "/nothing"])("%s is not", async (url) => {
    expect((await guarded().app.inject({ url })).statusCode).toBe(401);
  });

  test("read-only ones see everything, trace and plan, and change nothing", async () => {
    const { app, world, entries } = guarded();
    const headers = { "x-auth-token": READER };
    const trace = await app.inject({
      method: "POST",
      url: "/v1/trace",
      headers,
      payload: { src: "192.0.2.1", dst: "192.0.2.2" },
    });
    expect(trace.statusCode).toBe(200);
    const plan = { method: "POST", url: "/v1/plan", payload: "nodes: []" } as const;
    expect((await app.inject({ ...plan, headers: { ...headers, "content-type": "text/yaml" } })).statusCode).toBe(200);
    const refused = await app.inject(drain(READER));
    expect(refused.statusCode).toBe(403);
    expect(refused.json()).toMatchObject({ message: "the token of watch is read-only" });
    expect(world.asked).toEqual([]);
    expect(entries).toEqual([]);
  });

  test("whoever guesses is slowed down, and others are not", async () => {
    const { app } = guarded();
    const guess = () =>
      app.inject({ url: "/v1/status", headers: { "x-auth-token": "guess" }, remoteAddress: "192.0.2.1" });
    const codes: number[] = [];
    for (let i = 0; i < 12; i++) codes.push((await guess()).statusCode);
    expect(codes).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
    expect((await guess()).headers["retry-after"]).toBe("2");
    const other = await app.inject({
      url: "/v1/status",
      headers: { "x-auth-token": READER },
      remoteAddress: "192.0.2.2",
    });
    expect(other.statusCode).toBe(200);
  });
});

describe("audit log", () => {
  test("says who changed what, with the object before and after", async () => {
    const { app, entries, events } = guarded();
    expect((await app.inject(drain(ADMIN))).statusCode).toBe(200);
    expect(entries).toMatchObject([
      {
        who: "ops",
        from: "127.0.0.1",
        method: "POST",
        path: "/v1/members/be1/drain",
        status: 200,
        before: { name: "be1", admin: "enabled" },
        after: { name: "be1", admin: "draining" },
      },
    ]);
    expect(JSON.stringify(entries)).not.toContain(ADMIN);
    expect(events.since(undefined).events.map((e) => e.kind)).toEqual(["drain", "change"]);
  });

  test("has refused changes, too, but no reading and no strangers", async () => {
    const { app, entries } = guarded();
    await app.inject(drain(ADMIN, { url: "/v1/members/nobody/drain" }));
    await app.inject(drain());
    await app.inject({ url: "/v1/status", headers: { "x-auth-token": ADMIN } });
    expect(entries).toMatchObject([{ status: 404, before: null, after: null }]);
  });

  test("that cannot be written does not undo the answer", async () => {
    const audit = {
      write: () => {
        throw new Error("no space left");
      },
      close: () => undefined,
    };
    const { app } = webApp({ access: { audit } });
    expect((await app.inject(drain())).statusCode).toBe(200);
  });

  test("is told the object by the one who knows it", async () => {
    let version = 1;
    const { app, entries } = guarded({ viewOf: (request) => ({ url: request.raw.url, version: version++ }) });
    await app.inject(drain(ADMIN, { url: "/v1/members/nobody/drain" }));
    expect(entries[0]).toMatchObject({ before: { url: "/v1/members/nobody/drain", version: 1 }, after: null });
  });
});

describe("pages from elsewhere", () => {
  test.each([
    ["localhost:9876", 200],
    ["127.0.0.1:9876", 200],
    ["127.8.9.1", 200],
    ["[::1]:9876", 200],
    ["LOCALHOST", 200],
    ["lb.localhost", 200],
    ["evil.example", 421],
    ["evil.example:9876", 421],
    ["127.0.0.1.evil.example", 421],
    ["192.168.5.1:9876", 421],
    ["localhost:9876@evil.example", 421],
  ])("Host: %s", async (host, status) => {
    const { app } = webApp({ access: { loopbackOnly: true } });
    expect((await app.inject({ url: "/v1/status", headers: { host } })).statusCode).toBe(status);
    expect((await webApp().app.inject({ url: "/v1/status", headers: { host } })).statusCode).toBe(200);
  });

  test.each([
    ["a program", {}, 200],
    ["our page", { origin: "http://localhost:9876", "sec-fetch-site": "same-origin" }, 200],
    ["another site", { origin: "http://evil.example" }, 403],
    ["another port", { origin: "http://localhost:1", "sec-fetch-site": "same-site" }, 403],
    ["a sandbox", { origin: "null" }, 403],
    ["an old browser's form", { "sec-fetch-site": "cross-site" }, 403],
  ])("a change by %s", async (_name, headers, status) => {
    const { app, world } = webApp();
    const response = await app.inject(drain(undefined, { headers: { host: "localhost:9876", ...headers } }));
    expect(response.statusCode).toBe(status);
    expect(world.asked).toHaveLength(status === 200 ? 1 : 0);
  });

  test("no answer is shared with others", async () => {
    const response = await webApp().app.inject({ url: "/v1/status", headers: { origin: "http://evil.example" } });
    expect(response.headers).not.toHaveProperty("access-control-allow-origin");
    expect(response.headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "cache-control": "no-store",
    });
  });

  test("which addresses are loopback", () => {
    expect(["127.0.0.1", "::1", "[::1]", "localhost"].filter(isLoopback)).toHaveLength(4);
    expect(["0.0.0.0", "::", "10.0.0.1", "example.org", "localhost.example"].filter(isLoopback)).toEqual([]);
  });
});

describe("limits", () => {
  test("requests and changes have their own rates", async () => {
    const rates = {
      requests: { burst: 3, perSecond: 1 },
      changes: { burst: 1, perSecond: 1 },
      failures: { burst: 1, perSecond: 1 },
    };
    const { app } = webApp({ access: { rates } });
    const codes = [
      (await app.inject(drain())).statusCode,
      (await app.inject(drain())).statusCode,
      (await app.inject("/v1/status")).statusCode,
      (await app.inject("/v1/status")).statusCode,
    ];
    expect(codes).toEqual([200, 429, 200, 429]);
    expect((await app.inject("/healthz")).statusCode).toBe(200);
  });

  test.each([
    ["a large body", { method: "POST", url: "/v1/trace", payload: { src: "1".repeat(2 * 1024 * 1024) } }, 413],
    [
      "no JSON",
      { method: "POST", url: "/v1/trace", payload: "{", headers: { "content-type": "application/json" } },
      400,
    ],
    [
      "a prototype",
      {
        method: "POST",
        url: "/v1/trace",
        payload: '{"__proto__":{}}',
        headers: { "content-type": "application/json" },
      },
      400,
    ],
    ["no such type", { method: "POST", url: "/v1/trace", payload: "x", headers: { "content-type": "image/png" } }, 415],
    ["a broken escape", { method: "GET", url: "/v1/members/%zz/drain" }, 400],
    ["a long name", { method: "POST", url: `/v1/members/${"x".repeat(300)}/drain` }, 414],
    ["an unknown parameter", { method: "GET", url: "/v1/flows?tabel=1" }, 400],
    ["a parameter twice", { method: "GET", url: "/v1/flows?table=1&table=2" }, 400],
    ["no such path", { method: "DELETE", url: "/v1/status" }, 404],
  ] as const)("%s is never our own fault", async (_name, request, status) => {
    const response = await webApp().app.inject(request as InjectOptions);
    expect(response.statusCode).toBe(status);
    expect(response.json()).toMatchObject({ statusCode: status, message: expect.any(String) });
  });
});
