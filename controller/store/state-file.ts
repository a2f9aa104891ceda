/** The state file: one JSON document, made to be read by people too, with a checksum over its tables. */
import { createHash } from "node:crypto";
import { type Row, type TableName, tableNames } from "./rows.ts";
import { type Change, emptySnapshot, type Snapshot } from "./snapshot.ts";

const format = "openflow-lb state";

/** The layout of the tables this program writes. */
export const currentSchema = 1;

/** The tables as they stand in the file. */
export type FileTables = Readonly<Record<string, readonly unknown[]>>;

/** Turns tables of one schema into those of the next; the index is the schema it starts from. */
export type Migrations = Readonly<Record<number, (tables: FileTables) => FileTables>>;

/** A readable state file. */
export interface StateFile {
  readonly schema: number;
  /** Rises each time the file is written anew. */
  readonly generation: number;
  readonly snapshot: Snapshot;
}

/** Why a file is refused. */
export class StateFileError extends Error {}

/** The document for `snapshot`: a row per line, so that two files can be compared with `diff`. */
export const encodeState = (snapshot: Snapshot, generation: number, schema: number): string => {
  const tables = tableNames.map((name) => {
    const rows = [...snapshot.all(name)].map((row) => `\n   ${JSON.stringify(row)}`);
    return `\n  ${JSON.stringify(name)}: [${rows.join(",")}]`;
  });
  const head = { format, schema, generation, version: snapshot.version, sha256: digest(tablesOf(snapshot)) };
  return `${JSON.stringify(head).slice(0, -1)},\n "tables": {${tables.join(",")}\n }\n}\n`;
};

/**
 * Reads a document. One without a checksum is taken as edited by hand.
 *
 * @throws StateFileError with the reason, to be put behind the name of the file
 */
export const decodeState = (data: Buffer): StateFile => {
  if (data.length === 0) throw new StateFileError("is empty");
  let document: unknown;
  try {
    document = JSON.parse(data.toString("utf8"));
  } catch (error) {
    throw new StateFileError(`is not whole (${error instanceof Error ? error.message : String(error)})`);
  }
  const { schema, generation, version, sha256, tables } = asDocument(document);
  if (sha256 !== undefined && sha256 !== digest(tables)) {
    throw new StateFileError('does not match its checksum (whoever edits it on purpose removes its "sha256")');
  }
  return { schema, generation, snapshot: snapshotFrom(tables, version) };
};

/** The state that `tables` hold. */
export const snapshotFrom = (tables: FileTables, version: number): Snapshot => {
  const changes: Change[] = [];
  for (const name of tableNames) {
    for (const row of tables[name] ?? []) {
      if (typeof row !== "object" || row === null || typeof (row as Row).id !== "string") {
        throw new StateFileError(`has a row without an id in ${JSON.stringify(name)}`);
      }
      changes.push({ table: name, id: (row as Row).id, row: row as Row });
    }
  }
  return emptySnapshot.with(changes, version);
};

/** The reverse of {@link snapshotFrom}. */
export const tablesOf = (snapshot: Snapshot): FileTables =>
  Object.fromEntries(tableNames.map((name: TableName) => [name, [...snapshot.all(name)]]));

const digest = (tables: FileTables): string => createHash("sha256").update(JSON.stringify(tables)).digest("hex");

const asDocument = (value: unknown) => {
  const d = value as Partial<
    Record<"format" | "schema" | "generation" | "version" | "sha256" | "tables", unknown>
  > | null;
  if (typeof d !== "object" || d === null || d.format !== format) throw new StateFileError("is not a state file");
  const { schema, generation, version, sha256, tables } = d;
  if (!isCount(schema) || !isCount(generation) || !isCount(version)) {
    throw new StateFileError('lacks "schema", "generation" or "version"');
  }
  if (typeof tables !== "object" || tables === null || !Object.values(tables).every(Array.isArray)) {
    throw new StateFileError('has no "tables"');
  }
  return { schema, generation, version, sha256, tables: tables as FileTables };
};

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
