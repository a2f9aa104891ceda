import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type Logger, pino } from "pino";
import { buildApi } from "../controller/api/server.ts";
import { EventBus } from "../controller/events.ts";
import { mergeHealth } from "../controller/health/merge.ts";
import { makeMetrics } from "../controller/metrics.ts";
import { NodeController } from "../controller/node.ts";
import { octaviaRoutes } from "../controller/octavia/plugin.ts";
import type { OptionName } from "../controller/octavia/provider.ts";
import { toModel } from "../controller/octavia/to-model.ts";
import { OpenConnectionsFollower } from "../controller/open-connections.ts";
import { type Endpoint, listenError, OpenFlowListener } from "../controller/session/listener.ts";
import type { Session } from "../controller/session/session.ts";
import { openFileStore } from "../controller/store/file-store.ts";
import type { Store } from "../controller/store/store.ts";
import type { Health, Topology } from "../pipeline/model.ts";
import { CliError } from "./cli/command.ts";
import { DrainFile, withDrains } from "./drains.ts";
import { type HttpAccess, openAccess } from "./http-access.ts";
import { apiAddresses, healthByUuid, listenerStats, storedObject } from "./octavia-views.ts";
import { webPage } from "./static-files.ts";
import { TopologyFile } from "./topology-file.ts";
import { apiSource } from "./views.ts";

export interface DaemonOptions extends HttpAccess {
  readonly config: string;
  readonly data: string;
  readonly listen: Endpoint;
  readonly http: Endpoint;
  readonly logLevel: string;
}

export interface Daemon {
  /** Reads the topology file again; when it is faulty, the old topology stays in force. */
  reload(): void;
  stop(): Promise<void>;
}

/** What listeners and pools made through the API get unless they say otherwise. */
const MODEL_DEFAULTS = { slotChoice: "multipath", sessions: "conntrack", emptyPolicy: "drop", slots: 1024 } as const;
/** Options of the API that the pipeline and the health checker carry out; others are refused. */
const HONOURED: ReadonlySet<OptionName> = new Set<OptionName>([
  "SOURCE_IP",
  "LEAST_CONNECTIONS",
  "allowed_cidrs",
  "connection_limit",
  "timeout_client_data",
  "monitor_address",
  "monitor_port",
]);

const { version } = createRequire(import.meta.url)("../package.json") as { version: string };

async function openStore(folder: string, log: Logger): Promise<Store> {
  try {
    return await openFileStore(folder, { report: (error) => log.error({ err: error }, "store") });
  } catch (e) {
    throw new CliError(`--data: ${e instanceof Error ? e.message : String(e)}`);
  }
}

/** Starts everything. Throws CliError with a sentence for the operator when something cannot be had. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  await mkdir(options.data, { recursive: true }).catch((e: NodeJS.ErrnoException) => {
    throw new CliError(`--data: cannot make folder ${options.data}: ${e.message}`);
  });
  const file = new TopologyFile(options.config, options.data);
  const access = openAccess(options);
  const log = pino({ level: options.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime });
  const metrics = makeMetrics();
  const events = new EventBus();
  const startedAt = Date.now();
  const drains = new DrainFile(join(options.data, "drains.json"));
  const store = await openStore(join(options.data, "store"), log);
  file.keepFrom(() => apiAddresses(store.read()));
  /** Load balancers of the file and those made through the API, with the operator's drains. */
  const combined = (base: Topology): Topology => {
    const { loadBalancers, problems } = toModel(store.read(), base, MODEL_DEFAULTS);
    for (const p of problems) log.warn({ id: p.id }, `left out: ${p.message}`);
    return withDrains({ ...base, loadBalancers: [...base.loadBalancers, ...loadBalancers] }, drains.drains);
  };
  /** As it is in force. */
  let topology = combined(file.topology);

  const nodes = new Map<string, NodeController>();
  const health = (): ReadonlyMap<number, Health> =>
    mergeHealth([...nodes.values()].map((n) => ({ connected: n.isProbing, health: n.checker.health() })));
  const healthChanged = (reason: string): void => {
    for (const n of nodes.values()) n.touch(reason);
  };
  const openConnections = new OpenConnectionsFollower({
    pools: () => topology.loadBalancers.flatMap((lb) => lb.pools),
    sessions: () => [...nodes.values()].flatMap((n) => n.session ?? []),
    changed: () => healthChanged("open connections"),
    failed: (e) => log.warn({ err: e }, "open connections could not be counted"),
  });
  openConnections.start();
  const followedWeights = (): ReadonlyMap<number, number> => openConnections.weights;
  const makeNodes = (to: Topology): void => {
    for (const node of to.nodes) {
      const known = nodes.get(node.name);
      if (known && known.node.datapathId === node.datapathId) known.setTopology(to);
      else {
        known?.stop();
        known?.session?.close("the topology names another datapath now");
        nodes.set(
          node.name,
          new NodeController(node, to, {
            log,
            metrics,
            health,
            followedWeights,
            healthChanged,
            publish: events.publish,
          }),
        );
      }
    }
    for (const [name, controller] of nodes) {
      if (to.nodes.some((n) => n.name === name)) continue;
      controller.stop();
      controller.session?.close("the topology has this node no more");
      nodes.delete(name);
    }
  };
  const apply = (): void => {
    topology = combined(file.topology);
    makeNodes(topology);
  };
  apply();
  // Many changes of one moment are one new state.
  let applying: NodeJS.Immediate | undefined;
  const forgetStore = store.subscribe(() => {
    applying ??= setImmediate(() => {
      applying = undefined;
      apply();
    });
  });
  const topologyChanged = (how: string): void => {
    log.info(`topology ${how}`);
    events.publish({ kind: "topology", level: "info", text: `topology ${how}`, data: { error: null } });
    apply();
  };

  const nodeOf = (session: Session): NodeController | undefined => {
    const { datapathId } = session.features;
    for (const n of nodes.values()) if (n.node.datapathId === datapathId) return n;
    const [only] = nodes.values();
    return nodes.size === 1 && only?.node.datapathId === undefined ? only : undefined;
  };
  const owner = new Map<Session, NodeController>();
  const listener = new OpenFlowListener(
    {
      ready: (session) => {
        const node = nodeOf(session);
        if (!node) {
          log.warn(
            { dpid: session.features.datapathId, peer: session.peer },
            "a switch that no node of the topology names has connected; it is left alone",
          );
          return;
        }
        owner.set(session, node);
        node.attach(session).catch((e: Error) => session.close(e.message));
      },
      message: (session, message) => owner.get(session)?.handle(message),
      error: (session, error) => owner.get(session)?.handleError(error),
      closed: (session, reason) => {
        owner.get(session)?.detach(session, reason);
        owner.delete(session);
      },
    },
    log,
  );

  const stopNodes = async (): Promise<void> => {
    openConnections.stop();
    forgetStore();
    clearImmediate(applying);
    for (const n of nodes.values()) n.stop();
    await store.close();
  };
  const openflow = await listener.listen(options.listen).catch(async (e: unknown) => {
    await stopNodes();
    throw e;
  });
  const source = apiSource({
    version,
    startedAt,
    openflow: `${openflow.host}:${openflow.port}`,
    file,
    nodes: () => [...nodes.values()],
    topology: () => topology,
    proposed: (text) => combined(file.parse(text).topology),
    health,
    followedWeights,
    drain: (member, drain, who) => {
      drains.set(member.uuid, drain, combined(file.topology));
      const text = `member ${member.name} is ${drain ? "draining" : "enabled"}`;
      log.info({ who }, text);
      events.publish({
        kind: "drain",
        level: "info",
        text: `${text} (${who})`,
        data: { member: member.name, drain, who },
      });
      apply();
    },
    replaceTopology: (text, who) => {
      file.replace(text);
      topologyChanged(`replaced by ${who}`);
    },
  });
  const page = webPage();
  const api = buildApi(source, metrics.registry, log.child({ part: "http" }, { level: "warn" }), {
    version,
    events,
    access: {
      ...access.options,
      publish: events.publish,
      viewOf: (request) => storedObject(store.read(), request.raw.url ?? ""),
    },
    ...(access.tls === undefined ? {} : { tls: access.tls }),
    more: (app) => {
      page.routes(app);
      app.register(octaviaRoutes, {
        store,
        topology: () => file.topology,
        healthOf: (uuid) => healthByUuid(topology, health(), uuid),
        connected: () => [...nodes.values()].some((n) => n.session !== undefined),
        stats: (uuid) => listenerStats(topology, [...nodes.values()], uuid),
        options: HONOURED,
        webPage: (request, reply) => page.page(request, reply),
      });
    },
  });
  try {
    await api.listen({ host: options.http.host, port: options.http.port });
  } catch (e) {
    await stopNodes();
    await listener.close();
    throw listenError(e as NodeJS.ErrnoException, options.http, "HTTP");
  }
  // The port that was given, should 0 have been asked for.
  const http = { ...options.http, port: (api.server.address() as AddressInfo).port };
  log.info({ openflow, http, nodes: [...nodes.keys()] }, "openflow-lb is up");

  return {
    reload: () => {
      const problem = access.reload(api);
      if (problem !== undefined) log.error(`the old tokens and certificate stay in force: ${problem}`);
      if (file.reload()) {
        topologyChanged("reloaded");
        return;
      }
      const text = `topology not reloaded, the old one stays in force:\n${file.reloadError}`;
      log.error(text);
      events.publish({ kind: "topology", level: "warn", text, data: { error: file.reloadError } });
    },
    stop: async () => {
      log.info("stopping; switches keep forwarding");
      await api.close();
      access.close();
      await stopNodes();
      await listener.close();
    },
  };
}
