import { join } from "node:path";
import { type Backend, backend } from "./backends.ts";
import { type Capture, startCapture } from "./capture.ts";
import { type DatapathType, type PrivateOvs, privateOvs } from "./ovs.ts";
import type { ProcessRef } from "./processes.ts";
import { type RequestOptions, type RequestResult, requestFrom } from "./requests.ts";
import { attempt, type CommandOptions, type CommandResult, LabError, run } from "./shell.ts";
import { type ControllerRecord, type LabState, readState, writeState } from "./state.ts";
import { bridgeName, type HostName, type HostSpec, seedHosts } from "./topology.ts";

/** A running lab, in the process that started it or in any other one of the same machine. */
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
  /** The controller as it was last started, by whichever process. */
  controller(): ControllerRecord | undefined;
  /** Records a controller that has been started, and that `down` is to end. */
  recordController(record: ControllerRecord): void;
}

/** The lab whose state file is in `root`. @throws LabError when there is none. */
export function labHandle(root: string): Lab {
  const { name, datapath, controllerAddress, switchAddress } = requireState(root);
  const namespace = (host: HostName | "ovs") => `${name}-${host}`;
  const ovs = privateOvs({ namespace: namespace("ovs"), root });
  // Read anew each time: more than one process may work with a lab.
  const update = (change: (state: LabState) => Partial<LabState>) => {
    const state = requireState(root);
    writeState(root, { ...state, ...change(state) });
  };
  const adopted = (state: LabState, ref: ProcessRef) => ({ processes: [...state.processes, ref] });
  return {
    name,
    root,
    datapath,
    bridge: bridgeName,
    hosts: seedHosts,
    ovs,
    controllerAddress,
    switchAddress,
    namespace,
    exec: (host, argv, options) => run(inside(namespace(host), argv), withOvs(ovs, options)),
    attempt: (host, argv, options) => attempt(inside(namespace(host), argv), withOvs(ovs, options)),
    curl: (host, url, count = 1, options = {}) => requestFrom(namespace(host), url, count, options),
    capture: (host, { link = "eth0", path = join(root, `${host}-${link}.pcap`), filter } = {}) =>
      startCapture({ namespace: namespace(host), link, path, ...(filter === undefined ? {} : { filter }) }),
    setMac: async (host, mac) => void (await run(["ip", "-n", namespace(host), "link", "set", "eth0", "address", mac])),
    backend: (host) => {
      const spec = seedHosts.find((other) => other.name === host);
      if (spec?.backend !== true) throw new LabError(`${host} is not a backend`);
      return backend(host, namespace(host), root);
    },
    setController: async (target) => void (await ovs.vsctl(...setControllerArgs(target))),
    adopt: (ref) => update((state) => adopted(state, ref)),
    controller: () => requireState(root).controller,
    recordController: (record) => update((state) => ({ controller: record, ...adopted(state, record.process) })),
  };
}

function requireState(root: string): LabState {
  const state = readState(root);
  if (state === undefined) throw new LabError(`no lab runs in ${root}`);
  return state;
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
