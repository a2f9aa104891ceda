/** The text of a configuration file, or why there is none. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { ConfigError } from "./errors.ts";

/** Bytes. A topology of a thousand segments has some hundred thousand; what is larger is not a topology. */
const maxFileSize = 4 * 1024 * 1024;

export type FileText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly errors: readonly ConfigError[] };

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  EACCES: "permission denied",
  ENOTDIR: "a part of the path is not a directory",
};

/** At most one byte more than is allowed, so that a device or a pipe without end cannot fill the memory. */
const readBytes = (fd: number): Buffer => {
  const bytes = Buffer.alloc(Math.min(maxFileSize, fstatSync(fd).size) + 1);
  let length = 0;
  for (;;) {
    const n = readSync(fd, bytes, length, bytes.length - length, null);
    length += n;
    if (n === 0 || length === bytes.length) return bytes.subarray(0, length);
  }
};

/** UTF-8 text without NUL; `file` is its name in errors. The error says in which line and column the bad byte is. */
export const decodeText = (bytes: Uint8Array, file: string): FileText => {
  const fail = (line: number, column: number, message: string): FileText => ({
    ok: false,
    errors: [{ file, line, column, field: "", message }],
  });
  if (bytes.length > maxFileSize) {
    return fail(1, 1, `larger than ${maxFileSize / 1024 / 1024} MiB`);
  }
  const strict = new TextDecoder("utf-8", { fatal: true });
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline < 0 ? bytes.length : newline;
    const part = bytes.subarray(start, end);
    try {
      const nul = strict.decode(part).indexOf("\0");
      if (nul >= 0) return fail(line, nul + 1, "contains a NUL character");
    } catch {
      // The lenient decoder puts U+FFFD where the strict one gave up.
      return fail(line, new TextDecoder().decode(part).indexOf("\ufffd") + 1, "is not valid UTF-8");
    }
    start = end + 1;
  }
  return { ok: true, text: strict.decode(bytes) };
};

/** Reads `path`. Never throws: what the system says becomes an error like any other. */
export const readTextFile = (path: string): FileText => {
  let fd: number | undefined;
  try {
    fd = openSync(path, "r");
    if (fstatSync(fd).isDirectory()) throw new Error("is a directory, not a regular file");
    if (!fstatSync(fd).isFile()) throw new Error("is not a regular file");
    return decodeText(readBytes(fd), path);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    const reason = reasons[code] ?? (cause instanceof Error ? cause.message : String(cause));
    return { ok: false, errors: [{ file: path, line: 1, column: 1, field: "", message: `cannot be read: ${reason}` }] };
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
};
