import { SmartBuffer } from "smart-buffer";
import { expect, test } from "vitest";
import { encode } from "../../openflow/codec.ts";
import { EncodeError } from "../../openflow/errors.ts";
import { messages } from "../../openflow/messages/all.ts";
import { type AnyMessageDef, writeMessage } from "../../openflow/messages/define.ts";
import { BufferWriter } from "../../openflow/schema/buffer-writer.ts";
import type { Writer } from "../../openflow/schema/codec.ts";
import { messagesOf } from "../support/messages.ts";
import { rng } from "../support/rng.ts";

/** Some of every call, with `size` bytes in the middle and a length patched in before them. */
function writeSome(w: Writer, seed: number, size: number): void {
  w.writeUInt8(seed & 0xff);
  w.writeUInt16BE(0);
  w.writeUInt32BE(0xffff_ffff - seed);
  w.writeBuffer(Buffer.alloc(size, seed));
  w.writeBigUInt64BE(0xffff_ffff_ffff_ffffn - BigInt(seed));
  w.writeUInt16BE(w.writeOffset & 0xffff, 1);
}

test("writes what smart-buffer writes, across blocks, and leaves alone what was taken", () => {
  const w = new BufferWriter();
  const taken: { bytes: Buffer; expected: Buffer }[] = [];
  for (let i = 0; i < 6000; i++) {
    const size = i % 500 === 0 ? 70_000 : i % 61;
    const reference = SmartBuffer.fromSize(256);
    writeSome(reference, i, size);
    w.begin();
    writeSome(w, i, size);
    expect(w.writeOffset).toBe(reference.writeOffset);
    taken.push({ bytes: w.take(), expected: reference.toBuffer() });
  }
  expect(taken.findIndex(({ bytes, expected }) => !bytes.equals(expected))).toBe(-1);
});

test("begins anew after a write that failed, and after characters were taken", () => {
  const w = new BufferWriter();
  w.writeUInt32BE(1);
  expect(() => w.writeUInt8(256)).toThrow(EncodeError);
  w.begin();
  w.writeUInt16BE(0xff41);
  expect(w.takeLatin1()).toBe("\u00ffA");
  expect(w.writeOffset).toBe(0);
  w.writeUInt8(7);
  expect([...w.take()]).toEqual([7]);
});

test("refuses numbers that do not fit", () => {
  const w = new BufferWriter();
  for (const n of [-1, 0.5, 256, Number.NaN]) expect(() => w.writeUInt8(n), `${n}`).toThrow(EncodeError);
  for (const n of [-1, 0.5, 65_536, Number.NaN]) expect(() => w.writeUInt16BE(n), `${n}`).toThrow(EncodeError);
  for (const n of [-1, 0.5, 2 ** 32, Number.NaN]) expect(() => w.writeUInt32BE(n), `${n}`).toThrow(EncodeError);
  for (const n of [-1n, 2n ** 64n]) expect(() => w.writeBigUInt64BE(n), `${n}`).toThrow(EncodeError);
  expect(w.writeOffset).toBe(0);
});

test("flow mods and bundles are the bytes that smart-buffer makes of the same definition", () => {
  const random = rng(20);
  for (const type of ["flow_mod", "bundle_add_message"] as const) {
    const def = messages.byName.get(type) as AnyMessageDef;
    for (let i = 0; i < 400; i++) {
      const [message] = messagesOf(random).filter((m) => m.type === type);
      const w = SmartBuffer.fromSize(256);
      writeMessage(w, def, message);
      expect(message && encode(message).equals(w.toBuffer()), `${type} ${i}`).toBe(true);
    }
  }
});
