import type { FastifyInstance, RouteOptions } from "fastify";
import type { TSchema } from "typebox";
import { docsPage } from "./docs-page.ts";
import type { Operation } from "./operation.ts";

/** An OpenAPI 3.1 document, as far as this API needs one. */
export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: Readonly<Record<string, unknown>>;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly securitySchemes: Readonly<Record<string, unknown>>;
  };
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
}

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface OpenApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters: readonly OpenApiParameter[];
  readonly requestBody?: {
    readonly required: true;
    readonly content: Readonly<Record<string, { schema: JsonSchema }>>;
  };
  readonly responses: Readonly<
    Record<string, { description: string; content?: Readonly<Record<string, { schema: JsonSchema }>> }>
  >;
}

export interface OpenApiParameter {
  readonly name: string;
  readonly in: "query" | "path" | "header";
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
}

const TAGS = {
  state: "The daemon, its switches, and what they know",
  balancing: "Pools, members, slots and health",
  flows: "Flows, what the next round would change, and the way of a packet",
  topology: "The topology file",
  events: "What happens, as it happens",
} as const;

/** Answers that any request may get. */
const COMMON: Readonly<Record<number, string>> = {
  400: "The request is wrong; the message says what is",
  401: "No token or an unknown one, where tokens are asked for",
  403: "The token is read-only, or a page from elsewhere asks for a change",
  429: "Too many requests; Retry-After says when to come back",
};

/**
 * Collects the routes that are registered after this call and carry an {@link Operation}, and serves what comes of it:
 * `/v1/openapi.json`, and `/v1/docs` for people.
 */
export function openApiRoutes(app: FastifyInstance, version: string): void {
  const routes: { readonly method: string; readonly url: string; readonly op: Operation }[] = [];
  app.addHook("onRoute", (route: RouteOptions) => {
    const op = route.config?.operation;
    if (op === undefined) return;
    for (const method of [route.method].flat()) {
      if (method !== "HEAD") routes.push({ method: method.toLowerCase(), url: route.url, op });
    }
  });
  let document: OpenApiDocument | undefined;
  let page: string | undefined;
  const make = (): OpenApiDocument => {
    document ??= describeRoutes(routes, version);
    return document;
  };
  const open = { config: { open: true } };
  app.get("/v1/openapi.json", open, async () => make());
  app.get("/v1/docs", open, async (_request, reply) => {
    page ??= docsPage(make());
    return reply
      .type("text/html; charset=utf-8")
      .header("content-security-policy", "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'")
      .send(page);
  });
}

function describeRoutes(
  routes: readonly { readonly method: string; readonly url: string; readonly op: Operation }[],
  version: string,
): OpenApiDocument {
  const schemas: Record<string, JsonSchema> = {
    Refusal: {
      type: "object",
      description: "Why a request was refused.",
      required: ["statusCode", "error", "message"],
      properties: {
        statusCode: { type: "integer" },
        error: { type: "string", description: "the status in words" },
        message: { type: "string", description: "what is wrong, for people" },
      },
    },
  };
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const { method, url, op } of routes) {
    const path = url.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [method]: describeOperation(method, path, op, schemas) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "openflow-lb",
      version,
      summary: "Native API of the load-balancing node",
      description:
        "Everything is JSON unless told otherwise. Counters are decimal strings, since they may be larger than a " +
        "JavaScript number is exact. A refusal is a `Refusal`.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas,
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "A token of the daemon's token file." },
        token: { type: "apiKey", in: "header", name: "X-Auth-Token", description: "The same, as OpenStack sends it." },
      },
    },
    security: [{}, { bearer: [] }, { token: [] }],
  };
}

function describeOperation(
  method: string,
  path: string,
  op: Operation,
  schemas: Record<string, JsonSchema>,
): OpenApiOperation {
  const ref = (schema: TSchema): JsonSchema => hoist(schema as unknown as JsonSchema, schemas);
  const refusal = { "application/json": { schema: { $ref: "#/components/schemas/Refusal" } } };
  const refusals = Object.entries({ ...COMMON, ...op.refusals }).map(
    ([status, description]) => [status, { description, content: refusal }] as const,
  );
  return {
    operationId: `${method}${path.replace(/[^A-Za-z0-9]+(\w)/g, (_all, next: string) => next.toUpperCase()).replace(/\W/g, "")}`,
    tags: [op.tag],
    summary: op.summary,
    ...(op.details === undefined ? {} : { description: op.details }),
    parameters: [
      ...parameters("path", op.params),
      ...parameters("query", op.query),
      ...Object.entries(op.headers ?? {}).map(
        ([name, description]): OpenApiParameter => ({
          name,
          in: "header",
          required: false,
          description,
          schema: { type: "string" },
        }),
      ),
    ],
    ...(op.body === undefined
      ? {}
      : {
          requestBody: { required: true, content: { [op.bodyType ?? "application/json"]: { schema: ref(op.body) } } },
        }),
    responses: {
      200: { description: "Done", content: { [op.answerType ?? "application/json"]: { schema: ref(op.answer) } } },
      ...Object.fromEntries(refusals),
    },
  };
}

function parameters(where: "query" | "path", schema: TSchema | undefined): OpenApiParameter[] {
  // The only schemas used for these are objects.
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: where,
    required: where === "path" || required.includes(name),
    description: String(description ?? ""),
    schema: plain(rest),
  }));
}

/** A copy in which each schema with a title is a reference to `components.schemas`. */
function hoist(schema: JsonSchema, into: Record<string, JsonSchema>): JsonSchema {
  const { title } = schema;
  if (typeof title !== "string") return mapSchema(schema, into);
  // The place is taken first: a schema may hold itself.
  if (into[title] === undefined) {
    into[title] = {};
    into[title] = mapSchema(schema, into);
  }
  return { $ref: `#/components/schemas/${title}` };
}

function mapSchema(schema: JsonSchema, into: Record<string, JsonSchema>): JsonSchema {
  const inner = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inner);
    return typeof value === "object" && value !== null ? hoist(value as JsonSchema, into) : value;
  };
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, inner(value)]));
}

/** Without what the schema library adds for itself. */
const plain = (schema: JsonSchema): JsonSchema => JSON.parse(JSON.stringify(schema)) as JsonSchema;
