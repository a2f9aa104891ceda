import { STATUS_CODES } from "node:http";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import type { Registry } from "prom-client";
import type {
  FlowView,
  HealthView,
  MemberHealthView,
  NeighbourView,
  PlanView,
  PortView,
  SlotsView,
  StatusView,
} from "./views.ts";

/** A request the caller must change; answered with 400 and this message. */
export class BadRequest extends Error {
  readonly statusCode = 400;
}

/** Something is asked for that is not there; answered with 404 and this message. */
export class NotFound extends Error {
  readonly statusCode = 404;
}

/** What is there stands against the request; answered with 409 and this message. */
export class Conflict extends Error {
  readonly statusCode = 409;
}

/** What the API shows; the daemon implements it, tests hand in their own. */
export interface ApiSource {
  status(): StatusView;
  ports(): readonly PortView[];
  neighbours(): readonly NeighbourView[];
  /** @param table number or name of a table; undefined for all */
  flows(table: string | undefined): Promise<readonly FlowView[]>;
  slots(pool: string | undefined): Promise<readonly SlotsView[]>;
  plan(): Promise<readonly PlanView[]>;
  health(pool: string | undefined): readonly HealthView[];
  /**
   * Takes a member out of service, or back in, and answers once that is on disk.
   * @param member its name, id or uuid, or POOL/NAME
   */
  setDrain(member: string, drain: boolean): Promise<MemberHealthView>;
  /** Whether every configured node is in its wanted state. */
  ready(): boolean;
}

/** The HTTP application; it does not listen by itself. Bodies are JSON, errors `{statusCode, error, message}`. */
export function buildApi(source: ApiSource, metrics: Registry, log: FastifyBaseLogger): FastifyInstance {
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: 1024 * 1024,
    requestTimeout: 30_000,
  });

  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    const statusCode = error.statusCode ?? 500;
    if (statusCode >= 500) request.log.error({ err: error }, "request failed");
    return reply.code(statusCode).send({
      statusCode,
      error: STATUS_CODES[statusCode] ?? "Error",
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
  app.get<{ Querystring: Query }>("/v1/health", async (request) => source.health(single(request.query, "pool")));
  app.post<{ Params: { member: string } }>("/v1/members/:member/drain", async ({ params }) =>
    source.setDrain(params.member, true),
  );
  app.post<{ Params: { member: string } }>("/v1/members/:member/enable", async ({ params }) =>
    source.setDrain(params.member, false),
  );
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
