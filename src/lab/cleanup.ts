import { setTimeout as sleep } from "node:timers/promises";
import { removeNetwork } from "./network.ts";
import { isAlive, type ProcessRef, processesInNamespaces, signal, terminate } from "./processes.ts";
import { LabError } from "./shell.ts";
import { readState, removeRoot } from "./state.ts";

/** A lab that runs already; not a failure to somebody who only wants one to be there. */
export class AlreadyRunningError extends LabError {
  override name = "AlreadyRunningError";
  readonly web: string | undefined;

  constructor(name: string, owner: ProcessRef, web: string | undefined) {
    super(`lab "${name}" is already running (process ${owner.pid})`);
    this.web = web;
  }
}

/** @throws AlreadyRunningError when the process that started the lab in this folder lives. */
export function refuseIfRunning(root: string): void {
  const state = readState(root);
  if (state !== undefined && isAlive(state.owner)) throw new AlreadyRunningError(state.name, state.owner, state.web);
}

/**
 * Removes everything that the state file in `root` names, and the folder. Works on a whole lab, on one that is half
 * built and on one that is half removed.
 *
 * @returns whether there was something to remove.
 */
export async function cleanUp(root: string): Promise<boolean> {
  const state = readState(root);
  if (state === undefined) return false;
  // `down` in a second terminal: the first one's process takes its lab down itself when asked to.
  if (state.owner.pid !== process.pid) {
    await terminate(state.owner, 15_000);
    if (readState(root) === undefined) return true;
  }
  for (const ref of state.processes) await terminate(ref, 5000);
  await killInNamespaces(state.namespaces);
  await removeNetwork(state.namespaces, state.hostLink);
  removeRoot(root);
  return true;
}

/** Whatever runs in the lab's own namespaces is the lab's, also what was started by hand in there. */
async function killInNamespaces(namespaces: readonly string[]): Promise<void> {
  for (let round = 0; round < 200; round++) {
    const running = processesInNamespaces(namespaces).filter((ref) => ref.pid !== process.pid);
    if (running.length === 0) return;
    for (const ref of running) signal(ref, "SIGKILL");
    await sleep(10);
  }
  throw new LabError(`processes in the namespaces ${namespaces.join(", ")} do not end`);
}
