/** A state being changed: what transactions see and write before anything is durable. */
import { parentOf, type Row, type Rows, type TableName, tableNames } from "./rows.ts";
import type { Change, Snapshot, View } from "./snapshot.ts";

/** What a transaction works on. Usable only until its function returns. */
export interface Draft extends View {
  /** Adds a row or replaces the one with its id. */
  put<T extends TableName>(table: T, row: Rows[T]): void;
  /** Does nothing when there is no such row. */
  remove(table: TableName, id: string): void;
}

/** Several transactions in a row on one base. */
export interface Drafting {
  /** Runs one transaction. What it wrote is undone when it throws. */
  run<T>(change: (draft: Draft) => T): { readonly value: T; readonly changed: boolean };
  /** What all of them changed, each row once. */
  changes(): readonly Change[];
}

/** Starts from `base`, which stays as it is. */
export const draftOn = (base: Snapshot): Drafting => {
  const written = new Map<TableName, Map<string, Row | null>>(tableNames.map((t) => [t, new Map()]));
  const over = (table: TableName): Map<string, Row | null> => written.get(table)!;
  let undo: (() => void)[] = [];
  let open = false;

  const write = (table: TableName, id: string, row: Row | null): void => {
    if (!open) throw new Error("a draft is only good inside its transaction");
    const rows = over(table);
    const before = rows.get(id);
    undo.push(before === undefined ? () => rows.delete(id) : () => rows.set(id, before));
    rows.set(id, row);
  };
  const current = (table: TableName, id: string): Row | undefined => {
    const row = over(table).get(id);
    return row === null ? undefined : (row ?? base.get(table, id));
  };
  const added = (table: TableName): readonly Row[] =>
    [...over(table)].flatMap(([id, row]) => (row !== null && base.get(table, id) === undefined ? [row] : []));
  const present = (rows: Iterable<Row>, table: TableName): readonly Row[] =>
    [...rows].flatMap((row) => current(table, row.id) ?? []);

  // The casts hold because `put` files a row under the table its type belongs to.
  const draft: Draft = {
    get: <T extends TableName>(table: T, id: string) => current(table, id) as Rows[T] | undefined,
    all: <T extends TableName>(table: T) => [...present(base.all(table), table), ...added(table)] as Rows[T][],
    children: <T extends TableName>(table: T, parent: string) =>
      [
        ...present(base.children(table, parent), table),
        ...added(table).filter((row) => parentOf(row) === parent),
      ] as Rows[T][],
    size: (table) => {
      let size = base.size(table);
      for (const [id, row] of over(table)) {
        const was = base.get(table, id) !== undefined;
        if (was && row === null) size--;
        if (!was && row !== null) size++;
      }
      return size;
    },
    put: (table, row) => write(table, row.id, row),
    remove: (table, id) => {
      if (current(table, id) !== undefined) write(table, id, null);
    },
  };

  return {
    run: (change) => {
      undo = [];
      open = true;
      try {
        const value = change(draft);
        return { value, changed: undo.length > 0 };
      } catch (error) {
        for (const step of undo.reverse()) step();
        throw error;
      } finally {
        open = false;
      }
    },
    changes: () =>
      tableNames.flatMap((table) =>
        [...over(table)].flatMap(([id, row]) =>
          row === null && base.get(table, id) === undefined ? [] : [{ table, id, row }],
        ),
      ),
  };
};
