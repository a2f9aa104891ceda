/**
 * One daemon per folder. The lock file names the process that has it by pid and start time, so that a dead one's lock, or one
 * whose pid somebody else has now, is recognised and taken over.
 *
 * Pids of another container or host say nothing here. The owner therefore touches the file every other second, and only a lock
 * left alone for longer is taken from a stranger.
 */
import { randomUUID } from "node:crypto";
import { link, readFile, readlink, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { errorCode } from "./disk.ts";

const heartbeatMs = 2_000;
const abandonedMs = 10_000;
/** How long a taken-over lock is left alone before we look whether another one took it over at the same moment. */
const contestMs = 100;

/** Who holds a lock. */
interface Owner {
  readonly pid: number;
  /** Clock ticks from boot to the start of the process (proc(5), field 22 of stat). */
  readonly started: string;
  /** Boot and pid namespace: where the pid means something. */
  readonly place: string;
  readonly token: string;
}

/** The folder is somebody else's. */
export class LockError extends Error {}

/** A held lock. */
export interface Lock {
  /** Whether somebody has taken it from us: then we must not write any more. */
  lost(): boolean;
  release(): Promise<void>;
}

const startOf = async (pid: number): Promise<string | undefined> => {
  try {
    const text = await readFile(`/proc/${pid}/stat`, "utf8");
    // The command in parentheses may hold anything; state is field 3.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
  } catch {
    return undefined;
  }
};

const here = async (): Promise<string> => {
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
  const namespace = await readlink("/proc/self/ns/pid").catch(() => "");
  return `${boot.trim()} ${namespace}`;
};

const readOwner = async (path: string): Promise<Owner | undefined> => {
  try {
    return JSON.parse(await readFile(path, "utf8")) as Owner;
  } catch (error) {
    if (errorCode(error) === "ENOENT" || error instanceof SyntaxError) return undefined;
    throw error;
  }
};

const isHeld = async (path: string, owner: Owner, place: string): Promise<boolean> => {
  if (owner.place === place) return (await startOf(owner.pid)) === owner.started;
  return Date.now() - (await stat(path)).mtimeMs < abandonedMs;
};

/**
 * Takes the lock of `folder`.
 *
 * @throws LockError when a living process has it
 */
export const takeLock = async (folder: string): Promise<Lock> => {
  const path = join(folder, "lock");
  const token = randomUUID();
  const place = await here();
  const own: Owner = { pid: process.pid, started: (await startOf(process.pid)) ?? "", place, token };
  const draft = join(folder, `lock.${token}`);
  await writeFile(draft, `${JSON.stringify(own)}\n`, { mode: 0o600 });
  try {
    await claim(path, draft, own);
  } finally {
    await rm(draft, { force: true });
  }

  let lost = false;
  const beat = async (): Promise<void> => {
    const owner = await readOwner(path).catch(() => own);
    if (owner?.token !== token) lost = true;
    else await utimes(path, new Date(), new Date()).catch(() => undefined);
  };
  const timer = setInterval(() => void beat(), heartbeatMs);
  timer.unref();
  return {
    lost: () => lost,
    release: async () => {
      clearInterval(timer);
      if ((await readOwner(path))?.token === token) await rm(path, { force: true });
    },
  };
};

const claim = async (path: string, draft: string, own: Owner): Promise<void> => {
  try {
    await link(draft, path);
    return;
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
  const owner = await readOwner(path);
  if (owner !== undefined && (await isHeld(path, owner, own.place))) throw new LockError(busy(path, owner));
  await rename(draft, path);
  await delay(contestMs);
  const winner = await readOwner(path);
  if (winner?.token !== own.token) throw new LockError(busy(path, winner));
};

const busy = (path: string, owner: Owner | undefined): string =>
  `${path}: the folder is in use by process ${owner?.pid ?? "unknown"}. Stop that process, or give this one another folder.`;
