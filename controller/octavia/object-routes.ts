/** Routes of the four kinds of objects that have a path of their own, which are all alike. */
import type { FastifyInstance } from "fastify";
import type { HealthMonitorRow, ListenerRow, LoadBalancerRow, PoolRow, Row } from "../store/rows.ts";
import type { View } from "../store/snapshot.ts";
import { unwrap } from "./fields.ts";
import { createHealthMonitor, deleteHealthMonitor, theHealthMonitor, updateHealthMonitor } from "./health-monitors.ts";
import { deleteListener, theListener, updateListener } from "./listeners.ts";
import { type Entry, picked, type Query } from "./lists.ts";
import { deleteLoadBalancer, theLoadBalancer, updateLoadBalancer } from "./load-balancers.ts";
import { deletePool, thePool, updatePool } from "./pools.ts";
import type { Session } from "./session.ts";
import { createListenerTree, createTree, createWholePool } from "./tree.ts";
import type { Views } from "./views.ts";
import type { Work } from "./work.ts";

interface Resource<R extends Row> {
  /** In paths and around lists. */
  readonly plural: string;
  /** Around single objects. */
  readonly root: string;
  /** What Octavia calls the body in refusals. */
  readonly argument: string;
  /** What lists may be filtered by and sorted by, beside the columns all kinds have. */
  readonly names: readonly string[];
  all(view: View): Iterable<R>;
  /** @throws Fault when there is none of this id */
  find(view: View, id: string): R;
  show(views: Views, row: R): object;
  /** The answer to a create; by default as shown. */
  created?(views: Views, row: R): object;
  /** What it can be found by beside what is shown. */
  hidden(row: R): Readonly<Record<string, unknown>>;
  create(work: Work, body: unknown): R;
  update(work: Work, id: string, body: unknown): R;
  remove(work: Work, id: string, cascade: boolean): void;
}

/** Columns of every object by which lists can be filtered and sorted. */
export const commonNames = [
  "id",
  "name",
  "provisioning_status",
  "operating_status",
  "admin_state_up",
  "project_id",
  "created_at",
  "updated_at",
] as const;

const loadBalancers: Resource<LoadBalancerRow> = {
  plural: "loadbalancers",
  root: "loadbalancer",
  argument: "load_balancer",
  names: [
    "description",
    "vip_address",
    "vip_port_id",
    "vip_subnet_id",
    "vip_network_id",
    "vip_qos_policy_id",
    "provider",
    "flavor_id",
    "availability_zone",
  ],
  all: (view) => view.all("loadBalancers"),
  find: theLoadBalancer,
  show: (views, row) => views.loadBalancer(row),
  created: (views, row) => views.whole(row),
  hidden: () => ({}),
  create: createTree,
  update: updateLoadBalancer,
  remove: deleteLoadBalancer,
};

const listeners: Resource<ListenerRow> = {
  plural: "listeners",
  root: "listener",
  argument: "listener_",
  names: [
    "description",
    "protocol",
    "protocol_port",
    "connection_limit",
    "default_pool_id",
    "timeout_client_data",
    "timeout_member_connect",
    "timeout_member_data",
    "timeout_tcp_inspect",
    "loadbalancer_id",
    "load_balancer_id",
  ],
  all: (view) => view.all("listeners"),
  find: theListener,
  show: (views, row) => views.listener(row),
  hidden: (row) => ({ loadbalancer_id: row.loadbalancer_id, load_balancer_id: row.loadbalancer_id }),
  create: createListenerTree,
  update: updateListener,
  remove: deleteListener,
};

const pools: Resource<PoolRow> = {
  plural: "pools",
  root: "pool",
  argument: "pool_",
  names: ["description", "protocol", "lb_algorithm", "healthmonitor_id", "loadbalancer_id", "load_balancer_id"],
  all: (view) => view.all("pools"),
  find: thePool,
  show: (views, row) => views.pool(row),
  hidden: (row) => ({ loadbalancer_id: row.loadbalancer_id, load_balancer_id: row.loadbalancer_id }),
  create: createWholePool,
  update: updatePool,
  remove: deletePool,
};

const healthMonitors: Resource<HealthMonitorRow> = {
  plural: "healthmonitors",
  root: "healthmonitor",
  argument: "health_monitor_",
  names: [
    "type",
    "delay",
    "timeout",
    "max_retries",
    "max_retries_down",
    "http_method",
    "url_path",
    "expected_codes",
    "http_version",
    "domain_name",
    "pool_id",
  ],
  all: (view) => view.all("healthMonitors"),
  find: theHealthMonitor,
  show: (views, row) => views.healthMonitor(row),
  hidden: (row) => ({ pool_id: row.pool_id }),
  create: (work, body) => createHealthMonitor(work, body),
  update: updateHealthMonitor,
  remove: deleteHealthMonitor,
};

interface ById {
  readonly Params: { readonly id: string };
  readonly Querystring: Query;
}

/** Adds the routes of all four. */
export const objectRoutes = (app: FastifyInstance, session: Session): void => {
  routesOf(app, session, loadBalancers);
  routesOf(app, session, listeners);
  routesOf(app, session, pools);
  routesOf(app, session, healthMonitors);
};

/** The names of the paths, for answers to methods they do not have. */
export const objectPaths = [loadBalancers, listeners, pools, healthMonitors].map((r) => r.plural);

const routesOf = <R extends Row>(app: FastifyInstance, session: Session, resource: Resource<R>): void => {
  const { plural, root } = resource;
  const entry = (views: Views, row: R): Entry => ({
    shown: resource.show(views, row) as Record<string, unknown>,
    hidden: resource.hidden(row),
  });

  app.get(`/${plural}`, async (request) => {
    const views = session.views();
    const entries = [...resource.all(session.read())].map((row) => entry(views, row));
    return session.list(request, plural, [...commonNames, ...resource.names], entries);
  });

  app.get<ById>(`/${plural}/:id`, async (request) => {
    const row = resource.find(session.read(), request.params.id);
    return { [root]: picked(request.query)(entry(session.views(), row)) };
  });

  app.post(`/${plural}`, async (request, reply) => {
    const row = await session.change(request, (work) =>
      resource.create(work, unwrap(request.body, resource.argument, root)),
    );
    const show = resource.created ?? resource.show;
    return reply.code(201).send({ [root]: show(session.views(), row) });
  });

  app.put<ById>(`/${plural}/:id`, async (request) => {
    const row = await session.change(request, (work) => {
      // Who is not there is missed before what is wrong with the body is told.
      resource.find(work.draft, request.params.id);
      return resource.update(work, request.params.id, unwrap(request.body, resource.argument, root));
    });
    return { [root]: resource.show(session.views(), row) };
  });

  app.delete<ById>(`/${plural}/:id`, async (request, reply) => {
    const cascade = /^(?:true|1|yes|on|t|y)$/i.test(String(request.query["cascade"] ?? ""));
    await session.change(request, (work) => resource.remove(work, request.params.id, cascade));
    return reply.code(204).send();
  });
};
