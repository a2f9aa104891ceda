import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ProcessRef, processInNamespace, signal, terminate, waitGone } from "./processes.ts";
import { attempt, type CommandOptions, LabError, run } from "./shell.ts";

/** `netdev` forwards in ovs-vswitchd itself and needs no kernel module; `system` is the kernel's datapath. */
export type DatapathType = "netdev" | "system";

/** The datapath that OFLB_DATAPATH names, so that the same tests run on both; `netdev` without it. */
export function defaultDatapath(): DatapathType {
  return parseDatapath(process.env["OFLB_DATAPATH"] ?? "netdev", "OFLB_DATAPATH");
}

/** @throws LabError, with `what` as the source of the text, when it is no datapath's name. */
export function parseDatapath(text: string, what: string): DatapathType {
  if (text === "netdev" || text === "system") return text;
  throw new LabError(`${what} is netdev or system, not "${text}"`);
}

export interface PrivateOvsOptions {
  /** An existing network namespace; both daemons run inside it. */
  readonly namespace: string;
  /** Folder for everything the two daemons write. */
  readonly root: string;
}

/**
 * An Open vSwitch of its own: database, sockets, logs and network namespace are apart from the host's, which is never
 * touched. Only the lab and the tests run ovs-* programs; the controller speaks OpenFlow.
 */
export interface PrivateOvs {
  readonly namespace: string;
  /** Variables with which any ovs-* program talks to this instance, from any network namespace. */
  readonly env: Readonly<Record<string, string>>;
  readonly schema: string;
  /** Starts the database server with an empty or the existing database. */
  startDatabase(): Promise<void>;
  /** Starts ovs-vswitchd and returns once it has set up the bridges that are in the database. */
  startSwitch(): Promise<void>;
  /** Ends ovs-vswitchd in order. */
  stopSwitch(): Promise<void>;
  /** `kill -9` of ovs-vswitchd: with the userspace datapath all its flows are gone; the kernel goes on with those it has cached until the next start. The bridges are in the database. */
  killSwitch(): Promise<void>;
  /** Stops the world of ovs-vswitchd (SIGSTOP) and lets it go on. */
  pauseSwitch(): void;
  resumeSwitch(): void;
  stop(): Promise<void>;
  vsctl(...args: string[]): Promise<string>;
  /** `ovs-vsctl --no-wait`: for changes made while ovs-vswitchd does not run. */
  vsctlNoWait(...args: string[]): Promise<string>;
  /** `ovs-ofctl -O OpenFlow13`. */
  ofctl(...args: string[]): Promise<string>;
  /** `ovs-ofctl` with a chosen version and standard input. */
  ofctlWith(version: string, args: readonly string[], options?: CommandOptions): Promise<string>;
  appctl(...args: string[]): Promise<string>;
}

const schemaPlaces = ["/usr/share/openvswitch/vswitch.ovsschema", "/usr/local/share/openvswitch/vswitch.ovsschema"];

/** @throws LabError when Open vSwitch is not installed. */
export function privateOvs({ namespace, root }: PrivateOvsOptions): PrivateOvs {
  const schema = schemaPlaces.find((path) => existsSync(path));
  if (schema === undefined) {
    throw new LabError(
      "Open vSwitch is not installed: apt-get install openvswitch-switch (or run as root: npm run lab)",
    );
  }
  const dir = (name: string) => join(root, name);
  const env = {
    OVS_RUNDIR: dir("run"),
    OVS_DBDIR: dir("db"),
    OVS_LOGDIR: dir("log"),
    OVS_SYSCONFDIR: dir("etc"),
  };
  const database = join(env.OVS_DBDIR, "conf.db");
  const socket = join(env.OVS_RUNDIR, "db.sock");
  const pidFile = (daemon: string) => join(env.OVS_RUNDIR, `${daemon}.pid`);
  const inNamespace = ["ip", "netns", "exec", namespace];
  const daemonArgs = (daemon: string) => [
    `--pidfile=${pidFile(daemon)}`,
    `--log-file=${join(env.OVS_LOGDIR, `${daemon}.log`)}`,
    "--detach",
    "--no-chdir",
    "-vconsole:off",
  ];
  const daemon = (name: string): ProcessRef | undefined => readPid(pidFile(name), namespace);
  const command = (program: string, args: readonly string[], options: CommandOptions = {}) =>
    run([program, ...args], { ...options, env: { ...env, ...options.env } });
  const stopDaemon = async (name: string): Promise<void> => {
    const ref = daemon(name);
    if (ref !== undefined) await terminate(ref, 5000);
  };

  return {
    namespace,
    env,
    schema,
    async startDatabase() {
      for (const path of Object.values(env)) mkdirSync(path, { recursive: true });
      if (!existsSync(database)) await command("ovsdb-tool", ["create", database, schema]);
      await command("ip", [
        ...inNamespace.slice(1),
        "ovsdb-server",
        database,
        `--remote=punix:${socket}`,
        ...daemonArgs("ovsdb-server"),
      ]);
    },
    async startSwitch() {
      await command("ip", [...inNamespace.slice(1), "ovs-vswitchd", `unix:${socket}`, ...daemonArgs("ovs-vswitchd")], {
        timeoutMs: 60_000,
      });
    },
    stopSwitch: () => stopDaemon("ovs-vswitchd"),
    async killSwitch() {
      const ref = daemon("ovs-vswitchd");
      if (ref === undefined) return;
      signal(ref, "SIGKILL");
      await waitGone(ref, 5000);
    },
    pauseSwitch: () => void signalDaemon(daemon("ovs-vswitchd"), "SIGSTOP"),
    resumeSwitch: () => void signalDaemon(daemon("ovs-vswitchd"), "SIGCONT"),
    async stop() {
      await stopDaemon("ovs-vswitchd");
      await stopDaemon("ovsdb-server");
    },
    vsctl: (...args) => command("ovs-vsctl", ["--timeout=30", ...args]),
    vsctlNoWait: (...args) => command("ovs-vsctl", ["--timeout=30", "--no-wait", ...args]),
    ofctl: (...args) => command("ovs-ofctl", ["-O", "OpenFlow13", ...args]),
    ofctlWith: (version, args, options) => command("ovs-ofctl", ["-O", version, ...args], options),
    appctl: (...args) => command("ovs-appctl", args),
  };
}

/**
 * Open vSwitch counts the processors at most every 10 s and takes the machine's start for the last time (3.1). Started
 * before that, it sees none, runs no threads for what the kernel's datapath sends up, and loses all of it.
 */
export async function waitUntilCpusAreCounted(): Promise<void> {
  const uptime = () => Number(readFileSync("/proc/uptime", "latin1").split(" ")[0]);
  for (const seconds = 10.5; uptime() < seconds; ) await sleep((seconds - uptime()) * 1000);
}

/** Version of the installed Open vSwitch, such as "3.1.0"; undefined without one. */
export async function ovsVersion(): Promise<string | undefined> {
  const { code, stdout } = await attempt(["ovs-vswitchd", "--version"]);
  return code === 0 ? /\b\d+\.\d+\.\d+/.exec(stdout)?.[0] : undefined;
}

function signalDaemon(ref: ProcessRef | undefined, name: NodeJS.Signals): void {
  if (ref === undefined || !signal(ref, name)) throw new LabError("ovs-vswitchd is not running");
}

/** A daemon that was killed leaves its pid file behind: only a process in our own namespace is ours. */
function readPid(path: string, namespace: string): ProcessRef | undefined {
  if (!existsSync(path)) return undefined;
  return processInNamespace(Number(readFileSync(path, "utf8").trim()), namespace);
}
