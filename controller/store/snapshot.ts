/** Immutable states: each is the one before plus some changes, sharing whatever those did not touch. */
import { parentOf, type Row, type Rows, type TableName, tableNames } from "./rows.ts";

/** A row that was put, or removed when `row` is null. */
export interface Change {
  readonly table: TableName;
  readonly id: string;
  readonly row: Row | null;
}

/** Reading access, to a state at rest and to one in the middle of a transaction alike. */
export interface View {
  get<T extends TableName>(table: T, id: string): Rows[T] | undefined;
  /** All rows of a table, oldest first. */
  all<T extends TableName>(table: T): Iterable<Rows[T]>;
  /** The rows that belong to `parent`, oldest first. */
  children<T extends TableName>(table: T, parent: string): readonly Rows[T][];
  size(table: TableName): number;
}

/** A state that does not change any more. */
export interface Snapshot extends View {
  /** Counts the transactions that changed something. */
  readonly version: number;
  /** The state after `changes`. */
  with(changes: readonly Change[], version: number): Snapshot;
}

interface Table {
  readonly rows: ReadonlyMap<string, Row>;
  readonly ids: ReadonlyMap<string, readonly string[]>;
}

type Tables = Readonly<Record<TableName, Table>>;

const emptyTable: Table = { rows: new Map(), ids: new Map() };

/** A state without rows. */
export const emptySnapshot: Snapshot = snapshotOf(
  Object.fromEntries(tableNames.map((name) => [name, emptyTable])) as Record<TableName, Table>,
  0,
);

function snapshotOf(tables: Tables, version: number): Snapshot {
  // The casts below hold because `put` files a row under the table its type belongs to.
  return {
    version,
    get: <T extends TableName>(table: T, id: string) => tables[table].rows.get(id) as Rows[T] | undefined,
    all: <T extends TableName>(table: T) => tables[table].rows.values() as Iterable<Rows[T]>,
    children: <T extends TableName>(table: T, parent: string) => {
      const { rows, ids } = tables[table];
      return (ids.get(parent) ?? []).map((id) => rows.get(id)) as Rows[T][];
    },
    size: (table) => tables[table].rows.size,
    with: (changes, next) => snapshotOf(applied(tables, changes), next),
  };
}

function applied(tables: Tables, changes: readonly Change[]): Tables {
  const next: Record<TableName, Table> = { ...tables };
  for (const name of tableNames) {
    const own = changes.filter((c) => c.table === name);
    if (own.length > 0) next[name] = changedTable(tables[name], own);
  }
  return next;
}

function changedTable(table: Table, changes: readonly Change[]): Table {
  const rows = new Map(table.rows);
  const ids = new Map(table.ids);
  // A parent's list is copied once, however many of its rows come or go.
  const copied = new Map<string, Set<string>>();
  const idsOf = (parent: string): Set<string> => {
    const set = copied.get(parent) ?? new Set(ids.get(parent));
    copied.set(parent, set);
    return set;
  };
  for (const { id, row } of changes) {
    const before = rows.get(id);
    if (row === null) {
      if (before !== undefined) idsOf(parentOf(before)).delete(id);
      rows.delete(id);
    } else {
      if (before === undefined) idsOf(parentOf(row)).add(id);
      rows.set(id, row);
    }
  }
  for (const [parent, set] of copied) {
    if (set.size > 0) ids.set(parent, [...set]);
    else ids.delete(parent);
  }
  return { rows, ids };
}
