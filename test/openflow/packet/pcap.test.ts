import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildTcpAck, buildTcpData, buildTcpRst, buildTcpSyn } from "../../../openflow/packet/build.ts";
import { describePacket } from "../../../openflow/packet/describe.ts";
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

describe("probe segments", () => {
  const path = {
    srcMac: 0x02420a140001,
    dstMac: 0x02420a140002,
    src: 0x0a1400fd,
    dst: 0x0a140002,
    srcPort: 40_001,
    dstPort: 8080,
  };
  const common = {
    ethSrc: "02:42:0a:14:00:01",
    ethDst: "02:42:0a:14:00:02",
    ipSrc: "10.20.0.253",
    ipDst: "10.20.0.2",
    ipTtl: 64,
    ipDontFragment: true,
    ipChecksumOk: true,
    l4ChecksumOk: true,
    tcpSrc: 40_001,
    tcpDst: 8080,
  };

  test.each([
    ["SYN", buildTcpSyn(path, 0xffffffff), { tcpFlags: 0x02, tcpSeq: 0xffffffff, tcpAck: 0, tcpPayloadLength: 0 }],
    ["ACK", buildTcpAck(path, 1, 2), { tcpFlags: 0x10, tcpSeq: 1, tcpAck: 2, tcpPayloadLength: 0 }],
    [
      "data",
      buildTcpData(path, 1, 2, Buffer.from("GET")),
      { tcpFlags: 0x18, tcpSeq: 1, tcpAck: 2, tcpPayloadLength: 3 },
    ],
    ["RST", buildTcpRst(path, 1, 2), { tcpFlags: 0x14, tcpSeq: 1, tcpAck: 2, tcpPayloadLength: 0 }],
  ])("%s", (_name, bytes, fields) => expect(describePacket(bytes)).toMatchObject({ ...common, ...fields }));
});
