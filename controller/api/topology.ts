import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { operation } from "./operation.ts";
import { BadRequest, PreconditionFailed, PreconditionRequired } from "./refusals.ts";
import { integer, list, named, text, type View } from "./schema.ts";
import { PlanView } from "./views.ts";

/** One thing that is wrong in a topology file. */
const FaultView = named("TopologyFault", "Something that is wrong in a topology file.", {
  line: integer("from 1"),
  column: integer("from 1"),
  field: text('the place as a path, such as "segments[1].gateway.ip"; empty for the file as a whole'),
  message: text("what is wrong, and what would be right"),
});
export type FaultView = View<typeof FaultView>;

/** A topology file that is refused, with everything that is wrong in it. */
export class FaultyTopology extends BadRequest {
  readonly faults: readonly FaultView[];

  constructor(faults: readonly FaultView[]) {
    const [first] = faults;
    super(
      `the topology has ${faults.length === 1 ? "an error" : `${faults.length} errors`}; ` +
        `line ${first?.line}: ${first?.field ? `${first.field}: ` : ""}${first?.message}`,
    );
    this.faults = faults;
  }
}

/** What these routes show and change. */
export interface TopologySource {
  /** The topology file as it is on disk. @throws Conflict when it cannot be read */
  topologyText(): string;
  /**
   * Checks a text, makes it the file, and puts it in force.
   * @throws FaultyTopology, Conflict when the file cannot be written
   */
  setTopologyText(text: string, who: string): Promise<void>;
  /** What the switches would be changed by, were the text in force. @throws FaultyTopology */
  planFor(text: string): Promise<readonly PlanView[]>;
}

/** Bytes, as for the file itself. */
const LONGEST = 4 * 1024 * 1024;
const YAML = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/plain"];

const etagOf = (content: string): string => `"${createHash("sha256").update(content).digest("hex").slice(0, 32)}"`;

/** GET and PUT `/v1/topology`: the file as text. POST `/v1/plan`: what a text would change. */
export function topologyRoutes(app: FastifyInstance, source: TopologySource): void {
  void app.register(async (scope) => {
    scope.addContentTypeParser(YAML, { parseAs: "buffer", bodyLimit: LONGEST }, (_request, body, done) => {
      try {
        done(null, new TextDecoder("utf-8", { fatal: true }).decode(body as Buffer));
      } catch {
        done(new BadRequest("the text is not valid UTF-8"), undefined);
      }
    });
    scope.setErrorHandler((error: Error, _request, reply) => {
      if (!(error instanceof FaultyTopology)) throw error;
      return reply
        .code(400)
        .send({ statusCode: 400, error: "Bad Request", message: error.message, errors: error.faults });
    });
    scope.get(
      "/v1/topology",
      operation({
        tag: "topology",
        summary: "The topology file",
        details: "The text as it is on disk, comments and all. Its ETag is for a PUT.",
        answer: Type.String(),
        answerType: "application/yaml",
        refusals: { 409: "The file cannot be read" },
      }),
      async (request, reply) => {
        const content = source.topologyText();
        const etag = etagOf(content);
        reply.header("etag", etag).header("cache-control", "no-cache");
        if (names(request.headers["if-none-match"], etag)) return reply.code(304).send();
        return reply.type("application/yaml; charset=utf-8").send(content);
      },
    );
    scope.put(
      "/v1/topology",
      operation({
        tag: "topology",
        summary: "Replace the topology file, and put it in force",
        details:
          "The text is checked like the file at the start; one with an error changes nothing. " +
          "If-Match must have the ETag of the text that is to be replaced, or *.",
        body: Type.String(),
        bodyType: "application/yaml",
        headers: { "If-Match": "ETag of the text that is replaced, or *" },
        answer: Type.Object({ etag: text("of the new text") }),
        refusals: {
          400: "The text has errors; `errors` lists all of them",
          409: "The file cannot be read or written",
          412: "The file is not the one that If-Match names",
          428: "If-Match is missing",
        },
        bodyLimit: LONGEST,
      }),
      async (request, reply) => {
        const content = bodyText(request);
        const before = source.topologyText();
        const wanted = request.headers["if-match"];
        if (wanted === undefined) {
          throw new PreconditionRequired("If-Match is missing: it says which text is to be replaced (its ETag, or *)");
        }
        if (!names(wanted, etagOf(before))) {
          throw new PreconditionFailed("the topology has changed meanwhile: get it again");
        }
        await source.setTopologyText(content, request.who);
        request.audited = changedPart(before, content);
        const etag = etagOf(content);
        return reply.header("etag", etag).send({ etag });
      },
    );
    scope.post(
      "/v1/plan",
      operation({
        tag: "flows",
        summary: "What a topology would change on the switches, without doing it",
        body: Type.String(),
        bodyType: "application/yaml",
        answer: list(PlanView),
        refusals: { 400: "The text has errors; `errors` lists all of them" },
        config: { reads: true },
        bodyLimit: LONGEST,
      }),
      async (request) => source.planFor(bodyText(request)),
    );
  });
}

function bodyText(request: FastifyRequest): string {
  if (typeof request.body !== "string" || request.body === "") {
    throw new BadRequest("the body must be the topology as YAML (Content-Type: application/yaml)");
  }
  return request.body;
}

/** Whether a list of ETags (RFC 9110 §8.8.3, §13.1) has this one. */
function names(header: string | undefined, etag: string): boolean {
  return (header ?? "").split(",").some((part) => part.trim() === "*" || part.trim().replace(/^W\//, "") === etag);
}

/** The lines between what both texts begin and end with: enough to see a change, and to undo it by hand. */
function changedPart(before: string, after: string): { before: unknown; after: unknown } {
  const a = before.split("\n");
  const b = after.split("\n");
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const part = (lines: string[]) => ({ fromLine: start + 1, lines: lines.slice(start, lines.length - end) });
  return { before: part(a), after: part(b) };
}
