import { DecodeError } from "./errors.ts";
import { HEADER_SIZE, OFP_VERSION } from "./messages/define.ts";

/** Why a stream cannot be cut into messages any more, and the header to quote in the OFPT_ERROR. */
export interface FrameFailure {
  readonly error: DecodeError;
  readonly header: Buffer;
}

/** HELLO, ERROR, ECHO_REQUEST and ECHO_REPLY keep their meaning in every version (OF1.3.5 §6.3.1). */
const LAST_COMMON_TYPE = 3;

/**
 * Cuts a byte stream into whole OpenFlow messages, however it is chunked. A message inside one chunk is a slice of it;
 * one that spans chunks is copied once, into a buffer of exactly its length. So at most one incomplete message (under
 * 64 KiB) is held, and the time spent is linear in the bytes.
 *
 * A header with a length below 8, or with a foreign version (HELLO, ERROR and ECHO may have any), sets
 * {@link failure}: the messages before it are still returned, and nothing after it ever is.
 */
export class Framer {
  readonly #header = Buffer.alloc(HEADER_SIZE);
  /** The message being assembled, once its header is there. */
  #body: Buffer | undefined;
  #have = 0;
  #failure: FrameFailure | undefined;

  get failure(): FrameFailure | undefined {
    return this.#failure;
  }

  /** Bytes of an incomplete message held back. */
  get pending(): number {
    return this.#have;
  }

  /** Messages that `chunk` completes, in order. */
  push(chunk: Buffer): Buffer[] {
    const out: Buffer[] = [];
    let at = 0;
    while (at < chunk.length && !this.#failure) {
      at = this.#have === 0 ? this.#whole(chunk, at, out) : this.#resume(chunk, at, out);
    }
    return out;
  }

  /** Takes a message that begins at `at`, whole if the chunk has it all. Returns where the next one begins. */
  #whole(chunk: Buffer, at: number, out: Buffer[]): number {
    const left = chunk.length - at;
    if (left < HEADER_SIZE) {
      this.#have = chunk.copy(this.#header, 0, at);
      return chunk.length;
    }
    const length = this.#lengthOf(chunk, at);
    if (length <= left) {
      if (length > 0) out.push(chunk.subarray(at, at + length));
      return at + length;
    }
    this.#body = Buffer.allocUnsafe(length);
    this.#have = chunk.copy(this.#body, 0, at);
    return chunk.length;
  }

  /** Adds bytes to the incomplete message. Returns how far it used the chunk. */
  #resume(chunk: Buffer, at: number, out: Buffer[]): number {
    const target = this.#body ?? this.#header;
    const copied = chunk.copy(target, this.#have, at);
    this.#have += copied;
    if (this.#have < target.length) return at + copied;
    if (this.#body === undefined) {
      const length = this.#lengthOf(this.#header, 0);
      if (length === 0) return chunk.length;
      this.#body = Buffer.allocUnsafe(length);
      this.#header.copy(this.#body);
    }
    if (this.#have === this.#body.length) {
      out.push(this.#body);
      this.#body = undefined;
      this.#have = 0;
    }
    return at + copied;
  }

  /** The length in the header at `at`; 0 after setting {@link failure}. */
  #lengthOf(b: Buffer, at: number): number {
    const version = b[at] as number;
    const type = b[at + 1] as number;
    const length = b.readUInt16BE(at + 2);
    let error: DecodeError | undefined;
    if (version !== OFP_VERSION && (version === 0 || type > LAST_COMMON_TYPE)) {
      error = new DecodeError("OFPBRC_BAD_VERSION", 0, `a message of version ${version}`);
    } else if (length < HEADER_SIZE) error = new DecodeError("OFPBRC_BAD_LEN", 2, `a message of ${length} bytes`);
    if (!error) return length;
    this.#failure = { error, header: Buffer.from(b.subarray(at, at + HEADER_SIZE)) };
    this.#body = undefined;
    this.#have = 0;
    return 0;
  }
}
