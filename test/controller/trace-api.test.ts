import { pino } from "pino";
import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import { BadRequest } from "../../controller/api/refusals.ts";
import { type ApiSource, buildApi } from "../../controller/api/server.ts";
import type { TraceQuestion } from "../../controller/api/trace.ts";

/** An API whose questions are kept. */
function api() {
  const asked: TraceQuestion[] = [];
  const source: Partial<ApiSource> = {
    trace: async (question) => {
      asked.push(question);
      if (question.src === "0.0.0.0") throw new BadRequest("nobody has that address");
      return { node: "lb1" } as Awaited<ReturnType<ApiSource["trace"]>>;
    },
    fdb: async (segment) => [
      { node: "lb1", segment: segment ?? "all", entries: [], floodedPackets: null, floodedBytes: null },
    ],
  };
  const app = buildApi(source as ApiSource, new Registry(), pino({ level: "silent" }), { version: "0" });
  return { app, asked };
}

describe("/v1/trace", () => {
  test("takes the question from the query, with numbers and lists", async () => {
    const { app, asked } = api();
    const url = "/v1/trace?src=10.0.0.1&dst=10.0.0.2&dport=80&ttl=7&state=est,rpl&reply=true";
    expect((await app.inject({ method: "GET", url })).json()).toEqual({ node: "lb1" });
    expect(asked).toEqual([{ src: "10.0.0.1", dst: "10.0.0.2", dport: 80, ttl: 7, state: ["est,rpl"], reply: true }]);
    await app.inject({ method: "GET", url: "/v1/trace?packet=ip&state=new&state=est" });
    expect(asked[1]).toEqual({ packet: "ip", state: ["new", "est"] });
  });

  test("or from the body", async () => {
    const { app, asked } = api();
    const payload = { packet: "in_port=1,arp", state: ["new"], node: "lb1" };
    expect((await app.inject({ method: "POST", url: "/v1/trace", payload })).statusCode).toBe(200);
    expect(asked).toEqual([payload]);
  });

  test.each([
    ["srcc=10.0.0.1", /^unknown parameter "srcc" \(allowed: src, dst, proto/],
    ["proto=sctp", /^proto: must be tcp, udp, icmp$/],
    ["dport=70000", /^dport: must be <= 65535$/],
    ["ttl=x", /^ttl: must be integer$/],
    ["src=0.0.0.0", /^nobody has that address$/],
  ])("refuses %s", async (query, message) => {
    const { app } = api();
    const response = await app.inject({ method: "GET", url: `/v1/trace?${query}` });
    expect(response.statusCode).toBe(400);
    expect(response.json<{ message: string }>().message).toMatch(message);
  });
});

describe("/v1/fdb", () => {
  test("all segments or one", async () => {
    const { app } = api();
    expect((await app.inject({ method: "GET", url: "/v1/fdb" })).json()).toMatchObject([{ segment: "all" }]);
    expect((await app.inject({ method: "GET", url: "/v1/fdb?segment=p2" })).json()).toMatchObject([{ segment: "p2" }]);
    expect((await app.inject({ method: "GET", url: "/v1/fdb?table=2" })).statusCode).toBe(400);
  });
});
