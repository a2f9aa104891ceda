import { Buffer } from "node:buffer";

/**
 * The same memory seen as a Buffer (no copy), for its big-endian readers.
 * A view never reaches past the given bytes even when they lie inside a larger ArrayBuffer.
 */
export const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
