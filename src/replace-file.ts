import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Writes a file whole. It is on disk when this returns, and a crash at any instant leaves the old one or the new one.
 *
 * @throws Error of the file system; then the old one is still there.
 */
export function replaceFile(path: string, text: string, mode = 0o600): void {
  const fd = openSync(`${path}.new`, "w", mode);
  try {
    // Neither the umask nor the mode of what an earlier crash left has a say.
    fchmodSync(fd, mode);
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(`${path}.new`, path);
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
