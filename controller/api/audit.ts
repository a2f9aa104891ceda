import { closeSync, fstatSync, openSync, renameSync, writeSync } from "node:fs";

/** One request that changed something, or was to. */
export interface AuditEntry {
  readonly at: string;
  /** Name of the token; "anonymous" where none is asked for. */
  readonly who: string;
  readonly from: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The object as it was and as it is now; null where there is none. */
  readonly before: unknown;
  readonly after: unknown;
}

/** Where changes are written down. */
export interface AuditLog {
  write(entry: AuditEntry): void;
  close(): void;
}

/** One generation of older entries is kept beside the file. */
const LARGEST = 16 * 1024 * 1024;

/** A file of JSON lines that only its owner reads. @throws Error of the file system when it cannot be opened */
export function auditFile(path: string, largest = LARGEST): AuditLog {
  let fd = openSync(path, "a", 0o600);
  let size = fstatSync(fd).size;
  return {
    write: (entry) => {
      const line = Buffer.from(`${JSON.stringify(entry)}\n`);
      if (size > 0 && size + line.length > largest) {
        closeSync(fd);
        renameSync(path, `${path}.1`);
        fd = openSync(path, "a", 0o600);
        size = 0;
      }
      size += writeSync(fd, line);
    },
    close: () => closeSync(fd),
  };
}
