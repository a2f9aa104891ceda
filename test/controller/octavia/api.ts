import type { FastifyInstance } from "fastify";
import { expect } from "vitest";
import type { OctaviaDeps } from "../../../controller/octavia/deps.ts";
import { newWorld, octaviaApp, subnets, type World } from "../../support/octavia-app.ts";

// biome-ignore lint/suspicious/noExplicitAny: answers are JSON of a shape the test itself looks at
export type Json = any;

interface Answer {
  readonly status: number;
  readonly body: Json;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** The API with shorthands for what most tests begin with. */
export interface Api {
  readonly app: FastifyInstance;
  readonly world: World;
  call(method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: unknown): Promise<Answer>;
  get(path: string): Promise<Json>;
  /** Creates an object and returns it; fails the test when it is refused. */
  make(kind: "loadbalancer" | "listener" | "pool" | "healthmonitor", fields?: Json): Promise<Json>;
  member(pool: string, fields?: Json): Promise<Json>;
}

export const base = "/v2.0/lbaas";

/** One application serves all tests of a file: building it takes longer than most of them. */
let shared: { readonly world: World; readonly app: FastifyInstance } | undefined;

/** The API on a new, empty world. */
export const newApi = async (more: Partial<World> = {}, deps: Partial<OctaviaDeps> = {}): Promise<Api> => {
  const own = Object.keys(deps).length > 0;
  const world = own ? newWorld() : (shared?.world ?? newWorld());
  const app = own ? await octaviaApp(world, deps) : (shared?.app ?? (await octaviaApp(world)));
  if (!own) shared = { world, app };
  Object.assign(world, newWorld(more));
  const call: Api["call"] = async (method, path, body) => {
    const answer = await app.inject({
      method,
      url: path.startsWith("/v") || path === "/" ? path : `${base}/${path}`,
      ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, payload: JSON.stringify(body) }),
    });
    return {
      status: answer.statusCode,
      body: answer.body === "" ? undefined : JSON.parse(answer.body),
      headers: answer.headers,
    };
  };
  const made = (answer: Answer, root: string): Json => {
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 201 });
    return answer.body[root];
  };
  return {
    app,
    world,
    call,
    get: async (path) => {
      const answer = await call("GET", path);
      expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 });
      return answer.body;
    },
    make: async (kind, fields = {}) => {
      const usual = {
        loadbalancer: { vip_subnet_id: subnets.front },
        listener: { protocol: "TCP", protocol_port: 80 },
        pool: { protocol: "TCP", lb_algorithm: "ROUND_ROBIN" },
        healthmonitor: { type: "TCP", delay: 5, timeout: 3, max_retries: 2 },
      }[kind];
      return made(await call("POST", `${kind}s`, { [kind]: { ...usual, ...fields } }), kind);
    },
    member: async (pool, fields = {}) =>
      made(
        await call("POST", `pools/${pool}/members`, {
          member: { address: "10.20.0.10", protocol_port: 8080, ...fields },
        }),
        "member",
      ),
  };
};

/** A load balancer with a listener on port 80 and its pool. */
export const oneOfEach = async (api: Api): Promise<{ lb: Json; listener: Json; pool: Json }> => {
  const lb = await api.make("loadbalancer", { name: "lb" });
  const listener = await api.make("listener", { loadbalancer_id: lb.id, name: "web" });
  const pool = await api.make("pool", { listener_id: listener.id, name: "servers" });
  return { lb, listener, pool };
};

/** A refusal as clients get it. */
export const fault = (status: number, text: string | RegExp) => ({
  status,
  body: { faultcode: status >= 500 ? "Server" : "Client", faultstring: expect.stringMatching(text), debuginfo: null },
});
