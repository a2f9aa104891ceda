/**
 * The API of OpenStack's load balancing service (Octavia v2) as a fastify plugin, for load balancers on layer 4.
 *
 * Everything hangs both at the root and under `/load-balancer`, as different clouds have it. What the plugin cannot do it
 * refuses in the words of Octavia; whatever happens, the answer is JSON and never 500.
 */
import { randomUUID } from "node:crypto";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { StoreUnavailable } from "../store/store.ts";
import { longestBody, parseBody } from "./body.ts";
import { catalogueRoutes } from "./catalogue-routes.ts";
import type { OctaviaDeps } from "./deps.ts";
import { Fault, notFound, PlainFault } from "./fault.ts";
import type { Query } from "./lists.ts";
import { type LookupKind, lookup, projectView } from "./lookups.ts";
import { memberRoutes } from "./member-routes.ts";
import { objectPaths, objectRoutes } from "./object-routes.ts";
import { origin, type Session, sessionOf } from "./session.ts";
import { versionDocument } from "./versions.ts";

const mounts = ["", "/load-balancer"] as const;

/**
 * Registers the API. Access control is for hooks of the instance around it, and so is whether a slash at the end of a path
 * counts (`routerOptions.ignoreTrailingSlash`; in Octavia it does not).
 */
export const octaviaRoutes = async (app: FastifyInstance, deps: OctaviaDeps): Promise<void> => {
  const session = sessionOf(deps);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "*",
    { parseAs: "buffer", bodyLimit: longestBody },
    async (request: FastifyRequest, data: Buffer) => parseBody(request.headers["content-type"], data),
  );
  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-openstack-request-id", `req-${randomUUID()}`);
    if (request.routeOptions.config.page !== true && !acceptsJson(request)) {
      throw new PlainFault(406, "Not Acceptable", "Only application/json can be answered.");
    }
  });
  app.setErrorHandler((error: FastifyError, request, reply) => answerFault(faultOf(error, request), reply));

  for (const mount of mounts) {
    rootRoutes(app, deps, mount);
    lookupRoutes(app, deps, session, mount);
    for (const version of ["/v2", "/v2.0"]) {
      await app.register(async (scope) => lbaas(scope, session, deps), { prefix: `${mount}${version}/lbaas` });
    }
  }
};

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route has a page for browsers, too. */
    page?: boolean;
  }
}

const wants = (request: FastifyRequest, form: RegExp): boolean => form.test(request.headers.accept ?? "");

const acceptsJson = (request: FastifyRequest): boolean =>
  (request.headers.accept ?? "").trim() === "" || wants(request, /\*\/\*|application\/(?:\*|(?:[\w.-]+\+)?json)/i);

const answerFault = (fault: Fault, reply: FastifyReply) =>
  reply.code(fault.status).type("application/json").send(fault.body());

/** Whatever was thrown, as a refusal. */
const faultOf = (error: FastifyError, request: FastifyRequest): Fault => {
  if (error instanceof Fault) return error;
  if (error instanceof StoreUnavailable) {
    request.log.error({ err: error }, "a change was refused");
    return new Fault(error.full ? 507 : 503, `The change was not made: ${error.message}`);
  }
  const { statusCode } = error;
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) return new Fault(statusCode, error.message);
  request.log.error({ err: error }, "a request failed");
  return new Fault(503, "The request could not be handled; the log says more.");
};

const rootRoutes = (app: FastifyInstance, deps: OctaviaDeps, mount: string): void => {
  const { webPage } = deps;
  const versions = (request: FastifyRequest): object => versionDocument(`${origin(request)}${mount}`);
  const root = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    if (webPage !== undefined && wants(request, /text\/html/i)) return webPage(request, reply);
    return versions(request);
  };
  app.get(mount === "" ? "/" : mount, { config: { page: true, open: true } }, root);
  for (const path of ["/v2", "/v2.0", "/v2/lbaas", "/v2.0/lbaas"]) {
    app.get(`${mount}${path}`, async (_request, reply) => reply.type("application/json").send('"v2"'));
  }
};

interface WithQuery {
  readonly Querystring: Query;
  readonly Params: { readonly id: string };
}

const lookupRoutes = (app: FastifyInstance, deps: OctaviaDeps, session: Session, mount: string): void => {
  const kinds: readonly (readonly [string, LookupKind])[] = [
    ["subnets", "subnets"],
    ["networks", "networks"],
    ["ports", "ports"],
    ["qos/policies", "policies"],
  ];
  for (const [path, kind] of kinds) {
    for (const ending of ["", ".json"]) {
      app.get<WithQuery>(`${mount}/v2.0/${path}${ending}`, async (request) =>
        lookup(kind, deps.topology(), session.project(request), request.query),
      );
    }
  }
  app.get<WithQuery>(`${mount}/projects/:id`, async (request) => projectView(request.params.id));
  app.get(`${mount}/healthcheck`, async () => ({ detailed: false, reasons: [] }));
  for (const version of ["/v2", "/v2.0"]) {
    app.get(`${mount}${version}/octavia/amphorae`, async () => ({ amphorae: [], amphorae_links: [] }));
    app.get<WithQuery>(`${mount}${version}/octavia/amphorae/:id`, async (request) => {
      throw notFound("Amphora", request.params.id);
    });
  }
};

const lbaas = (scope: FastifyInstance, session: Session, deps: OctaviaDeps): void => {
  objectRoutes(scope, session);
  memberRoutes(scope, session);
  catalogueRoutes(scope, session, deps);
  for (const plural of [...objectPaths, "pools/:pool/members"]) {
    scope.options(`/${plural}`, async (_request, reply) => reply.code(200).send());
  }
  scope.setNotFoundHandler(async (request, reply) => answerFault(missing(request), reply));
};

/** Nothing at this path, or nothing for this method. */
const missing = (request: FastifyRequest): Fault => {
  const path = (request.raw.url ?? "")
    .split("?")[0]!
    .replace(/^.*?\/lbaas\//, "")
    .replace(/\/$/, "");
  const [name = "", id, ...more] = path.split("/");
  const known = objectPaths.includes(name) && more.length === 0;
  if (!known) return new PlainFault(404, "Not Found", "");
  if (id === undefined && (request.method === "PUT" || request.method === "DELETE"))
    return new Fault(400, 'Missing argument: "id"');
  return new PlainFault(405, "Method Not Allowed", "");
};
