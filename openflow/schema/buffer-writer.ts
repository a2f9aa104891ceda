import { EncodeError } from "../errors.ts";
import type { Writer } from "./codec.ts";

/** Bytes taken from the system at once. A message that is kept keeps its block alive. */
const BLOCK = 0x1_0000;

const misfit = (value: unknown, bits: number): EncodeError => new EncodeError(`${value} does not fit ${bits} bits`);

/**
 * The calls that encoders make, written by hand for the messages sent by the thousand: smart-buffer checks each write's
 * offset, room and value in functions of their own (the profile is in the README of this folder).
 *
 * One writer makes many things one after another: {@link begin}, writes, {@link take}. They lie side by side in a block,
 * and no byte is written again once it has been taken. Numbers that do not fit their width throw {@link EncodeError}.
 */
export class BufferWriter implements Writer {
  private block = Buffer.allocUnsafeSlow(BLOCK);
  private view = new DataView(this.block.buffer);
  private start = 0;
  private at = 0;

  /** Bytes written since {@link begin}. */
  get writeOffset(): number {
    return this.at - this.start;
  }

  /** Forgets what was written and not taken. */
  begin(): void {
    this.at = this.start;
  }

  /** What was written since {@link begin}: the caller's for good. */
  take(): Buffer {
    const { start, at } = this;
    this.start = at;
    return this.block.subarray(start, at);
  }

  /** The same bytes as characters of one string, and forgets them. */
  takeLatin1(): string {
    const text = this.block.toString("latin1", this.start, this.at);
    this.at = this.start;
    return text;
  }

  writeUInt8(value: number, offset?: number): void {
    if ((value & 0xff) !== value) throw misfit(value, 8);
    const at = offset === undefined ? this.next(1) : this.start + offset;
    this.view.setUint8(at, value);
  }

  writeUInt16BE(value: number, offset?: number): void {
    if ((value & 0xffff) !== value) throw misfit(value, 16);
    const at = offset === undefined ? this.next(2) : this.start + offset;
    this.view.setUint16(at, value);
  }

  writeUInt32BE(value: number, offset?: number): void {
    if (value >>> 0 !== value) throw misfit(value, 32);
    const at = offset === undefined ? this.next(4) : this.start + offset;
    this.view.setUint32(at, value);
  }

  writeBigUInt64BE(value: bigint, offset?: number): void {
    if (BigInt.asUintN(64, value) !== value) throw misfit(value, 64);
    const at = offset === undefined ? this.next(8) : this.start + offset;
    this.view.setBigUint64(at, value);
  }

  writeBuffer(value: Buffer, offset?: number): void {
    const { length } = value;
    const at = offset === undefined ? this.next(length) : this.start + offset;
    // A call into the runtime costs more than a few bytes do.
    if (length > 32) this.block.set(value, at);
    else for (let i = 0; i < length; i++) this.block[at + i] = value[i] as number;
  }

  /** Claims `bytes` bytes behind the last ones. Block and view may be others afterwards. */
  private next(bytes: number): number {
    if (this.at + bytes > this.block.length) this.move(bytes);
    const { at } = this;
    this.at = at + bytes;
    return at;
  }

  /** Goes on in a new block with room for `bytes` more. */
  private move(bytes: number): void {
    const written = this.block.subarray(this.start, this.at);
    this.block = Buffer.allocUnsafeSlow(Math.max(BLOCK, 2 * (written.length + bytes)));
    this.view = new DataView(this.block.buffer);
    this.block.set(written);
    this.start = 0;
    this.at = written.length;
  }
}
