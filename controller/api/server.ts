import Fastify, { type FastifyBaseLogger, type FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import { type TraceSource, traceRoutes } from "./trace.ts";
import type { FlowView, NeighbourView, PlanView, PortView, SlotsView, StatusView } from "./views.ts";

/** A request the caller must change; answered with 400 and this message. */
export class BadRequest extends Error {
  readonly statusCode = 400;
}

/** What the API shows; the daemon implements it, tests hand in their own. */
export interface ApiSource extends TraceSource {
  status(): StatusView;
  ports(): readonly PortView[];
  neighbours(): readonly NeighbourView[];
  /** @param table number or name of a table; undefined for all */
  flows(table: string | undefined): Promise<readonly FlowView[]>;
  slots(pool: string | undefined): Promise<readonly SlotsView[]>;
  plan(): Promise<readonly PlanView[]>;
  /** Whether every configured node is in its wanted state. */
  ready(): boolean;
}

/** The HTTP application; it does not listen by itself. Bodies are JSON, errors `{statusCode, error, message}`. */
export function buildApi(source: ApiSource, metrics: Registry, log: FastifyBaseLogger): FastifyInstance {
  const app = Fastify({
    loggerInstance: log,
    disableRequestLogging: true,
    bodyLimit: 1024 * 1024,
    requestTimeout: 30_000,
    // A misspelt parameter is an error, not something to ignore.
    ajv: { customOptions: { removeAdditional: false } },
  });

  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    const statusCode = error.statusCode ?? 500;
    if (statusCode >= 500) request.log.error({ err: error }, "request failed");
    return reply.code(statusCode).send({
      statusCode,
      error: statusCode >= 500 ? "Internal Server Error" : "Bad Request",
      message: statusCode >= 500 ? "internal error; the log says more" : error.message,
    });
  });
  app.setNotFoundHandler((request, reply) =>
    reply
      .code(404)
      .send({ statusCode: 404, error: "Not Found", message: `there is nothing at ${request.method} ${request.url}` }),
  );

  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_request, reply) =>
    source.ready() ? { status: "ready" } : reply.code(503).send({ status: "not ready" }),
  );
  app.get("/metrics", async (_request, reply) => reply.type(metrics.contentType).send(await metrics.metrics()));

  app.get("/v1/status", async () => source.status());
  app.get("/v1/ports", async () => source.ports());
  app.get("/v1/neighbours", async () => source.neighbours());
  app.get<{ Querystring: Query }>("/v1/flows", async (request) => source.flows(single(request.query, "table")));
  app.get<{ Querystring: Query }>("/v1/slots", async (request) => source.slots(single(request.query, "pool")));
  app.get("/v1/plan", async () => source.plan());
  traceRoutes(app, source);
  return app;
}

type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The one value of a query parameter; unknown parameters are refused, so that a typing error is not taken for "all". */
function single(query: Query, name: string): string | undefined {
  for (const key of Object.keys(query)) {
    if (key !== name) throw new BadRequest(`unknown query parameter "${key}" (allowed: ${name})`);
  }
  const value = query[name];
  if (value === undefined || typeof value === "string") return value;
  throw new BadRequest(`query parameter "${name}" is given more than once`);
}
