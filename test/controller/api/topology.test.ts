import type { InjectOptions } from "fastify";
import { describe, expect, test } from "vitest";
import { webApp } from "../../support/web-app.ts";

const put = (payload: string, headers: Record<string, string> = {}): InjectOptions => ({
  method: "PUT",
  url: "/v1/topology",
  payload,
  headers: { "content-type": "application/yaml", ...headers },
});

describe("GET /v1/topology", () => {
  test("is the text, with an ETag that saves the second answer", async () => {
    const { app, world } = webApp();
    const first = await app.inject("/v1/topology");
    expect(first.body).toBe(world.topologyText);
    expect(first.headers["content-type"]).toBe("application/yaml; charset=utf-8");
    const etag = String(first.headers["etag"]);
    expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
    const again = await app.inject({ url: "/v1/topology", headers: { "if-none-match": `"x", W/${etag}` } });
    expect([again.statusCode, again.body]).toEqual([304, ""]);
    world.topologyText += "# more\n";
    expect((await app.inject({ url: "/v1/topology", headers: { "if-none-match": etag } })).statusCode).toBe(200);
  });
});

describe("PUT /v1/topology", () => {
  test("replaces the text that If-Match names, and no other", async () => {
    const { app, world } = webApp();
    const etag = String((await app.inject("/v1/topology")).headers["etag"]);
    const changed = await app.inject(put("nodes: [] # new\n", { "if-match": etag }));
    expect(changed.statusCode).toBe(200);
    expect(world.topologyText).toBe("nodes: [] # new\n");
    expect(changed.json()).toEqual({ etag: changed.headers["etag"] });
    const late = await app.inject(put("nodes: [] # late\n", { "if-match": etag }));
    expect(late.statusCode).toBe(412);
    expect((await app.inject(put("nodes: [] # blind\n"))).statusCode).toBe(428);
    expect(world.topologyText).toBe("nodes: [] # new\n");
    expect((await app.inject(put("nodes: [] # any\n", { "if-match": "*" }))).statusCode).toBe(200);
  });

  test("refuses a faulty text with all that is wrong in it", async () => {
    const { app, world } = webApp();
    const response = await app.inject(put("a: wrong\nb: 1\nc: wrong\n", { "if-match": "*" }));
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({
      message: "the topology has 2 errors; line 1: segments: is wrong",
      errors: [{ line: 1 }, { line: 3, field: "segments", message: "is wrong" }],
    });
    expect(world.asked).toEqual([]);
  });

  test.each([
    ["JSON", { payload: "{}", headers: { "content-type": "application/json" } }, 400],
    ["nothing", { payload: "" }, 400],
    ["an image", { payload: "x", headers: { "content-type": "image/png" } }, 415],
    ["bytes that are no text", { payload: Buffer.from([0x6e, 0xff, 0xfe]) as never }, 400],
    ["too much", { payload: "#".repeat(4 * 1024 * 1024 + 1) }, 413],
  ])("refuses %s", async (_name, more: InjectOptions, status) => {
    const { app, world } = webApp();
    const request = put("", { "if-match": "*" });
    const response = await app.inject({ ...request, ...more, headers: { ...request.headers, ...more.headers } });
    expect(response.statusCode).toBe(status);
    expect(world.topologyText).toBe("nodes: []\nsegments: []\n");
  });

  test("the audit log has the lines that changed", async () => {
    const entries: unknown[] = [];
    const { app, world } = webApp({
      access: { audit: { write: (e) => void entries.push(e), close: () => undefined } },
    });
    world.topologyText = "a: 1\nb: 2\nc: 3\nd: 4\n";
    await app.inject(put("a: 1\nb: 20\nx: 0\nd: 4\n", { "if-match": "*" }));
    expect(entries).toMatchObject([
      { before: { fromLine: 2, lines: ["b: 2", "c: 3"] }, after: { fromLine: 2, lines: ["b: 20", "x: 0"] } },
    ]);
  });
});

describe("POST /v1/plan", () => {
  const post = (payload: string): InjectOptions => ({ ...put(payload), method: "POST", url: "/v1/plan" });

  test("says what a text would change, and changes nothing", async () => {
    const { app, world, events } = webApp();
    expect((await app.inject(post("nodes: []\n"))).json()).toMatchObject([
      { node: "lb1", operations: [{ sign: "+" }] },
    ]);
    expect((await app.inject(post("wrong"))).json()).toMatchObject({ statusCode: 400, errors: [{ line: 1 }] });
    expect(world.topologyText).toBe("nodes: []\nsegments: []\n");
    expect(events.since(undefined).events).toEqual([]);
  });
});
