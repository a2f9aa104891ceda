import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pino } from "pino";
import { buildApi } from "../controller/api/server.ts";
import { mergeHealth } from "../controller/health/merge.ts";
import { makeMetrics } from "../controller/metrics.ts";
import { NodeController } from "../controller/node.ts";
import { type Endpoint, listenError, OpenFlowListener } from "../controller/session/listener.ts";
import type { Session } from "../controller/session/session.ts";
import type { IdBook } from "../pipeline/ids.ts";
import type { Health, Topology } from "../pipeline/model.ts";
import { CliError } from "./cli/command.ts";
import { formatErrors } from "./config/errors.ts";
import { loadTopology } from "./config/topology.ts";
import { DrainFile, withDrains } from "./drains.ts";
import { readIds, writeIds } from "./id-file.ts";
import { apiSource } from "./views.ts";

export interface DaemonOptions {
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

const { version } = createRequire(import.meta.url)("../package.json") as { version: string };

function saveIds(folder: string, ids: IdBook): void {
  try {
    writeIds(folder, ids);
  } catch (e) {
    throw new CliError(`--data: cannot write to ${folder}: ${(e as Error).message}`);
  }
}

/** Starts everything. Throws CliError with a sentence for the operator when something cannot be had. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  await mkdir(options.data, { recursive: true }).catch((e: NodeJS.ErrnoException) => {
    throw new CliError(`--data: cannot make folder ${options.data}: ${e.message}`);
  });
  const loaded = loadTopology(options.config, readIds(options.data));
  if (!loaded.ok) throw new CliError(formatErrors(loaded.errors), 2);
  /** As the file has it. */
  let { topology: configured, ids } = loaded;
  saveIds(options.data, ids);
  let reloadError: string | null = null;

  const log = pino({ level: options.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime });
  const metrics = makeMetrics();
  const startedAt = Date.now();
  const drains = new DrainFile(join(options.data, "drains.json"));
  /** As it is in force. */
  let topology = withDrains(configured, drains.drains);

  const nodes = new Map<string, NodeController>();
  const health = (): ReadonlyMap<number, Health> =>
    mergeHealth([...nodes.values()].map((n) => ({ connected: n.isProbing, health: n.checker.health() })));
  const healthChanged = (reason: string): void => {
    for (const n of nodes.values()) n.touch(reason);
  };
  const makeNodes = (to: Topology): void => {
    for (const node of to.nodes) {
      const known = nodes.get(node.name);
      if (known && known.node.datapathId === node.datapathId) known.setTopology(to);
      else {
        known?.stop();
        known?.session?.close("the topology names another datapath now");
        nodes.set(node.name, new NodeController(node, to, { log, metrics, health, healthChanged }));
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
    topology = withDrains(configured, drains.drains);
    makeNodes(topology);
  };
  apply();

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

  const stopNodes = (): void => {
    for (const n of nodes.values()) n.stop();
  };
  const openflow = await listener.listen(options.listen).catch((e: unknown) => {
    stopNodes();
    throw e;
  });
  const source = apiSource({
    version,
    startedAt,
    openflow: `${openflow.host}:${openflow.port}`,
    config: options.config,
    reloadError: () => reloadError,
    nodes: () => [...nodes.values()],
    topology: () => topology,
    health,
    drain: (member, drain) => {
      drains.set(member.uuid, drain, configured);
      log.info({ member: member.name }, drain ? "member is draining" : "member is enabled");
      apply();
    },
  });
  const api = buildApi(source, metrics.registry, log.child({ part: "http" }, { level: "warn" }));
  try {
    await api.listen({ host: options.http.host, port: options.http.port });
  } catch (e) {
    stopNodes();
    await listener.close();
    throw listenError(e as NodeJS.ErrnoException, options.http, "HTTP");
  }
  log.info({ openflow, http: options.http, nodes: [...nodes.keys()] }, "openflow-lb is up");

  return {
    reload: () => {
      const next = loadTopology(options.config, ids);
      if (!next.ok) {
        reloadError = formatErrors(next.errors);
        log.error(`topology not reloaded, the old one stays in force:\n${reloadError}`);
        return;
      }
      try {
        saveIds(options.data, next.ids);
      } catch (e) {
        reloadError = (e as Error).message;
        log.error(`topology not reloaded, the old one stays in force: ${reloadError}`);
        return;
      }
      reloadError = null;
      configured = next.topology;
      ids = next.ids;
      apply();
      log.info("topology reloaded");
    },
    stop: async () => {
      log.info("stopping; switches keep forwarding");
      stopNodes();
      await api.close();
      await listener.close();
    },
  };
}
