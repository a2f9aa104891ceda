import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { DatapathType } from "./ovs.ts";
import type { ProcessRef } from "./processes.ts";
import { LabError } from "./shell.ts";

/** What a lab has made or is about to make, so that a later process can remove all of it and nothing else. */
export interface LabState {
  readonly name: string;
  /** The process that started the lab. */
  readonly owner: ProcessRef;
  readonly startedAt: string;
  readonly datapath: DatapathType;
  readonly namespaces: readonly string[];
  /** The interface in the host's own network namespace. */
  readonly hostLink: string;
  /** Where the lab's switch finds a controller, and from which address it comes there. */
  readonly controllerAddress: string;
  readonly switchAddress: string;
  /** Processes outside the lab's namespaces, in the order in which they are to be ended. */
  readonly processes: readonly ProcessRef[];
  /** The controller, once it has been started. */
  readonly controller?: ControllerRecord;
}

/** A controller as it was last started, so that another process can tell it something or start it again. */
export interface ControllerRecord {
  readonly process: ProcessRef;
  readonly argv: readonly string[];
  /** Base URL of the API and of the web page. */
  readonly web: string;
  /** What the switch has as its controller, such as "tcp:169.254.77.1:6653". */
  readonly target: string;
  /** The topology file it reads, again on SIGHUP. */
  readonly config: string;
  readonly log: string;
}

/** Default folder of a lab. */
export function labRoot(name: string): string {
  return `/tmp/openflow-lb-${name}`;
}

/** Names end up in namespace names and in an interface name, which has 15 characters at most. */
export function checkLabName(name: string): void {
  if (!/^[a-z][a-z0-9]{0,11}$/.test(name)) {
    throw new LabError(`bad lab name "${name}": a small letter, then up to 11 small letters or digits`);
  }
}

/** Undefined when no lab has been started in this folder. */
export function readState(root: string): LabState | undefined {
  const path = stateFile(root);
  if (!existsSync(path)) return undefined;
  requireOwnFolder(root);
  try {
    return JSON.parse(readFileSync(path, "utf8")) as LabState;
  } catch (error) {
    throw new LabError(`${path} is not readable: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/**
 * Takes the folder: of two labs that start at once in one folder, one gets it.
 *
 * @throws LabError when the folder has a state file already, or holds anything else: `down` will remove it whole.
 */
export function createState(root: string, state: LabState): void {
  mkdirSync(root, { recursive: true });
  requireOwnFolder(root);
  const draft = join(root, `.lab.${process.pid}`);
  if (readdirSync(root).some((entry) => !entry.startsWith(".lab."))) {
    throw new LabError(`${root} holds something that is not this lab's`);
  }
  writeFileSync(draft, serialize(state));
  try {
    // A link appears with its whole content or not at all, and never replaces another.
    linkSync(draft, stateFile(root));
  } catch {
    throw new LabError(`another lab is just being started in ${root}`);
  } finally {
    rmSync(draft);
  }
}

/** Replaces the file in one step, so that a crash leaves the old or the new one. */
export function writeState(root: string, state: LabState): void {
  const next = `${stateFile(root)}.next`;
  writeFileSync(next, serialize(state));
  renameSync(next, stateFile(root));
}

/** Removes the folder; the state file goes last, since only with it the next attempt knows what is left. */
export function removeRoot(root: string): void {
  for (const entry of readdirSync(root)) {
    const path = join(root, entry);
    if (path !== stateFile(root)) rmSync(path, { recursive: true, force: true });
  }
  rmSync(stateFile(root), { force: true });
  rmdirSync(root);
}

/** Anybody may make a folder in /tmp: what another user wrote there must not tell root which processes to end. */
function requireOwnFolder(root: string): void {
  const stat = lstatSync(root);
  if (!stat.isDirectory() || stat.uid !== process.getuid?.()) throw new LabError(`${root} belongs to somebody else`);
}

function stateFile(root: string): string {
  return join(root, "lab.json");
}

function serialize(state: LabState): string {
  return `${JSON.stringify(state, null, 2)}\n`;
}
