import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { EVENT_KINDS, type EventBus, type EventKind, type LbEvent } from "../events.ts";
import { operation } from "./operation.ts";
import { Unavailable } from "./refusals.ts";
import { EventView } from "./views.ts";

export interface StreamOptions {
  /** Streams open at a time; one more is refused with 503. */
  readonly clients: number;
  /** Bytes that may wait for a client that does not read; then it is cut off, and may come back with its last id. */
  readonly buffered: number;
  /** Pause between comments that keep the connection open, ms. */
  readonly heartbeatMs: number;
}

export const DEFAULT_STREAM: StreamOptions = { clients: 64, buffered: 256 * 1024, heartbeatMs: 15_000 };

const EventQuery = Type.Object(
  {
    kind: Type.Optional(
      Type.String({
        description: "only events of these kinds, separated by commas",
        pattern: `^(${EVENT_KINDS.join("|")})(,(${EVENT_KINDS.join("|")}))*$`,
      }),
    ),
    after: Type.Optional(
      Type.String({ description: "events after the one with this id, as the Last-Event-ID header", maxLength: 64 }),
    ),
    follow: Type.Optional(
      Type.Boolean({ description: "false: a JSON list of the events that are kept, instead of a stream" }),
    ),
  },
  { additionalProperties: false },
);

/**
 * GET `/v1/events`: server-sent events (WHATWG HTML §9.2). `id` is the event's, `event` its kind, `data` the event as
 * JSON. Without a Last-Event-ID it begins with the events that are kept. A `reset` event says that some are lost.
 */
export function eventRoutes(app: FastifyInstance, bus: EventBus, options: StreamOptions): void {
  const open = new Set<Readable>();
  app.addHook("preClose", async () => {
    for (const stream of open) stream.push(null);
  });
  app.get<{ Querystring: { kind?: string; after?: string; follow?: boolean } }>(
    "/v1/events",
    operation({
      tag: "events",
      summary: "What happens, as it happens",
      details:
        "A stream of server-sent events: `id` is the event's id, `event` its kind, `data` the event as JSON. " +
        "It begins with the events that are kept, or behind the one that Last-Event-ID (or `after`) names. " +
        "An event `reset` says that events between were lost.",
      query: EventQuery,
      answer: Type.Array(EventView),
      answerType: "text/event-stream",
    }),
    async (request, reply) => {
      const kinds = request.query.kind?.split(",") as readonly EventKind[] | undefined;
      const wanted = (e: LbEvent): boolean => kinds === undefined || kinds.includes(e.kind);
      const header = request.headers["last-event-id"];
      const after = request.query.after ?? (typeof header === "string" && header !== "" ? header : undefined);
      const missed = bus.since(after);
      if (request.query.follow === false) return missed.events.filter(wanted);
      if (open.size >= options.clients) throw new Unavailable(`more than ${options.clients} event streams are open`, 5);

      const stream = new Readable({ read: () => undefined });
      const send = (text: string): void => {
        stream.push(text);
        if (stream.readableLength > options.buffered) stream.destroy();
      };
      send(`retry: 1000\n\n`);
      if (after !== undefined && !missed.complete) send("event: reset\ndata: {}\n\n");
      for (const e of missed.events) if (wanted(e)) stream.push(frame(e));
      const end = bus.subscribe((e) => {
        if (wanted(e)) send(frame(e));
      });
      const heartbeat = setInterval(() => send(": still here\n\n"), options.heartbeatMs);
      open.add(stream);
      stream.once("close", () => {
        clearInterval(heartbeat);
        end();
        open.delete(stream);
      });
      return reply
        .type("text/event-stream; charset=utf-8")
        .header("cache-control", "no-store")
        .header("x-accel-buffering", "no")
        .send(stream);
    },
  );
}

/** JSON has no line ends of its own, so one data line does. */
const frame = (e: LbEvent): string => `id: ${e.id}\nevent: ${e.kind}\ndata: ${JSON.stringify(e)}\n\n`;
