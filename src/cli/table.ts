/** One column of a table for people. */
export interface Column<R> {
  readonly title: string;
  readonly cell: (row: R) => string | number;
  /** Numbers stand better to the right. */
  readonly right?: boolean;
}

/** Rows as an aligned table with a header line; an empty table is its header and a dash. */
export function table<R>(rows: readonly R[], columns: readonly Column<R>[]): string {
  const lines = rows.map((r) => columns.map((c) => String(c.cell(r))));
  const widths = columns.map((c, i) => Math.max(c.title.length, ...lines.map((l) => (l[i] as string).length)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((text, i) => {
        const width = widths[i] as number;
        return columns[i]?.right ? text.padStart(width) : text.padEnd(width);
      })
      .join("  ")
      .trimEnd();
  const head = line(columns.map((c) => c.title.toUpperCase()));
  return [head, ...(lines.length > 0 ? lines.map(line) : ["-"])].join("\n");
}
