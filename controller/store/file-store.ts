/**
 * The store in a folder: `state.json` holds the whole state of one moment, `journal-N.log` every change since. N is the
 * generation of the state file the journal goes on from. When the journal has grown, a new generation is written.
 *
 * Kept beside: `state.json.bak`, the generation before, and its journal, which leads up to the present one. So putting the copy
 * back loses nothing.
 */
import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type AppendFile, type Disk, errorCode, nodeDisk } from "./disk.ts";
import { encodeEntry } from "./journal.ts";
import { type Lock, takeLock } from "./lock.ts";
import { type Found, journalName, recover } from "./recovery.ts";
import { currentSchema, encodeState, type Migrations } from "./state-file.ts";
import { type Batch, type Log, type Store, StoreUnavailable, storeOn } from "./store.ts";

/** What may be chosen; the defaults are for production. */
export interface FileStoreOptions {
  readonly disk?: Disk;
  readonly schema?: number;
  readonly migrations?: Migrations;
  /** How long a journal may grow beside a state file of so many bytes before it is folded into a new one. */
  readonly journalLimit?: (stateBytes: number) => number;
  /** Told of what went wrong without any harm to a request, such as a state file that could not be renewed. */
  readonly report?: (error: unknown) => void;
}

/** Rewriting costs as much as the state is long: so that it stays a small part of what is written in all. */
const defaultLimit = (stateBytes: number): number => Math.max(4 << 20, 2 * stateBytes);

/**
 * Opens the store in `folder`, which is made if it is not there.
 *
 * @throws LockError when a living daemon has the folder; StateFileError when the files in it cannot be trusted. Both say what to do
 */
export const openFileStore = async (folder: string, options: FileStoreOptions = {}): Promise<Store> => {
  const { disk = nodeDisk, schema = currentSchema, migrations = {}, journalLimit = defaultLimit } = options;
  const report = options.report ?? ((error) => process.emitWarning(String(error)));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await disk.syncFolder(dirname(resolve(folder)));
  const lock = await takeLock(folder);
  try {
    const found = await recover(disk, folder, schema, migrations);
    const log = folderLog({ disk, folder, schema, lock, journalLimit, report }, found);
    await (found.rewrite ? log.renew() : log.resume());
    return storeOn(log, found.snapshot, report);
  } catch (error) {
    await lock.release();
    throw error;
  }
};

interface Place {
  readonly disk: Disk;
  readonly folder: string;
  readonly schema: number;
  readonly lock: Lock;
  readonly journalLimit: (stateBytes: number) => number;
  readonly report: (error: unknown) => void;
}

interface FolderLog extends Log {
  /** Goes on with the newest journal as it was found. */
  resume(): Promise<void>;
  /** Writes a new generation. */
  renew(): Promise<void>;
}

const folderLog = (place: Place, found: Found): FolderLog => {
  const { disk, folder, schema, lock, journalLimit, report } = place;
  const file = (name: string): string => join(folder, name);
  let { generation, stateGeneration, snapshot: durable } = found;
  let journal: AppendFile | undefined;
  let length = found.journalBytes;
  let limit = journalLimit(0);
  /** False while only a new generation can make sure that what is on the disk is what was acknowledged. */
  let trusted = true;

  const openJournal = async (): Promise<void> => {
    journal = await disk.append(file(journalName(generation)));
    await journal.truncate(length);
  };

  const renew = async (): Promise<void> => {
    const text = encodeState(durable, generation + 1, schema);
    // An empty journal first: a state file without one would be taken for damaged.
    await disk.write(file(journalName(generation + 1)), "");
    await disk.write(file("state.json.tmp"), text);
    if (stateGeneration > 0) await disk.alias(file("state.json"), file("state.json.bak"));
    await disk.syncFolder(folder);
    const kept = stateGeneration;
    trusted = false;
    generation++;
    await disk.rename(file("state.json.tmp"), file("state.json"));
    await disk.syncFolder(folder);
    const old = journal;
    journal = undefined;
    await old?.close();
    length = 0;
    await openJournal();
    stateGeneration = generation;
    limit = journalLimit(Buffer.byteLength(text));
    trusted = true;
    await discardBefore(kept);
  };

  /** The journals from the generation of the copy on are what makes the copy good. */
  const discardBefore = async (oldest: number): Promise<void> => {
    for (const name of await disk.list(folder)) {
      const number = /^journal-(\d+)\.log$/.exec(name)?.[1];
      if (number !== undefined && Number(number) < oldest) await disk.remove(file(name));
    }
  };

  const renewWhenGrown = async (): Promise<void> => {
    if (length <= limit) return;
    try {
      await renew();
    } catch (error) {
      limit = length + journalLimit(0);
      report(error);
    }
  };

  const write = async (line: Buffer): Promise<void> => {
    if (!trusted) await renew();
    try {
      await journal!.append(line);
    } catch (error) {
      // Bytes that got through all the same must not come back at the next start.
      trusted = false;
      await journal?.truncate(length);
      trusted = true;
      throw error;
    }
  };

  return {
    renew,
    resume: openJournal,
    append: async ({ changes, next }: Batch) => {
      if (lock.lost())
        throw new StoreUnavailable(`another process has taken ${folder} over: nothing is written any more`);
      const line = encodeEntry({ version: next.version, changes });
      try {
        await write(line);
      } catch (error) {
        const code = errorCode(error);
        const reason = error instanceof Error ? error.message : String(error);
        throw new StoreUnavailable(
          `cannot write to ${folder}: ${reason}`,
          code === "ENOSPC" || code === "EDQUOT",
          error,
        );
      }
      length += line.length;
      durable = next;
      await renewWhenGrown();
    },
    close: async () => {
      await journal?.close();
      await lock.release();
    },
  };
};
