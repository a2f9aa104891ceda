/** Status trees, counters, quotas, and the catalogues, most of which are empty for this provider. */
import type { FastifyInstance } from "fastify";
import type { OctaviaDeps } from "./deps.ts";
import { Fault, notFound } from "./fault.ts";
import { unwrap } from "./fields.ts";
import { theListener } from "./listeners.ts";
import { type Entry, picked, type Query } from "./lists.ts";
import { theLoadBalancer } from "./load-balancers.ts";
import { providerDescription, providerName, unsupportedAction, unsupportedOption } from "./provider.ts";
import { quotaListView, quotaView, updateQuota } from "./quotas.ts";
import type { Session } from "./session.ts";

interface ById {
  readonly Params: { readonly id: string };
  readonly Querystring: Query;
}

export const catalogueRoutes = (app: FastifyInstance, session: Session, deps: OctaviaDeps): void => {
  for (const name of ["status", "statuses"]) {
    app.get<ById>(`/loadbalancers/:id/${name}`, async (request) => ({
      statuses: session.views().statusTree(theLoadBalancer(session.read(), request.params.id)),
    }));
  }
  app.get<ById>("/loadbalancers/:id/stats", async (request) => ({
    stats: deps.stats(theLoadBalancer(session.read(), request.params.id).id),
  }));
  app.get<ById>("/listeners/:id/stats", async (request) => ({
    stats: deps.stats(theListener(session.read(), request.params.id).id),
  }));
  app.put<ById>("/loadbalancers/:id/failover", async (request) => {
    theLoadBalancer(session.read(), request.params.id);
    throw unsupportedAction("failover: there is nothing to fail over to");
  });

  const provider: Entry = { shown: { name: providerName, description: providerDescription } };
  app.get<ById>("/providers", async (request) => ({ providers: [provider].map(picked(request.query)) }));
  for (const kind of ["flavor_capabilities", "availability_zone_capabilities"]) {
    app.get<ById>(`/providers/:id/${kind}`, async (request) => {
      if (request.params.id !== providerName) throw new Fault(400, `Provider '${request.params.id}' is not enabled.`);
      return { [kind]: [] };
    });
  }

  emptyCatalogue(app, session, { path: "flavors", plural: "flavors", kind: "Flavor" });
  emptyCatalogue(app, session, {
    path: "flavorprofiles",
    plural: "flavorprofiles",
    kind: "Flavor Profile",
    linksName: "flavorprofile_links",
  });
  emptyCatalogue(app, session, { path: "availabilityzones", plural: "availability_zones", kind: "Availability Zone" });
  emptyCatalogue(app, session, {
    path: "availabilityzoneprofiles",
    plural: "availability_zone_profiles",
    kind: "Availability Zone Profile",
  });
  emptyCatalogue(app, session, { path: "l7policies", plural: "l7policies", kind: "L7 Policy" });
  app.post("/l7policies", async () => {
    throw unsupportedOption("L7 policies on TCP and UDP protocol listeners");
  });

  quotaRoutes(app, session);
};

/** What clients may look for and this provider has none of. */
const emptyCatalogue = (
  app: FastifyInstance,
  session: Session,
  {
    path,
    plural,
    kind,
    linksName,
  }: { readonly path: string; readonly plural: string; readonly kind: string; readonly linksName?: string },
): void => {
  const names = ["id", "name", "enabled", "created_at", "listener_id", "project_id", "provider_name"];
  app.get(`/${path}`, async (request) => session.list(request, plural, names, [], linksName));
  app.get<ById>(`/${path}/:id`, async (request) => {
    throw notFound(kind, request.params.id);
  });
};

const quotaRoutes = (app: FastifyInstance, session: Session): void => {
  app.get("/quotas", async (request) => {
    const entries = [...session.read().all("quotas")].map((row) => ({
      shown: quotaListView(row),
      hidden: { id: row.id },
    }));
    return session.list(request, "quotas", ["id", "project_id", "created_at"], entries);
  });
  app.get("/quotas/defaults", async () => ({ quota: quotaView(undefined) }));
  app.get<ById>("/quotas/:id", async (request) => ({
    quota: quotaView(session.read().get("quotas", request.params.id)),
  }));
  app.put<ById>("/quotas/:id", async (request, reply) => {
    const row = await session.change(request, (work) =>
      updateQuota(work, request.params.id, unwrap(request.body, "quotas", "quota")),
    );
    return reply.code(202).send({ quota: quotaView(row) });
  });
  app.delete<ById>("/quotas/:id", async (request, reply) => {
    await session.change(request, (work) => {
      if (work.draft.get("quotas", request.params.id) === undefined) throw notFound("Quota", request.params.id);
      work.draft.remove("quotas", request.params.id);
    });
    return reply.code(202).send();
  });
};
