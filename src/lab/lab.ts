import { join } from "node:path";
import { type Backend, backend } from "./backends.ts";
import { type Capture, startCapture } from "./capture.ts";
import { cleanUp, refuseIfRunning } from "./cleanup.ts";
import {
  checkControlLink,
  chooseControlLink,
  configureHost,
  configureSwitchSide,
  createNetwork,
  existingNamespaces,
  type NetworkPlan,
} from "./network.ts";
import { type DatapathType, defaultDatapath, type PrivateOvs, privateOvs, waitUntilCpusAreCounted } from "./ovs.ts";
import { ownProcess, type ProcessRef } from "./processes.ts";
import { type RequestOptions, type RequestResult, requestFrom } from "./requests.ts";
import { attempt, type CommandOptions, type CommandResult, LabError, run } from "./shell.ts";
import { checkLabName, createState, type LabState, labRoot, writeState } from "./state.ts";
import { bridgeMac, bridgeName, type HostName, type HostSpec, seedHosts } from "./topology.ts";

export interface LabOptions {
  /** Prefix of all namespaces; labs of different names may run side by side. "lab" unless told. */
  readonly name?: string;
  /** Folder for state, logs and captures; /tmp/openflow-lb-NAME unless told. Removed by `down`. */
  readonly root?: string;
  /** What OFLB_DATAPATH says unless told, and "netdev" without that. */
  readonly datapath?: DatapathType;
}

export interface Lab {
  readonly name: string;
  readonly root: string;
  readonly datapath: DatapathType;
  readonly bridge: string;
  readonly hosts: readonly HostSpec[];
  readonly ovs: PrivateOvs;
  /** Address in the host's own network namespace at which the lab's switch finds a controller. */
  readonly controllerAddress: string;
  /** The switch's source address on its way there. */
  readonly switchAddress: string;
  namespace(host: HostName | "ovs"): string;
  /** Runs a command on a host. @throws CommandError unless it ends with status 0. */
  exec(host: HostName | "ovs", argv: readonly string[], options?: CommandOptions): Promise<string>;
  /** Runs a command on a host and gives its outcome. */
  attempt(host: HostName | "ovs", argv: readonly string[], options?: CommandOptions): Promise<CommandResult>;
  /** `count` HTTP requests, each on its own connection. */
  curl(host: HostName, url: string, count?: number, options?: RequestOptions): Promise<readonly RequestResult[]>;
  /** Captures on a host's eth0, or on any port inside the switch's namespace ("ovs", link). */
  capture(host: HostName | "ovs", options?: { link?: string; path?: string; filter?: string }): Promise<Capture>;
  setMac(host: HostName, mac: string): Promise<void>;
  /** The web service of be1–be4. */
  backend(host: HostName): Backend;
  /** Points the bridge at a controller such as "tcp:169.254.77.1:6653". The first call flushes the bridge's flows. */
  setController(target: string): Promise<void>;
  /** Records a process outside the lab's namespaces, which `down` is to end before all others. */
  adopt(process: ProcessRef): void;
  /** Records the address of the web page, for a second `npm run lab` to print. */
  setWeb(url: string): void;
}

/**
 * Builds a lab: a private Open vSwitch, its bridge without any flow, and the hosts around it, with the backends serving.
 * What a crashed lab of the same name left behind is removed first.
 *
 * @throws LabError when the lab runs already, or something is missing; then nothing is left behind.
 */
export async function up(options: LabOptions = {}): Promise<Lab> {
  const { name = "lab", datapath = defaultDatapath() } = options;
  const root = options.root ?? labRoot(name);
  checkLabName(name);
  requireRoot();
  refuseIfRunning(root);
  await cleanUp(root);

  const namespace = (host: HostName | "ovs") => `${name}-${host}`;
  const plan: NetworkPlan = {
    switchNamespace: namespace("ovs"),
    hosts: seedHosts.map((spec) => ({ spec, namespace: namespace(spec.name) })),
    control: await chooseControlLink(name),
  };
  const namespaces = [plan.switchNamespace, ...plan.hosts.map((host) => host.namespace)];
  const foreign = existingNamespaces(namespaces);
  if (foreign.length > 0) {
    throw new LabError(`network namespace ${foreign[0]} exists and is not this lab's; choose another name (--name)`);
  }
  const ovs = privateOvs({ namespace: plan.switchNamespace, root });
  let state: LabState = {
    name,
    owner: ownProcess(),
    startedAt: new Date().toISOString(),
    namespaces,
    hostLink: plan.control.hostLink,
    processes: [],
  };
  const update = (change: Partial<LabState>) => {
    state = { ...state, ...change };
    writeState(root, state);
  };
  createState(root, state);

  const backends = new Map(
    plan.hosts
      .filter(({ spec }) => spec.backend)
      .map((host) => [host.spec.name, backend(host.spec.name, host.namespace, root)]),
  );
  try {
    await build(plan, ovs, backends, datapath);
  } catch (error) {
    await cleanUp(root);
    throw error;
  }

  return {
    name,
    root,
    datapath,
    bridge: bridgeName,
    hosts: seedHosts,
    ovs,
    controllerAddress: plan.control.hostAddress,
    switchAddress: plan.control.switchAddress,
    namespace,
    exec: (host, argv, commandOptions) => run(inside(namespace(host), argv), withOvs(ovs, commandOptions)),
    attempt: (host, argv, commandOptions) => attempt(inside(namespace(host), argv), withOvs(ovs, commandOptions)),
    curl: (host, url, count = 1, requestOptions = {}) => requestFrom(namespace(host), url, count, requestOptions),
    capture: (host, { link = "eth0", path = join(root, `${host}-${link}.pcap`), filter } = {}) =>
      startCapture({ namespace: namespace(host), link, path, ...(filter === undefined ? {} : { filter }) }),
    setMac: async (host, mac) => void (await run(["ip", "-n", namespace(host), "link", "set", "eth0", "address", mac])),
    backend: (host) => {
      const found = backends.get(host);
      if (found === undefined) throw new LabError(`${host} is not a backend`);
      return found;
    },
    setController: async (target) => void (await ovs.vsctl(...setControllerArgs(target))),
    adopt: (ref) => update({ processes: [...state.processes, ref] }),
    setWeb: (web) => update({ web }),
  };
}

/**
 * Removes a lab, whoever started it and however that ended: processes, namespaces, interfaces, folder. Nothing happens
 * when there is none.
 *
 * @returns whether there was something to remove.
 */
export async function down(options: Pick<LabOptions, "name" | "root"> = {}): Promise<boolean> {
  const { name = "lab" } = options;
  checkLabName(name);
  requireRoot();
  return cleanUp(options.root ?? labRoot(name));
}

function requireRoot(): void {
  if (process.getuid?.() !== 0) throw new LabError("network namespaces need root: run as root or with sudo");
}

/** All parts at once as far as one does not need another: the time goes into waiting for processes to start. */
async function build(
  plan: NetworkPlan,
  ovs: PrivateOvs,
  backends: ReadonlyMap<HostName, Backend>,
  datapath: DatapathType,
): Promise<void> {
  await createNetwork(plan);
  const hosts = plan.hosts.map(async ({ namespace, spec }) => {
    await configureHost(namespace, spec);
    await backends.get(spec.name)?.start();
  });
  const database = (async () => {
    await ovs.startDatabase();
    await ovs.vsctlNoWait(...bridgeArgs(plan, datapath));
  })();
  const network = configureSwitchSide(plan);
  // On failure, wait for the others too: what they start must be there to be cleaned up.
  const outcome = await Promise.allSettled([database, network, ...hosts]);
  const failed = outcome.find((part) => part.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  if (datapath === "system") await waitUntilCpusAreCounted();
  await Promise.all([ovs.startSwitch(), checkControlLink(plan)]);
}

/** Everything the switch is to have, written before it starts, so that it sets up all ports in one go. */
function bridgeArgs(plan: NetworkPlan, datapath: DatapathType): readonly string[] {
  const bridge = [
    `datapath_type=${datapath}`,
    "fail_mode=secure",
    // The controller speaks 1.3; the others are for ovs-ofctl in tests.
    "protocols=OpenFlow10,OpenFlow13,OpenFlow14,OpenFlow15",
    `other-config:hwaddr=${bridgeMac}`,
    // The controller is not behind the bridge: no hidden flows for it.
    "other-config:disable-in-band=true",
  ];
  const ports = plan.hosts.flatMap(({ spec }) => [
    ...["--", "add-port", bridgeName, spec.port],
    ...["--", "set", "interface", spec.port, `ofport_request=${spec.ofport}`],
  ]);
  // One thread of each kind: the lab shares its few cores with everything else. The kernel's datapath has a queue for
  // each processor, which wants a thread of its own.
  const threads = ["other_config:n-revalidator-threads=1", "other_config:n-handler-threads=1"];
  const settings = ["--", "set", "Open_vSwitch", ".", ...threads];
  return [
    ...["init", ...(datapath === "netdev" ? settings : [])],
    ...["--", "add-br", bridgeName, "--", "set", "bridge", bridgeName, ...bridge],
    ...ports,
  ];
}

function setControllerArgs(target: string): readonly string[] {
  // OVS doubles its pause between attempts up to 8 s; after a controller's restart the lab is not to wait that long.
  const settings = ["connection_mode=out-of-band", "max_backoff=1000"];
  return ["set-controller", bridgeName, target, "--", "set", "controller", bridgeName, ...settings];
}

function inside(namespace: string, argv: readonly string[]): readonly string[] {
  return ["ip", "netns", "exec", namespace, ...argv];
}

function withOvs(ovs: PrivateOvs, options: CommandOptions = {}): CommandOptions {
  return { ...options, env: { ...ovs.env, ...options.env } };
}
