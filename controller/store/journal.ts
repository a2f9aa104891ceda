/**
 * The journal: one line per write, `CRC JSON`. A line is whole or it was never acknowledged, for the next one is begun only when
 * it is on the disk. So damage in the last line is what a crash leaves; damage before it is a broken disk or a careless hand.
 */
import { crc32 } from "node:zlib";
import { type Row, type TableName, tableNames } from "./rows.ts";
import type { Change } from "./snapshot.ts";

/** One write. */
export interface JournalEntry {
  /** Of the state after it. */
  readonly version: number;
  readonly changes: readonly Change[];
}

/** What a journal holds. */
export interface Journal {
  readonly entries: readonly JournalEntry[];
  /** Length of the part that is whole. */
  readonly bytes: number;
  /** Set when a line before the last one is damaged: what is wrong and where. */
  readonly damage?: string;
}

const checksum = (text: string | Buffer): string => crc32(text).toString(16).padStart(8, "0");

/** The line for an entry. */
export const encodeEntry = (entry: JournalEntry): Buffer => {
  const json = JSON.stringify([entry.version, ...entry.changes.map((c) => [c.table, c.id, c.row])]);
  return Buffer.from(`${checksum(json)} ${json}\n`);
};

const decodeEntry = (line: Buffer): JournalEntry | undefined => {
  if (line[8] !== 0x20 || checksum(line.subarray(9)) !== line.toString("latin1", 0, 8)) return undefined;
  const [version, ...changes] = JSON.parse(line.toString("utf8", 9)) as [number, ...[TableName, string, Row | null][]];
  return {
    version,
    changes: changes.filter(([table]) => tableNames.includes(table)).map(([table, id, row]) => ({ table, id, row })),
  };
};

/** Reads as far as the journal is whole. */
export const decodeJournal = (data: Buffer): Journal => {
  const entries: JournalEntry[] = [];
  let bytes = 0;
  while (bytes < data.length) {
    const end = data.indexOf(0x0a, bytes);
    const entry = end < 0 ? undefined : decodeEntry(data.subarray(bytes, end));
    if (entry === undefined) {
      const rest = end < 0 ? -1 : laterEntry(data, end + 1);
      return rest < 0
        ? { entries, bytes }
        : { entries, bytes, damage: `the record at byte ${bytes} is damaged, though good ones follow at byte ${rest}` };
    }
    entries.push(entry);
    bytes = end + 1;
  }
  return { entries, bytes };
};

/** Where the first good line at or after `from` begins, -1 when there is none. */
const laterEntry = (data: Buffer, from: number): number => {
  for (let at = from; at < data.length; ) {
    const end = data.indexOf(0x0a, at);
    if (end < 0) return -1;
    if (decodeEntry(data.subarray(at, end)) !== undefined) return at;
    at = end + 1;
  }
  return -1;
};
