import * as fc from "fast-check";
import { expect, test } from "vitest";
import { encode } from "../../../openflow/codec.ts";
import { parseIpv4 as ipOf } from "../../../openflow/packet/address.ts";
import { messagesOfCapture } from "../../../openflow/packet/openflow-stream.ts";
import { writePcap } from "../../../openflow/packet/pcap.ts";
import { tcpData, tcpSyn } from "../../support/tcp.ts";

const path = {
  srcMac: 2,
  dstMac: 3,
  src: ipOf("10.0.0.1") as number,
  dst: ipOf("10.0.0.2") as number,
  srcPort: 40_000,
  dstPort: 6653,
};
const sent = Array.from({ length: 12 }, (_, i) =>
  encode({ type: "echo_request", xid: i + 1, data: Buffer.alloc(i * 37, i) }),
);
const stream = Buffer.concat(sent);

/** Cuts the stream at `cuts`, from sequence number `first`. */
function segments(cuts: readonly number[], first: number): { seq: number; data: Buffer }[] {
  const at = [0, ...[...new Set(cuts)].filter((c) => c > 0 && c < stream.length).sort((a, b) => a - b), stream.length];
  return at.slice(0, -1).map((from, i) => ({
    seq: (first + from) >>> 0,
    data: stream.subarray(from, at[i + 1]),
  }));
}

const capture = (first: number, list: readonly { seq: number; data: Buffer }[]): Buffer =>
  Buffer.from(
    writePcap(
      [tcpSyn(path, (first - 1) >>> 0), ...list.map((s) => tcpData(path, s.seq, 1, s.data))].map((bytes, i) => ({
        tsMicros: i,
        bytes,
      })),
    ),
  );

test("segments cut anywhere, in any order, sent twice, around the end of the sequence space", () => {
  void fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: stream.length - 1 }), { maxLength: 30 }),
      fc.integer({ min: 0, max: 0xffff_ffff }),
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
      (cuts, first, random) => {
        const cut = segments(cuts, first);
        const twice = [...cut, ...cut.filter(() => (random.next().value ?? 0) < 0.3)];
        const shuffled = twice
          .map((s) => ({ s, key: random.next().value ?? 0 }))
          .sort((a, b) => a.key - b.key)
          .map(({ s }) => s);
        const found = messagesOfCapture(capture(first, shuffled));
        expect(found?.warnings).toEqual([]);
        expect(found?.messages.map((m) => m.bytes.toString("hex"))).toEqual(sent.map((m) => m.toString("hex")));
      },
    ),
    { numRuns: 150 },
  );
});

test("a lost segment is said, and reading goes on", () => {
  const cut = segments([5, 200, 700], 1000);
  const found = messagesOfCapture(capture(1000, [cut[0]!, cut[2]!, cut[3]!]));
  expect(found?.messages).toEqual([]);
  const whole = messagesOfCapture(capture(1000, cut));
  expect(whole?.messages[0]).toMatchObject({ from: "10.0.0.1:40000", to: "10.0.0.2:6653" });
});

test("what is no capture is none", () => {
  expect(messagesOfCapture(Buffer.from("no capture at all, but some text of length"))).toBeUndefined();
});
