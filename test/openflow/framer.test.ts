import fc from "fast-check";
import { expect, test } from "vitest";
import { encode } from "../../openflow/codec.ts";
import { Framer } from "../../openflow/framer.ts";
import { messagesOf } from "../support/messages.ts";
import { rng } from "../support/rng.ts";

const hex = (b: Buffer): string => b.toString("hex");
const stream = [1, 2].flatMap((seed) => messagesOf(rng(seed)).map((m) => encode(m)));

/** Cuts `b` at random places, sometimes into nothing. */
function chunks(b: Buffer, seed: number, most: number): Buffer[] {
  const r = rng(seed);
  const out: Buffer[] = [];
  for (let at = 0; at < b.length; ) {
    const n = r.below(most + 1);
    out.push(b.subarray(at, at + n));
    at += n;
  }
  return out;
}

test("any chunking gives the messages that were sent", () => {
  const whole = Buffer.concat(stream);
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 2 ** 31 }),
      fc.constantFrom(1, 3, 7, 8, 9, 64, 1500, 100_000),
      (seed, most) => {
        const framer = new Framer();
        const got = chunks(whole, seed, most).flatMap((c) => framer.push(c));
        expect(got.map(hex)).toEqual(stream.map(hex));
        expect(framer.pending).toBe(0);
        expect(framer.failure).toBeUndefined();
      },
    ),
    { seed: 5, numRuns: 60 },
  );
});

test("one byte at a time, a message of the greatest length is assembled once", () => {
  const big = encode({ type: "echo_request", xid: 9, data: rng(4).bytes(65_527) });
  const framer = new Framer();
  const got: Buffer[] = [];
  for (let i = 0; i < big.length; i++) {
    expect(framer.pending).toBe(i);
    got.push(...framer.push(big.subarray(i, i + 1)));
  }
  expect(got).toHaveLength(1);
  expect(got[0]?.equals(big)).toBe(true);
  expect(framer.pending).toBe(0);
});

test("a message that spans chunks does not alias them", () => {
  const framer = new Framer();
  const bytes = encode({ type: "echo_request", xid: 1, data: Buffer.from("abcdef") });
  const first = Buffer.from(bytes.subarray(0, 10));
  const second = Buffer.from(bytes.subarray(10));
  framer.push(first);
  const [message] = framer.push(second);
  first.fill(0xa5);
  second.fill(0xa5);
  expect(message?.equals(bytes)).toBe(true);
});

test.each([
  ["a length below the header's", "0405000700000001", "OFPBRC_BAD_LEN"],
  ["a length of zero", "0405000000000001", "OFPBRC_BAD_LEN"],
  ["a foreign version", "0105000800000001", "OFPBRC_BAD_VERSION"],
  ["version 0", "0000000800000001", "OFPBRC_BAD_VERSION"],
])("%s ends the stream after the messages before it", (_what, bad, code) => {
  const before = encode({ type: "barrier_reply", xid: 3 });
  const after = encode({ type: "barrier_reply", xid: 4 });
  const whole = Buffer.concat([before, Buffer.from(bad, "hex"), after]);
  for (const most of [1, 5, 100]) {
    const framer = new Framer();
    const got = chunks(whole, most, most).flatMap((c) => framer.push(c));
    expect(got.map(hex)).toEqual([hex(before)]);
    expect(framer.failure?.error.code).toBe(code);
    expect(framer.failure && hex(framer.failure.header)).toBe(bad);
    expect(framer.pending).toBe(0);
    expect(framer.push(after)).toEqual([]);
  }
});

test("HELLO, ERROR and ECHO pass in any version", () => {
  const framer = new Framer();
  const all = ["0100000800000001", "0601000800000001", "0202000800000001", "0503000800000001"];
  expect(framer.push(Buffer.from(all.join(""), "hex")).map(hex)).toEqual(all);
});

test("time grows with the bytes, not with the chunks held", () => {
  // 4 MiB in messages of 64 KiB, 16 bytes at a time: quadratic copying would move gigabytes.
  const big = encode({ type: "echo_request", xid: 9, data: Buffer.alloc(65_000) });
  const framer = new Framer();
  let copied = 0;
  const copy = Buffer.prototype.copy;
  Buffer.prototype.copy = function (this: Buffer, ...args: Parameters<typeof copy>) {
    const n = copy.apply(this, args);
    copied += n;
    return n;
  };
  let count = 0;
  try {
    for (let i = 0; i < 64; i++) {
      for (let at = 0; at < big.length; at += 16) count += framer.push(big.subarray(at, at + 16)).length;
    }
  } finally {
    Buffer.prototype.copy = copy;
  }
  expect(count).toBe(64);
  expect(copied).toBeLessThan(64 * big.length * 1.01);
});
