/**
 * The only two errors that leave this folder.
 */

/**
 * A received message that must be refused.
 * `code` is the name Open vSwitch gives the error (for instance `OFPBAC_BAD_LEN`); {@link describeError} in
 * `errors-of.ts` turns it into the type/code pair of an OFPT_ERROR. `offset` counts bytes from the start of the part
 * that was being decoded.
 */
export class DecodeError extends Error {
  readonly code: string;
  readonly offset: number;

  constructor(code: string, offset: number, detail: string) {
    super(`${code} at byte ${offset}: ${detail}`);
    this.name = "DecodeError";
    this.code = code;
    this.offset = offset;
  }
}

/** A value that no OpenFlow 1.3 message can carry: a number out of range, a message over 65,535 bytes, an unknown kind. */
export class EncodeError extends Error {
  constructor(detail: string) {
    super(detail);
    this.name = "EncodeError";
  }
}
