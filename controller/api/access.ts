import { isIP } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Publish } from "../events.ts";
import type { AuditLog } from "./audit.ts";
import { type Rate, RateLimit } from "./rate-limit.ts";
import { Forbidden, Misdirected, TooManyRequests, Unauthorized } from "./refusals.ts";
import { type Principal, principalOf } from "./tokens.ts";

/** Who may do what, and what is written down of it. */
export interface AccessOptions {
  /** The tokens as they are now; undefined: nobody is asked for one. */
  readonly tokens?: () => readonly Principal[];
  /**
   * Answer only those who name this host as loopback. A page elsewhere whose name points here (DNS rebinding) would
   * otherwise have the browser of somebody on this machine as its hand.
   */
  readonly loopbackOnly?: boolean;
  readonly audit?: AuditLog;
  readonly publish?: Publish;
  /** What a request is about, as it is now; asked before and after a change. */
  readonly viewOf?: (request: FastifyRequest) => unknown;
  /** Per address of a caller. */
  readonly rates?: { readonly requests: Rate; readonly changes: Rate; readonly failures: Rate };
}

const DEFAULT_RATES = {
  requests: { burst: 600, perSecond: 200 },
  changes: { burst: 200, perSecond: 50 },
  failures: { burst: 10, perSecond: 0.5 },
} as const satisfies NonNullable<AccessOptions["rates"]>;

declare module "fastify" {
  interface FastifyRequest {
    /** Name of the caller's token; "anonymous" where none is asked for. */
    who: string;
    /** What the request is about, before and after it, for the audit log. */
    audited: { before?: unknown; after?: unknown };
  }
  interface FastifyContextConfig {
    /** A POST that changes nothing: for read-only callers, and not written down. */
    reads?: boolean;
    /** Needs no token: it tells nothing that one must not know, or browsers ask for it before they have one. */
    open?: boolean;
  }
}

const SAFE = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);
const ANONYMOUS = "anonymous";

/** Whether a request wants to change something. */
const changes = (request: FastifyRequest): boolean =>
  !SAFE.has(request.method) && request.routeOptions.config.reads !== true;

/** Hooks before and behind all routes of `app`: call it before they are registered. */
export function guard(app: FastifyInstance, options: AccessOptions): void {
  const rates = options.rates ?? DEFAULT_RATES;
  const requests = new RateLimit(rates.requests);
  const changing = new RateLimit(rates.changes);
  const failures = new RateLimit(rates.failures);
  app.decorateRequest("who", ANONYMOUS);
  app.decorateRequest("audited");

  app.addHook("onRequest", async (request, reply) => {
    request.audited = {};
    securityHeaders(reply);
    if (options.loopbackOnly) requireLoopbackName(request.headers.host);
    const open = request.routeOptions.config.open === true;
    if (!open) requireTurn(reply, requests.take(request.ip));
    if (changes(request)) {
      requireTurn(reply, changing.take(request.ip));
      requireSameOrigin(request);
    }
    const tokens = options.tokens?.();
    if (tokens === undefined || open) return;
    requireTurn(reply, failures.wait(request.ip));
    const given = tokenOf(request);
    const principal = given === undefined ? undefined : principalOf(tokens, given);
    if (!principal) {
      if (given !== undefined) failures.take(request.ip);
      reply.header("www-authenticate", 'Bearer realm="openflow-lb"');
      throw new Unauthorized(
        given === undefined
          ? "a token is needed: Authorization: Bearer TOKEN, or X-Auth-Token: TOKEN"
          : "the token is not known",
      );
    }
    request.who = principal.name;
    if (principal.role !== "admin" && changes(request)) {
      throw new Forbidden(`the token of ${principal.name} is read-only`);
    }
  });

  app.addHook("preHandler", async (request) => {
    if (changes(request)) request.audited.before = options.viewOf?.(request);
  });
  app.addHook("onSend", async (request, reply, payload) => {
    try {
      if (changes(request)) writeDown(options, request, reply, payload);
    } catch (e) {
      // The change is made; its answer must not say otherwise.
      request.log.error({ err: e }, "a change could not be written to the audit log");
    }
    return payload;
  });
}

/** Nothing here is to be embedded, guessed at, or sent on. */
function securityHeaders(reply: FastifyReply): void {
  reply.headers({
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
  });
}

function requireTurn(reply: FastifyReply, seconds: number): void {
  if (seconds === 0) return;
  // Set here, since the API of OpenStack has its own way to say what is wrong.
  reply.header("retry-after", seconds);
  throw new TooManyRequests("too many requests; try again later", seconds);
}

/** `Authorization: Bearer` (RFC 6750) or OpenStack's `X-Auth-Token`. */
function tokenOf(request: FastifyRequest): string | undefined {
  const bearer = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? "")?.[1];
  if (bearer !== undefined) return bearer;
  const header = request.headers["x-auth-token"];
  return typeof header === "string" && header !== "" ? header : undefined;
}

/** Whether an address or a name means this machine and no other. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  if (isIP(bare) === 4) return bare.startsWith("127.");
  if (isIP(bare) === 6) return bare === "::1";
  return bare === "localhost" || bare.endsWith(".localhost");
}

function requireLoopbackName(header: string | undefined): void {
  const name = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]*)(?::\d{1,5})?$/.exec(header ?? "")?.[1];
  if (name !== undefined && isLoopback(name)) return;
  throw new Misdirected("the Host header does not name this machine; use localhost or 127.0.0.1");
}

/** Browsers say where a page is from that sends a change; programs say nothing. */
function requireSameOrigin(request: FastifyRequest): void {
  const { origin, host } = request.headers;
  const site = request.headers["sec-fetch-site"];
  const foreign =
    (origin !== undefined && !isOriginOf(origin, host)) ||
    (site !== undefined && site !== "same-origin" && site !== "none");
  if (foreign) throw new Forbidden("a page from elsewhere may not change anything here");
}

function isOriginOf(origin: string, host: string | undefined): boolean {
  try {
    return new URL(origin).host === new URL(`${new URL(origin).protocol}//${host}`).host;
  } catch {
    return false;
  }
}

/** Longest object that is written down whole, characters of JSON. */
const LONGEST = 16 * 1024;

function writeDown(options: AccessOptions, request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  const { method } = request;
  const path = (request.raw.url ?? "").split("?")[0] as string;
  const status = reply.statusCode;
  const ok = status < 400;
  const { audited } = request;
  let after = audited.after;
  if (ok && after === undefined) after = options.viewOf?.(request) ?? answerOf(payload);
  // An unauthenticated stranger could otherwise fill the disk.
  const isRefusal = status === 401 || status === 403 || status === 421 || status === 429;
  if (isRefusal) return;
  options.audit?.write({
    at: new Date().toISOString(),
    who: request.who,
    from: request.ip,
    method,
    path,
    status,
    before: short(audited.before),
    after: ok ? short(after) : null,
  });
  options.publish?.({
    kind: "change",
    level: ok ? "info" : "warn",
    text: `${request.who}: ${method} ${path} ${ok ? "done" : `refused (${status})`}`,
    data: { who: request.who, method, path, status },
  });
}

function answerOf(payload: unknown): unknown {
  if (typeof payload !== "string" || payload.length > LONGEST) return undefined;
  try {
    return JSON.parse(payload);
  } catch {
    return undefined;
  }
}

function short(value: unknown): unknown {
  if (value === undefined) return null;
  const text = JSON.stringify(value) ?? "null";
  return text.length <= LONGEST ? value : { shortened: text.slice(0, LONGEST) };
}
