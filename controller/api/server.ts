import { STATUS_CODES } from "node:http";
import type { SecureContextOptions } from "node:tls";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, LogController } from "fastify";
import type { Registry } from "prom-client";
import type { EventBus } from "../events.ts";
import { type AccessOptions, guard } from "./access.ts";
import { DEFAULT_STREAM, eventRoutes, type StreamOptions } from "./event-stream.ts";
import { nativeRoutes } from "./native.ts";
import { openApiRoutes } from "./openapi.ts";
import { Unavailable } from "./refusals.ts";
import { type TopologySource, topologyRoutes } from "./topology.ts";
import { type TraceSource, traceRoutes } from "./trace.ts";
import type {
  FlowView,
  HealthView,
  MemberHealthView,
  NeighbourView,
  PlanView,
  PortView,
  SegmentView,
  SlotsView,
  StatusView,
} from "./views.ts";

/** What the API shows; the daemon implements it, tests hand in their own. */
export interface ApiSource extends TraceSource, TopologySource {
  status(): StatusView;
  segments(): readonly SegmentView[];
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
   * @param who asks for it
   * @returns the member before and after
   */
  setDrain(
    member: string,
    drain: boolean,
    who: string,
  ): Promise<{ readonly before: MemberHealthView; readonly after: MemberHealthView }>;
  /** Whether every configured node is in its wanted state. */
  ready(): boolean;
}

export interface ApiOptions {
  readonly version: string;
  readonly access?: AccessOptions;
  readonly events?: EventBus;
  readonly stream?: Partial<StreamOptions>;
  /** Certificate and key in PEM. */
  readonly tls?: SecureContextOptions;
  /** Further routes, under the same hooks. */
  readonly more?: (app: FastifyInstance) => void;
}

/** Longest body, bytes, where a route does not say otherwise. */
const LONGEST_BODY = 1024 * 1024;

/** The HTTP application; it does not listen by itself. Bodies are JSON, errors `{statusCode, error, message}`. */
export function buildApi(
  source: ApiSource,
  metrics: Registry,
  log: FastifyBaseLogger,
  options: ApiOptions,
): FastifyInstance {
  const settings = {
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: LONGEST_BODY,
    requestTimeout: 30_000,
    connectionTimeout: 60_000,
    keepAliveTimeout: 20_000,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: 256, ignoreTrailingSlash: true },
    // A misspelt parameter is an error, not something to ignore.
    ajv: { customOptions: { removeAdditional: false } },
    frameworkErrors: (error: Error & { statusCode?: number }, _request: unknown, reply: FastifyReply) =>
      void refuse(reply, error),
  } as const;
  // The two differ in the type of the server below, which nothing here depends on.
  const app = (
    options.tls ? Fastify({ ...settings, https: { minVersion: "TLSv1.2", ...options.tls } }) : Fastify(settings)
  ) as FastifyInstance;
  app.server.maxConnections = 1024;

  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    if (statusOf(error) >= 500 && !(error instanceof Unavailable)) request.log.error({ err: error }, "request failed");
    return refuse(reply, error);
  });
  app.setNotFoundHandler((request, reply) =>
    refuse(
      reply,
      Object.assign(new Error(`there is nothing at ${request.method} ${request.url}`), { statusCode: 404 }),
    ),
  );
  guard(app, options.access ?? {});
  openApiRoutes(app, options.version);

  app.get("/healthz", { config: { open: true } }, async () => ({ status: "ok" }));
  app.get("/readyz", { config: { open: true } }, async (_request, reply) =>
    source.ready() ? { status: "ready" } : reply.code(503).send({ status: "not ready" }),
  );
  app.get("/metrics", async (_request, reply) => reply.type(metrics.contentType).send(await metrics.metrics()));
  nativeRoutes(app, source);
  topologyRoutes(app, source);
  traceRoutes(app, source);
  if (options.events) eventRoutes(app, options.events, { ...DEFAULT_STREAM, ...options.stream });
  options.more?.(app);
  return app;
}

const statusOf = (error: { statusCode?: number }): number => error.statusCode ?? 500;

/** Says what is wrong, unless that is our own fault, which nobody outside needs to know the inside of. */
function refuse(reply: FastifyReply, error: Error & { statusCode?: number }): FastifyReply {
  const statusCode = statusOf(error);
  if (error instanceof Unavailable) reply.header("retry-after", error.retryAfter);
  const hidden = statusCode >= 500 && !(error instanceof Unavailable);
  return reply.code(statusCode).send({
    statusCode,
    error: STATUS_CODES[statusCode] ?? "Error",
    message: hidden ? "internal error; the log says more" : error.message,
  });
}
