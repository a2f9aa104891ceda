import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { operation } from "./operation.ts";
import { list } from "./schema.ts";
import { FdbView, TraceView } from "./trace-views.ts";

const port = (description: string) => Type.Integer({ minimum: 0, maximum: 65_535, description });

/** What may be asked of `/v1/trace`, as a query or as a body. Either `packet`, or `src` and `dst`. */
const TraceQuestion = Type.Object(
  {
    src: Type.Optional(Type.String({ description: "address of the sender" })),
    dst: Type.Optional(Type.String({ description: "address it sends to" })),
    proto: Type.Optional(
      Type.Enum(["tcp", "udp", "icmp"], { description: "tcp with a port, icmp without, unless told" }),
    ),
    sport: Type.Optional(port("port of the sender, 40000 unless told")),
    dport: Type.Optional(port("port it sends to")),
    ttl: Type.Optional(Type.Integer({ minimum: 0, maximum: 255, description: "64 unless told" })),
    segment: Type.Optional(Type.String({ description: "name of the segment it comes in by" })),
    port: Type.Optional(Type.String({ description: "name of the port it comes in by" })),
    packet: Type.Optional(Type.String({ description: "any packet, as an exact match in ovs-ofctl's words" })),
    state: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 32,
        description: "what conntrack says at its first, second … look: est,rpl",
      }),
    ),
    reply: Type.Optional(Type.Boolean({ description: "follow the answer instead" })),
    node: Type.Optional(Type.String({ description: "name of the node; the first one unless told" })),
  },
  { additionalProperties: false },
);

export type TraceQuestion = Static<typeof TraceQuestion>;

const FdbQuestion = Type.Object(
  { segment: Type.Optional(Type.String({ description: "name of a segment; all of them unless told" })) },
  { additionalProperties: false },
);
type FdbQuestion = Static<typeof FdbQuestion>;

/** What these routes show. */
export interface TraceSource {
  /** @throws BadRequest for a question that no packet answers to */
  trace(question: TraceQuestion): Promise<TraceView>;
  /** @param segment name of a segment; undefined for all */
  fdb(segment: string | undefined): Promise<readonly FdbView[]>;
}

/** GET and POST `/v1/trace`: a packet's way through the tables. GET `/v1/fdb`: what the switches have learned. */
export function traceRoutes(app: FastifyInstance, source: TraceSource): void {
  const trace = {
    tag: "flows",
    summary: "The way of a packet through the tables",
    details:
      "The packet is given by its addresses, or whole as `packet`. It is followed through the flows that are wanted " +
      "and those that the switch has learned; nothing is sent.",
    answer: TraceView,
  };
  app.get<{ Querystring: TraceQuestion }>("/v1/trace", operation({ ...trace, query: TraceQuestion }), async (request) =>
    source.trace(request.query),
  );
  app.post<{ Body: TraceQuestion }>(
    "/v1/trace",
    operation({ ...trace, body: TraceQuestion, config: { reads: true } }),
    async (request) => source.trace(request.body),
  );
  app.get<{ Querystring: FdbQuestion }>(
    "/v1/fdb",
    operation({ tag: "state", summary: "What the switches have learned", query: FdbQuestion, answer: list(FdbView) }),
    async (request) => source.fdb(request.query.segment),
  );
}
