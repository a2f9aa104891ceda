/** Routes below a pool. */
import type { FastifyInstance } from "fastify";
import { unwrap } from "./fields.ts";
import { picked, type Query } from "./lists.ts";
import { createMember, deleteMember, replaceMembers, theMember, thePoolOf, updateMember } from "./members.ts";
import { commonNames } from "./object-routes.ts";
import type { Session } from "./session.ts";

const names = [
  ...commonNames,
  "address",
  "protocol_port",
  "weight",
  "backup",
  "subnet_id",
  "monitor_address",
  "monitor_port",
] as const;

interface InPool {
  readonly Params: { readonly pool: string; readonly id: string };
  readonly Querystring: Query;
}

export const memberRoutes = (app: FastifyInstance, session: Session): void => {
  app.get<InPool>("/pools/:pool/members", async (request) => {
    const pool = thePoolOf(session.read(), request.params.pool);
    const views = session.views();
    const entries = session
      .read()
      .children("members", pool.id)
      .map((row) => ({ shown: views.member(row, pool) as Record<string, unknown> }));
    return session.list(request, "members", names, entries);
  });

  app.get<InPool>("/pools/:pool/members/:id", async (request) => {
    const pool = thePoolOf(session.read(), request.params.pool);
    const row = theMember(session.read(), pool, request.params.id);
    return { member: picked(request.query)({ shown: session.views().member(row, pool) as Record<string, unknown> }) };
  });

  app.post<InPool>("/pools/:pool/members", async (request, reply) => {
    const row = await session.change(request, (work) => {
      const pool = thePoolOf(work.draft, request.params.pool);
      return createMember(work, pool, unwrap(request.body, "member_", "member"));
    });
    return reply.code(201).send({ member: session.views().member(row) });
  });

  app.put<InPool>("/pools/:pool/members", async (request, reply) => {
    const additive = /^(?:true|1|yes|on|t|y)$/i.test(String(request.query["additive_only"] ?? ""));
    await session.change(request, (work) =>
      replaceMembers(work, thePoolOf(work.draft, request.params.pool), request.body, additive),
    );
    return reply.code(202).send();
  });

  app.put<InPool>("/pools/:pool/members/:id", async (request) => {
    const row = await session.change(request, (work) => {
      const pool = thePoolOf(work.draft, request.params.pool);
      theMember(work.draft, pool, request.params.id);
      return updateMember(work, pool, request.params.id, unwrap(request.body, "member_", "member"));
    });
    return { member: session.views().member(row) };
  });

  app.delete<InPool>("/pools/:pool/members/:id", async (request, reply) => {
    await session.change(request, (work) =>
      deleteMember(work, thePoolOf(work.draft, request.params.pool), request.params.id),
    );
    return reply.code(204).send();
  });
};
