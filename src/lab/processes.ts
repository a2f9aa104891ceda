import { spawn } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { patience } from "./patience.ts";
import { LabError, toolPath } from "./shell.ts";

/**
 * A process that stays recognisable: the kernel hands pids out again, but no two processes share both the pid and
 * the start time (clock ticks since boot, proc(5) /proc/pid/stat field 22).
 */
export interface ProcessRef {
  readonly pid: number;
  readonly startTime: string;
}

/** The process with this pid, or undefined when there is none (one that waits to be reaped counts as none). */
function processRef(pid: number): ProcessRef | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined;
  }
  // The program's name (field 2) may hold spaces and brackets, so count from the last bracket.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state] = fields;
  const startTime = fields[19];
  return startTime === undefined || state === "Z" || state === "X" ? undefined : { pid, startTime };
}

/** This very process. */
export function ownProcess(): ProcessRef {
  const ref = processRef(process.pid);
  if (ref === undefined) throw new LabError("/proc is not mounted: the lab needs Linux");
  return ref;
}

export function isAlive(ref: ProcessRef): boolean {
  return processRef(ref.pid)?.startTime === ref.startTime;
}

/** Sends a signal to that process, never to another one that got its pid. False when it is gone. */
export function signal(ref: ProcessRef, name: NodeJS.Signals): boolean {
  if (!isAlive(ref)) return false;
  try {
    process.kill(ref.pid, name);
    return true;
  } catch {
    return false;
  }
}

/** Waits until the process is gone; false when it is still there after `ms` milliseconds (see {@link patience}). */
export async function waitGone(ref: ProcessRef, ms: number): Promise<boolean> {
  for (const deadline = Date.now() + patience(ms); isAlive(ref); await sleep(10)) {
    if (Date.now() > deadline) return false;
  }
  return true;
}

/** Asks with SIGTERM, waits up to `ms` milliseconds, then kills. */
export async function terminate(ref: ProcessRef, ms: number): Promise<void> {
  // A paused process would not even notice SIGTERM.
  signal(ref, "SIGCONT");
  signal(ref, "SIGTERM");
  if (await waitGone(ref, ms)) return;
  signal(ref, "SIGKILL");
  await waitGone(ref, 2000);
}

/**
 * Starts a process in a session of its own, so that the terminal's Ctrl-C does not reach it: the lab ends its
 * processes itself, in the right order. What it prints is appended to the file `log`.
 */
export async function startDetached(
  argv: readonly string[],
  log: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ProcessRef> {
  const [program = "", ...args] = argv;
  const fd = openSync(log, "a");
  try {
    const child = spawn(program, args, {
      detached: true,
      stdio: ["ignore", fd, fd],
      env: { ...process.env, ...env, PATH: toolPath },
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error) => reject(new LabError(`cannot start \`${argv.join(" ")}\`: ${error.message}`)));
    });
    child.unref();
    const ref = child.pid === undefined ? undefined : processRef(child.pid);
    if (ref === undefined) throw new LabError(`\`${argv.join(" ")}\` ended at once; its output is in ${log}`);
    return ref;
  } finally {
    closeSync(fd);
  }
}

/** Processes that run inside any of these network namespaces (names under /run/netns, see ip-netns(8)). */
export function processesInNamespaces(namespaces: readonly string[]): readonly ProcessRef[] {
  const wanted = new Set(namespaces.map(namespaceInode).filter((inode) => inode !== undefined));
  if (wanted.size === 0) return [];
  return readdirSync("/proc")
    .filter((entry) => /^[0-9]+$/.test(entry))
    .map(Number)
    .filter((pid) => wanted.has(processNamespace(pid) ?? ""))
    .map(processRef)
    .filter((ref) => ref !== undefined);
}

/** The process with this pid if it runs inside that network namespace. */
export function processInNamespace(pid: number, namespace: string): ProcessRef | undefined {
  const inode = namespaceInode(namespace);
  return inode !== undefined && processNamespace(pid) === inode ? processRef(pid) : undefined;
}

/** True when a process listens on this TCP port in its own network namespace. */
export function listensOn(ref: ProcessRef, port: number): boolean {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const listening = "0A";
  try {
    return readFileSync(`/proc/${ref.pid}/net/tcp`, "latin1")
      .split("\n")
      .some((line) => {
        const [, local = "", , state] = line.trim().split(/\s+/);
        return local.endsWith(`:${hex}`) && state === listening;
      });
  } catch {
    return false;
  }
}

function namespaceInode(name: string): string | undefined {
  try {
    return `net:[${statSync(`/run/netns/${name}`).ino}]`;
  } catch {
    return undefined;
  }
}

function processNamespace(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return undefined;
  }
}
