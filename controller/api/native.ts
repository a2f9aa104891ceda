import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { operation } from "./operation.ts";
import { list } from "./schema.ts";
import type { ApiSource } from "./server.ts";
import {
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

/** A query that allows one parameter; others are refused, so that a typing error is not taken for "all". */
const only = (name: string, description: string) =>
  Type.Object({ [name]: Type.Optional(Type.String({ description })) }, { additionalProperties: false });
const nothing = Type.Object({}, { additionalProperties: false });
const MemberParams = Type.Object({
  member: Type.String({ description: "its name, id or uuid, or POOL/NAME", maxLength: 200 }),
});

interface Query {
  Querystring: Readonly<Record<string, string | undefined>>;
}

/** What the daemon knows and does, under `/v1`. */
export function nativeRoutes(app: FastifyInstance, source: ApiSource): void {
  app.get(
    "/v1/status",
    operation({ tag: "state", summary: "The daemon and its switches", query: nothing, answer: StatusView }),
    async () => source.status(),
  );
  app.get(
    "/v1/segments",
    operation({
      tag: "state",
      summary: "Segments with the addresses in them",
      query: nothing,
      answer: list(SegmentView),
    }),
    async () => source.segments(),
  );
  app.get(
    "/v1/ports",
    operation({
      tag: "state",
      summary: "Ports of the bridges, and which segment each belongs to",
      query: nothing,
      answer: list(PortView),
    }),
    async () => source.ports(),
  );
  app.get(
    "/v1/neighbours",
    operation({
      tag: "state",
      summary: "Next hops and their MAC addresses, as ARP found them",
      query: nothing,
      answer: list(NeighbourView),
    }),
    async () => source.neighbours(),
  );
  app.get<Query>(
    "/v1/flows",
    operation({
      tag: "flows",
      summary: "Flows of the switches with what each is for",
      query: only("table", "number or name of a table; all of them unless told"),
      answer: list(FlowView),
    }),
    async (request) => source.flows(request.query["table"]),
  );
  app.get(
    "/v1/plan",
    operation({
      tag: "flows",
      summary: "What the next round would change on the switches",
      details: "Empty when all is in place.",
      query: nothing,
      answer: list(PlanView),
    }),
    async () => source.plan(),
  );
  balancingRoutes(app, source);
}

/** What probes found is not what was changed. */
const withoutProbes = ({ nodes: _, ...member }: MemberHealthView) => member;

function balancingRoutes(app: FastifyInstance, source: ApiSource): void {
  const pool = only("pool", "name or id of a pool; all of them unless told");
  app.get<Query>(
    "/v1/slots",
    operation({
      tag: "balancing",
      summary: "How the slots of each pool are shared, with counters",
      query: pool,
      answer: list(SlotsView),
    }),
    async (request) => source.slots(request.query["pool"]),
  );
  app.get<Query>(
    "/v1/health",
    operation({
      tag: "balancing",
      summary: "Health of the members, as the probes find it",
      query: pool,
      answer: list(HealthView),
      refusals: { 404: "There is no such pool" },
    }),
    async (request) => source.health(request.query["pool"]),
  );
  for (const [verb, drain, summary] of [
    ["drain", true, "Give a member no new connections; probes go on"],
    ["enable", false, "End a member's draining"],
  ] as const) {
    app.post<{ Params: { member: string } }>(
      `/v1/members/:member/${verb}`,
      operation({
        tag: "balancing",
        summary,
        details: "Answers once it is on disk, and outlives restarts.",
        params: MemberParams,
        answer: MemberHealthView,
        refusals: { 404: "There is no such member", 409: "The name fits several members, or the member is disabled" },
      }),
      async (request) => {
        const { before, after } = await source.setDrain(request.params.member, drain, request.who);
        request.audited = { before: withoutProbes(before), after: withoutProbes(after) };
        return after;
      },
    );
  }
}
