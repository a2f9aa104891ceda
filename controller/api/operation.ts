import type { FastifyContextConfig, FastifySchema, FastifySchemaValidationError } from "fastify";
import type { TSchema } from "typebox";

/** What a route takes and answers, for the router's checks and for the API's document at once. */
export interface Operation {
  readonly tag: string;
  /** One line. */
  readonly summary: string;
  readonly details?: string;
  readonly query?: TSchema;
  readonly params?: TSchema;
  readonly body?: TSchema;
  /** Media type of the body; JSON unless told. */
  readonly bodyType?: string;
  /** What the answer holds. */
  readonly answer: TSchema;
  /** Media type of the answer; JSON unless told. */
  readonly answerType?: string;
  /** Refusals beside those any request may get: status and what it means. */
  readonly refusals?: Readonly<Record<number, string>>;
  /** Further headers of the request, by name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** See `FastifyContextConfig` in access.ts. */
  readonly config?: Omit<FastifyContextConfig, "operation">;
  readonly bodyLimit?: number;
}

declare module "fastify" {
  interface FastifyContextConfig {
    operation?: Operation;
  }
}

/** Longest time a request may take, ms. A stream is none of those. */
const LONGEST_MS = 30_000;

/** The options of a route for `app.get` and the like. */
export function operation(op: Operation) {
  const isStream = op.answerType === "text/event-stream";
  const schema: FastifySchema = {
    ...(op.query ? { querystring: op.query } : {}),
    ...(op.params ? { params: op.params } : {}),
    ...(op.body && op.bodyType === undefined ? { body: op.body } : {}),
  };
  return {
    schema,
    config: { ...op.config, operation: op },
    schemaErrorFormatter: (errors: FastifySchemaValidationError[], where: string) => schemaFault(errors, where, op),
    ...(op.bodyLimit === undefined ? {} : { bodyLimit: op.bodyLimit }),
    ...(isStream ? { exposeHeadRoute: false } : { handlerTimeout: LONGEST_MS }),
  };
}

/** The first thing that is wrong with a request, in words, with the names and values that may be used. */
function schemaFault([fault]: readonly FastifySchemaValidationError[], where: string, op: Operation): Error {
  const { additionalProperty, allowedValues } = (fault?.params ?? {}) as {
    readonly additionalProperty?: string;
    readonly allowedValues?: readonly string[];
  };
  if (additionalProperty !== undefined) {
    const known = (where === "querystring" ? op.query : op.body) as { properties?: object } | undefined;
    const allowed = Object.keys(known?.properties ?? {}).join(", ") || "none";
    return new Error(`unknown parameter "${additionalProperty}" (allowed: ${allowed})`);
  }
  const name = fault?.instancePath.slice(1).replaceAll("/", ".") ?? "";
  if (where === "querystring" && fault?.keyword === "type" && fault.params["type"] === "string") {
    return new Error(`${name}: is given more than once`);
  }
  const values = allowedValues === undefined ? (fault?.message ?? "is wrong") : `must be ${allowedValues.join(", ")}`;
  return new Error(`${name || where}: ${values}`);
}
