/** Names become UUIDs, so that what is written in a file has the same identity after every restart and on every node. */
import { createHash } from "node:crypto";

/** Our own namespace, chosen at random once; changing it would change the identity of everything. */
const namespace = Buffer.from("6f0b7a7e2c6d4d0b9a5e4b8f1d3c9a72", "hex");

/**
 * The UUID of a path of names, for instance `nameUuid("segment", "p2")`: version 5, RFC 9562 §5.5. The names are joined with
 * NUL, which none contains, so that no two paths look alike.
 */
export const nameUuid = (...path: readonly string[]): string => {
  const bytes = createHash("sha1").update(namespace).update(path.join("\0")).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x50;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
};
