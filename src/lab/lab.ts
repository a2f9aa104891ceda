import { cleanUp, refuseIfRunning } from "./cleanup.ts";
import { type Lab, labHandle } from "./handle.ts";
import {
  checkControlLink,
  chooseControlLink,
  configureHost,
  configureSwitchSide,
  createNetwork,
  existingNamespaces,
  type NetworkPlan,
} from "./network.ts";
import { type DatapathType, defaultDatapath, waitUntilCpusAreCounted } from "./ovs.ts";
import { isAlive, ownProcess } from "./processes.ts";
import { LabError } from "./shell.ts";
import { checkLabName, createState, labRoot, readState } from "./state.ts";
import { bridgeMac, bridgeName, type HostName, seedHosts } from "./topology.ts";

export type { Lab } from "./handle.ts";

export interface LabOptions {
  /** Prefix of all namespaces; labs of different names may run side by side. "lab" unless told. */
  readonly name?: string;
  /** Folder for state, logs and captures; /tmp/openflow-lb-NAME unless told. Removed by `down`. */
  readonly root?: string;
  /** What OFLB_DATAPATH says unless told, and "netdev" without that. */
  readonly datapath?: DatapathType;
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
  createState(root, {
    name,
    owner: ownProcess(),
    startedAt: new Date().toISOString(),
    datapath,
    namespaces,
    hostLink: plan.control.hostLink,
    controllerAddress: plan.control.hostAddress,
    switchAddress: plan.control.switchAddress,
    processes: [],
  });
  try {
    const lab = labHandle(root);
    await build(plan, lab);
    return lab;
  } catch (error) {
    await cleanUp(root);
    throw error;
  }
}

/** A lab that runs already, for another process than its own. @throws LabError when it does not run. */
export function attach(options: Pick<LabOptions, "name" | "root"> = {}): Lab {
  const { name = "lab" } = options;
  checkLabName(name);
  requireRoot();
  const root = options.root ?? labRoot(name);
  const state = readState(root);
  if (state === undefined || !isAlive(state.owner)) {
    throw new LabError(
      `lab "${name}" is not running; start it with: npm run lab${name === "lab" ? "" : ` -- --name ${name}`}`,
    );
  }
  return labHandle(root);
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
async function build(plan: NetworkPlan, lab: Lab): Promise<void> {
  await createNetwork(plan);
  const hosts = plan.hosts.map(async ({ namespace, spec }) => {
    await configureHost(namespace, spec);
    if (spec.backend) await lab.backend(spec.name).start();
  });
  const database = (async () => {
    await lab.ovs.startDatabase();
    await lab.ovs.vsctlNoWait(...bridgeArgs(plan, lab.datapath));
  })();
  const network = configureSwitchSide(plan);
  // On failure, wait for the others too: what they start must be there to be cleaned up.
  const outcome = await Promise.allSettled([database, network, ...hosts]);
  const failed = outcome.find((part) => part.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  if (lab.datapath === "system") await waitUntilCpusAreCounted();
  await Promise.all([lab.ovs.startSwitch(), checkControlLink(plan)]);
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
