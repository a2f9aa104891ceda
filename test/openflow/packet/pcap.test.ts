import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readPcap, writePcap } from "../../../openflow/packet/pcap.ts";
import { hex } from "./arbitraries.ts";

const packets = fc.array(
  fc.record({
    tsMicros: fc.integer({ min: 0, max: 4_294_967_295_999_999 }),
    bytes: fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes)),
  }),
  { maxLength: 10 },
);
const formats = fc.record({
  byteOrder: fc.constantFrom("big" as const, "little" as const),
  resolution: fc.constantFrom("micro" as const, "nano" as const),
});

describe("pcap files", () => {
  test("what is written is read, in every variant", () => {
    fc.assert(
      fc.property(packets, formats, (list, format) => {
        expect(readPcap(writePcap(list, format))).toEqual({ linkType: 1, packets: list, truncated: false });
      }),
    );
  });

  test("a cut file gives its whole packets and says so", () => {
    fc.assert(
      fc.property(packets, formats, fc.nat(), (list, format, position) => {
        const whole = writePcap(list, format);
        const length = 24 + (position % (whole.length - 23));
        const ends = list.map((_, index) => 24 + list.slice(0, index + 1).reduce((n, p) => n + 16 + p.bytes.length, 0));
        const complete = ends.filter((end) => end <= length).length;
        expect(readPcap(whole.subarray(0, length))).toEqual({
          linkType: 1,
          packets: list.slice(0, complete),
          truncated: length !== 24 && !ends.includes(length),
        });
      }),
    );
  });

  test("a little-endian nanosecond file byte for byte", () => {
    const file = hex("4d3cb2a1 0200 0400 00000000 00000000 00000400 01000000 02000000 e8030000 01000000 01000000 ff");
    expect(readPcap(file)).toEqual({
      linkType: 1,
      packets: [{ tsMicros: 2_000_001, bytes: hex("ff") }],
      truncated: false,
    });
    const options = { byteOrder: "little", resolution: "nano" } as const;
    expect(writePcap([{ tsMicros: 2_000_001, bytes: hex("ff") }], options)).toEqual(file);
  });

  test.each([
    ["nothing", ""],
    ["another magic", "0a0d0d0a 00000000 00000000 00000000 00000000 00000000"],
    ["23 bytes", "a1b2c3d4 00020004 00000000 00000000 00040000 000000"],
  ])("%s is no pcap file", (_name, text) => expect(readPcap(hex(text))).toBeUndefined());
});
