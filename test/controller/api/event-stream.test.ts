import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import type { StreamOptions } from "../../../controller/api/event-stream.ts";
import type { EventBus, EventKind } from "../../../controller/events.ts";
import { webApp } from "../../support/web-app.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** The API on a port of loopback. */
async function listening(stream: Partial<StreamOptions> = {}) {
  const { app, events } = webApp({ stream });
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  ends.push(() => app.close());
  return { app, events, base };
}

const publish = (events: EventBus, n: number, kind: EventKind = "port", text = `event ${n}`): void =>
  events.publish({ kind, level: "info", text, data: { n } });

/** Reads a stream as it comes. */
async function open(url: string, headers: Record<string, string> = {}) {
  const abort = new AbortController();
  const response = await fetch(url, { headers, signal: abort.signal });
  let text = "";
  const done = (async () => {
    try {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
    } catch {
      // Cut off, by us or by them.
    }
  })();
  const client = {
    response,
    get text() {
      return text;
    },
    get ids() {
      return [...text.matchAll(/^id: (.*)$/gm)].map((m) => m[1]);
    },
    done,
    until: async (wanted: () => boolean) => {
      for (const deadline = Date.now() + 5000; !wanted() && Date.now() < deadline; ) await sleep(5);
      expect(wanted()).toBe(true);
    },
    close: async () => {
      abort.abort();
      await done;
    },
  };
  ends.unshift(client.close);
  return client;
}

describe("/v1/events", () => {
  test("begins with what is kept, and goes on with what happens", async () => {
    const { events, base } = await listening();
    publish(events, 1);
    const client = await open(`${base}/v1/events`);
    expect(client.response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(client.response.headers.get("cache-control")).toBe("no-store");
    await client.until(() => client.ids.length === 1);
    publish(events, 2, "health", "a\nb");
    await client.until(() => client.ids.length === 2);
    const [, first, second] = client.text.split("\n\n");
    expect(first).toMatch(/^id: run-1\nevent: port\ndata: \{"id":"run-1","at":"[^"]+","kind":"port"/);
    expect(second).toMatch(/^id: run-2\nevent: health\ndata: .*"text":"a\\nb"/);
    expect(client.text).not.toContain("event: reset");
  });

  test("comes back where it was, by header or parameter", async () => {
    const { events, base } = await listening();
    for (const n of [1, 2, 3]) publish(events, n);
    for (const [url, headers] of [
      [`${base}/v1/events`, { "last-event-id": "run-2" }],
      [`${base}/v1/events?after=run-2`, {}],
    ] as const) {
      const client = await open(url, headers);
      await client.until(() => client.ids.length > 0);
      expect(client.ids).toEqual(["run-3"]);
    }
  });

  test.each([["run-1"], ["earlier-9"]])("says so when what came after %s is lost", async (id) => {
    const { events, base } = await listening();
    for (let n = 1; n <= 40; n++) publish(events, n);
    const client = await open(`${base}/v1/events`, { "last-event-id": id });
    await client.until(() => client.ids.length === 20);
    expect(client.text.split("\n\n")[1]).toBe("event: reset\ndata: {}");
    expect(client.ids.at(-1)).toBe("run-40");
  });

  test("only the kinds that are asked for", async () => {
    const { app, events } = await listening();
    publish(events, 1, "port");
    publish(events, 2, "health");
    const answer = await app.inject("/v1/events?follow=false&kind=health,node");
    expect(answer.json()).toMatchObject([{ id: "run-2", kind: "health", data: { n: 2 } }]);
    expect((await app.inject("/v1/events?kind=healthy")).statusCode).toBe(400);
  });

  test("comments keep it open", async () => {
    const { base } = await listening({ heartbeatMs: 20 });
    const client = await open(`${base}/v1/events`);
    await client.until(() => client.text.split(": still here").length > 2);
  });

  test("a bounded number of clients, each of which makes room when it goes", async () => {
    const { events, base } = await listening({ clients: 2 });
    const [first] = await Promise.all([open(`${base}/v1/events`), open(`${base}/v1/events`)]);
    const refused = await fetch(`${base}/v1/events`);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
    await first.close();
    await first.until(() => events.subscribers === 1);
    expect((await open(`${base}/v1/events`)).response.status).toBe(200);
  });

  test("a client that does not read is cut off; others go on", async () => {
    const { events, base } = await listening({ buffered: 1000 });
    // Its body is not touched, so that it is the sockets' buffers and then ours that fill up.
    const lazy = await fetch(`${base}/v1/events`);
    await expect.poll(() => events.subscribers).toBe(1);
    for (let n = 0; n < 2000 && events.subscribers > 0; n++) {
      publish(events, n, "port", "x".repeat(50_000));
      if (n % 10 === 0) await sleep(1);
    }
    expect(events.subscribers).toBe(0);
    await lazy.body?.cancel().catch(() => undefined);
  });

  test("ends when the API is closed", async () => {
    const { app, base } = await listening();
    const client = await open(`${base}/v1/events`);
    await app.close();
    await client.done;
    expect(client.text).toContain("retry: 1000");
  });
});
