import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Nothing from elsewhere, nothing inline, nowhere else to send to. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

interface StaticFile {
  readonly content: Buffer;
  readonly type: string;
  readonly etag: string;
}

/** The web page's files. They are small and few: they are read once and kept. */
export interface WebPage {
  /** Routes for all files but the page itself. */
  routes(app: FastifyInstance): void;
  /** Answers with the page. */
  page(request: FastifyRequest, reply: FastifyReply): FastifyReply;
}

/** The files of a folder, under `/dashboard/`. @throws Error when it cannot be read */
export function webPage(folder = fileURLToPath(new URL("./dashboard/", import.meta.url))): WebPage {
  const files = new Map<string, StaticFile>();
  for (const name of readdirSync(folder)) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const content = readFileSync(`${folder}/${name}`);
    const etag = `"${createHash("sha256").update(content).digest("hex").slice(0, 32)}"`;
    files.set(name, { content, type, etag });
  }
  const index = files.get("index.html");
  if (index === undefined) throw new Error(`${folder} has no index.html`);
  return {
    routes: (app) => {
      for (const [name, file] of files) {
        app.get(`/dashboard/${name}`, { config: { open: true } }, async (request, reply) =>
          answer(file, request, reply),
        );
      }
    },
    page: (request, reply) => answer(index, request, reply),
  };
}

function answer(file: StaticFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers({
    etag: file.etag,
    // Kept, but asked about each time: after an update nobody has half of the old page.
    "cache-control": "no-cache",
    "content-security-policy": POLICY,
    vary: "Accept",
  });
  const known = (request.headers["if-none-match"] ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  if (known.includes(file.etag)) return reply.code(304).send();
  return reply.type(file.type).send(file.content);
}
