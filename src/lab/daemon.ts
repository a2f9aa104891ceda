import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseDocument } from "yaml";
import type { Lab } from "./handle.ts";
import { patience } from "./patience.ts";
import { isAlive, type ProcessRef, signal, startDetached, terminate, waitGone } from "./processes.ts";
import { LabError } from "./shell.ts";
import type { ControllerRecord } from "./state.ts";

const repository = fileURLToPath(new URL("../../", import.meta.url));

/** Compiled as this very file is, or not. */
const controllerProgram = import.meta.url.endsWith(".ts")
  ? { program: join(repository, "src/lbctl.ts"), runtime: ["--import", import.meta.resolve("tsx")] }
  : { program: join(repository, "src/lbctl.js"), runtime: [] };

export interface DaemonOptions {
  /** HOST:PORT of the HTTP API and web page. */
  readonly http: string;
  /** OpenFlow port on the lab's controller address; 6653, or a free one if somebody has that, unless told. */
  readonly openflowPort?: number;
  /** Topology file; unless told, the lab's own copy of the fixture's nodes and segments, which may be changed and reloaded. */
  readonly config?: string;
  /** More arguments of `lbctl serve`. */
  readonly args?: readonly string[];
}

/** The controller as a process in the host's own network namespace. */
export interface Daemon {
  /** Base URL of the API and of the web page. */
  readonly web: string;
  /** What to give to `setController`. */
  readonly target: string;
  readonly config: string;
  readonly log: string;
  /** The command that starts such a process by hand. */
  readonly command: string;
  isAlive(): boolean;
  /** SIGHUP: the topology file is read again. */
  reload(): void;
  /** SIGTERM, then waits. */
  stop(): Promise<void>;
  /** `kill -9`. */
  kill(): Promise<void>;
  /** SIGSTOP, SIGCONT */
  pause(): void;
  resume(): void;
  /** Starts it again, with the arguments it had, after it has ended. */
  startAgain(): Promise<Daemon>;
}

/**
 * Starts the controller for a lab and waits until its HTTP API answers; its data stay in the lab's folder, so that the
 * next one continues where a killed one ended.
 *
 * @throws LabError with the last lines of its log when it ends or does not answer.
 */
export async function startDaemon(lab: Lab, options: DaemonOptions): Promise<Daemon> {
  const config = options.config ?? ownTopology(lab);
  const { program, runtime } = controllerProgram;
  for (const path of [config, program]) if (!existsSync(path)) throw new LabError(`${path} is missing`);
  const port = options.openflowPort ?? (await freePort(lab.controllerAddress, 6653));
  const listen = `${lab.controllerAddress}:${port}`;
  const data = join(lab.root, "data");
  const log = join(lab.root, "log", "controller.log");
  mkdirSync(data, { recursive: true });

  const argv = [
    process.execPath,
    ...runtime,
    program,
    "serve",
    "--config",
    config,
    "--data",
    data,
    "--listen",
    listen,
    "--http",
    options.http,
  ];
  argv.push(...(options.args ?? []));
  return launch(lab, { argv, web: `http://${options.http}/`, target: `tcp:${listen}`, config, log });
}

/** The controller that was last started for a lab, by whichever process. @throws LabError when there is none. */
export function currentDaemon(lab: Lab): Daemon {
  const record = lab.controller();
  if (record === undefined) throw new LabError(`lab "${lab.name}" has no controller`);
  const { process: ref, argv, web, target, config, log } = record;
  return {
    web,
    target,
    config,
    log,
    command: argv.join(" "),
    isAlive: () => isAlive(ref),
    reload: () => void signal(ref, "SIGHUP"),
    stop: () => terminate(ref, 10_000),
    async kill() {
      signal(ref, "SIGKILL");
      await waitGone(ref, 5000);
    },
    pause: () => void signal(ref, "SIGSTOP"),
    resume: () => void signal(ref, "SIGCONT"),
    startAgain: () => launch(lab, record),
  };
}

async function launch(lab: Lab, record: Omit<ControllerRecord, "process">): Promise<Daemon> {
  await requireFreePort(new URL(record.web).host);
  const ref = await startDetached(record.argv, record.log);
  lab.recordController({ ...record, process: ref });
  await waitHealthy(record.web, ref, record.log);
  return currentDaemon(lab);
}

/**
 * The fixture without its load balancers, since the lab makes its own through the API. A copy, since who tries something
 * out in the lab is not to change the repository.
 */
function ownTopology(lab: Lab): string {
  const fixture = join(repository, "fixtures/topology.yaml");
  const own = join(lab.root, "topology.yaml");
  if (existsSync(fixture) && !existsSync(own)) {
    const topology = parseDocument(readFileSync(fixture, "utf8"));
    topology.delete("load_balancers");
    writeFileSync(own, topology.toString());
  }
  return own;
}

/** Waits until every switch that the controller knows is programmed. @throws LabError when it takes longer than `ms`. */
export async function waitSteady(web: string, ms: number): Promise<void> {
  let seen = "no answer";
  for (const deadline = Date.now() + patience(ms); Date.now() < deadline; await sleep(patience(50))) {
    const status = await fetchJson(new URL("v1/status", web));
    const states = nodeStates(status);
    if (states.length > 0 && states.every((state) => state === "steady")) return;
    if (status !== undefined) seen = states.join(", ") || "no switch";
  }
  throw new LabError(`the controller has not programmed the switch after ${patience(ms) / 1000} s (${seen})`);
}

/** @throws LabError when somebody listens on HOST:PORT. */
export async function requireFreePort(hostPort: string): Promise<void> {
  const { host, port } = parseHostPort(hostPort);
  let problem = await listenProblem(host, port);
  // The sockets of a process that was just killed live on until its last thread has ended.
  for (let tries = 0; problem === "EADDRINUSE" && tries < 20; tries++) {
    await sleep(patience(50));
    problem = await listenProblem(host, port);
  }
  if (problem === undefined) return;
  throw new LabError(
    problem === "EADDRINUSE"
      ? `port ${port} on ${host} is busy: end the program that has it, or choose another with --http HOST:PORT`
      : `cannot listen on ${hostPort}: ${problem}`,
  );
}

/** @throws LabError unless the text is HOST:PORT. */
function parseHostPort(text: string): { readonly host: string; readonly port: number } {
  const [, host, digits] = /^([^:]+):(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined || Number(digits) > 65535) throw new LabError(`"${text}" is not HOST:PORT`);
  return { host, port: Number(digits) };
}

async function freePort(host: string, preferred: number): Promise<number> {
  if ((await listenProblem(host, preferred)) === undefined) return preferred;
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== "object" || address === null) throw new LabError(`no free port on ${host}`);
  return address.port;
}

function listenProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

async function waitHealthy(web: string, ref: ProcessRef, log: string): Promise<void> {
  for (const deadline = Date.now() + patience(60_000); Date.now() < deadline; await sleep(patience(50))) {
    if (!isAlive(ref)) throw new LabError(`the controller ended at once:\n${lastLines(log)}`);
    const healthy = await fetch(new URL("healthz", web), { signal: AbortSignal.timeout(patience(2000)) }).then(
      (response) => response.ok,
      () => false,
    );
    if (healthy) return;
  }
  throw new LabError(`the controller does not answer at ${web}healthz:\n${lastLines(log)}`);
}

/** The end of a log without call stacks, which say nothing to the lab's user. */
function lastLines(log: string): string {
  const lines = readFileSync(log, "utf8").trim().split("\n");
  const telling = lines.filter((line) => line.trim() !== "" && !/^\s+at |^Node\.js v/.test(line));
  return telling.slice(-8).join("\n");
}

async function fetchJson(url: URL): Promise<unknown> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(patience(2000)) });
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}

/** The `state` of each entry of `nodes`, as far as the answer has that shape. */
function nodeStates(status: unknown): readonly string[] {
  if (typeof status !== "object" || status === null || !("nodes" in status) || !Array.isArray(status.nodes)) return [];
  return status.nodes.map((node: unknown) =>
    typeof node === "object" && node !== null && "state" in node ? String(node.state) : "unknown",
  );
}
