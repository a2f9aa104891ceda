/** What a folder holds: the state file and the journals that go on from it, or a sentence on why it cannot be trusted. */
import { join } from "node:path";
import type { Disk } from "./disk.ts";
import { decodeJournal } from "./journal.ts";
import { emptySnapshot, type Snapshot } from "./snapshot.ts";
import { decodeState, type Migrations, type StateFile, StateFileError, snapshotFrom, tablesOf } from "./state-file.ts";

/** A state found. */
export interface Found {
  readonly snapshot: Snapshot;
  /** Of the state file, 0 when there is none. */
  readonly stateGeneration: number;
  /** Of the newest journal. */
  readonly generation: number;
  /** How much of that journal is good. */
  readonly journalBytes: number;
  /** Whether the folder must be written anew before it is used. */
  readonly rewrite: boolean;
}

/** The journal of what came after the state file of `generation`. */
export const journalName = (generation: number): string => `journal-${generation}.log`;

/**
 * Reads the folder. Changes nothing in it.
 *
 * @throws StateFileError
 */
export const recover = async (disk: Disk, folder: string, schema: number, migrations: Migrations): Promise<Found> => {
  const path = join(folder, "state.json");
  const data = await disk.read(path);
  if (data === undefined) {
    await refuseLeftovers(disk, folder);
    return { snapshot: emptySnapshot, stateGeneration: 0, generation: 0, journalBytes: 0, rewrite: true };
  }
  const state = await stateIn(disk, folder, data);
  if (state.schema > schema) {
    throw new StateFileError(
      `${path} has schema ${state.schema}, this program knows schemas up to ${schema}: start the newer program that wrote it.`,
    );
  }
  const replayed = await replay(disk, folder, state);
  if (state.schema === schema) return replayed;
  const snapshot = migrated(path, replayed.snapshot, state.schema, schema, migrations);
  return { ...replayed, snapshot, rewrite: true };
};

const stateIn = async (disk: Disk, folder: string, data: Buffer): Promise<StateFile> => {
  try {
    return decodeState(data);
  } catch (error) {
    if (!(error instanceof StateFileError)) throw error;
    throw new StateFileError(`${join(folder, "state.json")} ${error.message}. ${await advice(disk, folder)}`);
  }
};

const advice = async (disk: Disk, folder: string): Promise<string> => {
  const backup = join(folder, "state.json.bak");
  const data = await disk.read(backup);
  const otherwise = `To begin with an empty state, move everything out of ${folder}.`;
  if (data === undefined) return `There is no copy of it to go back to. ${otherwise}`;
  try {
    const { generation, snapshot } = decodeState(data);
    const size = `${snapshot.size("loadBalancers")} load balancers`;
    return (
      `The copy before it is good (generation ${generation}, ${size}); with its journal it leads up to the present: ` +
      `cp ${backup} ${join(folder, "state.json")}, then start again. ${otherwise}`
    );
  } catch {
    return `${backup} is damaged as well. ${otherwise}`;
  }
};

/** An empty folder is a fresh start; one that has everything but the state file has lost it. */
const refuseLeftovers = async (disk: Disk, folder: string): Promise<void> => {
  const path = join(folder, "state.json");
  for (const name of await disk.list(folder)) {
    const isJournal = /^journal-\d+\.log$/.test(name) && ((await disk.read(join(folder, name)))?.length ?? 0) > 0;
    if (name === "state.json.bak" || isJournal) {
      throw new StateFileError(`${path} is missing, though ${name} is there. ${await advice(disk, folder)}`);
    }
  }
};

const replay = async (disk: Disk, folder: string, state: StateFile): Promise<Found> => {
  let { snapshot, generation } = state;
  let journalBytes = 0;
  let torn: string | undefined;
  // More than one journal: the copy was put back, or a new generation was begun and not finished.
  for (let number = generation; ; number++) {
    const path = join(folder, journalName(number));
    const data = await disk.read(path);
    if (data === undefined) {
      if (number > state.generation) break;
      throw new StateFileError(
        `${path} is missing, and with it what was changed after state.json was written. Restore it from a backup, ` +
          "or create it as an empty file to go on without those changes.",
      );
    }
    const { entries, bytes, damage } = decodeJournal(data);
    const broken = damage ?? (entries.length > 0 ? torn : undefined);
    if (broken !== undefined) {
      throw new StateFileError(
        `${path}: ${broken}. Restore the folder from a backup, or cut the damaged file off there to lose all later changes.`,
      );
    }
    for (const entry of entries) snapshot = snapshot.with(entry.changes, entry.version);
    generation = number;
    journalBytes = bytes;
    torn =
      bytes < data.length ? `${journalName(number)}, which comes before it, is damaged at byte ${bytes}` : undefined;
  }
  const several = generation > state.generation;
  return { snapshot, stateGeneration: state.generation, generation, journalBytes, rewrite: several };
};

const migrated = (path: string, snapshot: Snapshot, from: number, to: number, migrations: Migrations): Snapshot => {
  let tables = tablesOf(snapshot);
  for (let schema = from; schema < to; schema++) {
    const step = migrations[schema];
    if (step === undefined)
      throw new StateFileError(`${path} has schema ${from}, and there is no way from ${schema} up.`);
    tables = step(tables);
  }
  return snapshotFrom(tables, snapshot.version);
};
