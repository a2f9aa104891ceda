import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { internetChecksum, ipv4ChecksumOk, l4ChecksumOk } from "../../../openflow/packet/checksum.ts";
import { emitIcmp, icmpLength, parseIcmp } from "../../../openflow/packet/icmp.ts";
import { parseIpv4 } from "../../../openflow/packet/ipv4.ts";
import { emitTcp, mssOption, parseTcp, parseTcpOptions, TCP_FLAG, tcpLength } from "../../../openflow/packet/tcp.ts";
import { emitUdp, parseUdp, udpLength } from "../../../openflow/packet/udp.ts";
import { datagram, emitted, hex, icmpRepr, tcpRepr, u8, u32, udpRepr } from "./arbitraries.ts";

const addresses = { src: 0x0a140002, dst: 0x0a140064 };

describe("Internet checksum", () => {
  test("the example of RFC 1071 section 3", () => {
    expect(internetChecksum(hex("0001 f203 f4f5 f6f7"))).toBe(0xffff ^ 0xddf2);
  });

  test("a last odd byte is a high byte", () => {
    expect(internetChecksum(hex("0102 03"))).toBe(internetChecksum(hex("0102 0300")));
    expect(internetChecksum(hex(""))).toBe(0xffff);
  });

  test("long input does not overflow", () => {
    expect(internetChecksum(Buffer.alloc(65_535, 0xff))).toBe(internetChecksum(hex("ff00")));
  });
});

describe("TCP", () => {
  test("a SYN with options", () => {
    const syn = hex("c001 0050 00000001 00000000 a002 ffff 0000 0000 020405b4 0402080a 00000001 00000000 01030307");
    expect(parseTcp(syn)).toEqual({
      srcPort: 0xc001,
      dstPort: 80,
      seq: 1,
      ack: 0,
      flags: TCP_FLAG.syn,
      window: 0xffff,
      urgent: 0,
      options: syn.subarray(20),
      payload: hex(""),
    });
    expect(parseTcpOptions(syn.subarray(20))).toEqual([
      { kind: 2, data: hex("05b4") },
      { kind: 4, data: hex("") },
      { kind: 8, data: hex("0000000100000000") },
      { kind: 3, data: hex("07") },
    ]);
  });

  test.each([
    ["no length byte", "02"],
    ["length 0", "0200"],
    ["length 1", "0201"],
    ["length past the end", "020405"],
  ])("options with %s are refused", (_name, text) => expect(parseTcpOptions(hex(text))).toBeUndefined());

  test("nothing after end-of-list is read", () => {
    expect(parseTcpOptions(hex("01 00 02 00"))).toEqual([]);
    expect(parseTcpOptions(mssOption(1460))).toEqual([{ kind: 2, data: hex("05b4") }]);
  });

  test("a data offset that does not fit is refused", () => {
    const bytes = Buffer.alloc(24);
    const offsets = Array.from({ length: 16 }, (_, words) => {
      bytes[12] = words << 4;
      return parseTcp(bytes) !== undefined;
    });
    expect(offsets.flatMap((isParsed, words) => (isParsed ? [words] : []))).toEqual([5, 6]);
    expect(parseTcp(bytes.subarray(0, 19))).toBeUndefined();
  });

  test("emit then parse is the identity", () => {
    fc.assert(
      fc.property(tcpRepr, (repr) => {
        expect(parseTcp(emitted(tcpLength(repr), (out) => emitTcp(repr, addresses, out)))).toEqual(repr);
      }),
    );
  });

  test("what cannot be written throws", () => {
    const repr = parseTcp(hex("c001 0050 00000001 00000000 5002 ffff 0000 0000"))!;
    const out = Buffer.alloc(100);
    expect(() => emitTcp({ ...repr, options: Buffer.alloc(2) }, addresses, out)).toThrow(RangeError);
    expect(() => emitTcp({ ...repr, flags: 0x1000 }, addresses, out)).toThrow(RangeError);
    expect(() => emitTcp({ ...repr, seq: 2 ** 32 }, addresses, out)).toThrow(RangeError);
    expect(() => emitTcp(repr, addresses, Buffer.alloc(19))).toThrow(RangeError);
  });
});

describe("UDP", () => {
  test("bytes after the UDP length are left out", () => {
    expect(parseUdp(hex("0035 c001 000a 0000 abcd eeee"))).toEqual({
      srcPort: 53,
      dstPort: 0xc001,
      payload: hex("abcd"),
    });
  });

  test.each([
    ["7 bytes", "0035c001000a00"],
    ["length 7", "0035c00100070000"],
    ["length beyond the bytes", "0035c00100090000"],
  ])("%s is refused", (_name, text) => expect(parseUdp(hex(text))).toBeUndefined());

  test("emit then parse is the identity", () => {
    fc.assert(
      fc.property(udpRepr, (repr) => {
        expect(parseUdp(emitted(udpLength(repr), (out) => emitUdp(repr, addresses, out)))).toEqual(repr);
      }),
    );
  });

  test("a sum of zero is never written: on the wire it would mean no checksum", () => {
    const payload = Buffer.alloc(2);
    const repr = { srcPort: 1, dstPort: 2, payload };
    const once = emitted(10, (out) => emitUdp(repr, addresses, out));
    // Adding the checksum to the data makes the new checksum zero.
    payload.writeUInt16BE(once.readUInt16BE(6));
    expect(emitted(10, (out) => emitUdp(repr, addresses, out)).readUInt16BE(6)).toBe(0xffff);
  });
});

describe("ICMP", () => {
  test.each([
    ["echo", "0800 0000 0001 0002 61", { kind: "echo", id: 1, sequence: 2, data: hex("61") }],
    ["echo reply", "0000 0000 0001 0002", { kind: "echo_reply", id: 1, sequence: 2, data: hex("") }],
    [
      "fragmentation needed",
      "0304 0000 0000 04b0 45",
      { kind: "dest_unreachable", code: 4, nextHopMtu: 1200, quote: hex("45") },
    ],
    [
      "port unreachable",
      "0303 0000 0000 04b0 45",
      { kind: "dest_unreachable", code: 3, nextHopMtu: 0, quote: hex("45") },
    ],
    ["time exceeded", "0b00 0000 0000 0000 45", { kind: "time_exceeded", code: 0, quote: hex("45") }],
    ["redirect", "0501 0000 0a140001 45", { kind: "other", type: 5, code: 1, rest: 0x0a140001, data: hex("45") }],
    ["echo with a code", "0807 0000 00010002", { kind: "other", type: 8, code: 7, rest: 0x10002, data: hex("") }],
  ])("%s", (_name, text, repr) => expect(parseIcmp(hex(text))).toEqual(repr));

  test("seven bytes are no message", () => expect(parseIcmp(hex("08000000000100"))).toBeUndefined());

  test("emit then parse is the identity", () => {
    fc.assert(
      fc.property(icmpRepr, (repr) => {
        expect(parseIcmp(emitted(icmpLength(repr), (out) => emitIcmp(repr, out)))).toEqual(repr);
      }),
    );
  });
});

describe("checksums of whole datagrams", () => {
  test("are right as emitted", () => {
    fc.assert(
      fc.property(datagram, (bytes) => {
        expect(ipv4ChecksumOk(bytes)).toBe(true);
        expect(l4ChecksumOk(bytes)).toBe(true);
      }),
    );
  });

  test("notice a changed byte of the payload or of the addresses", () => {
    fc.assert(
      fc.property(datagram, fc.nat(), u8, (bytes, position, value) => {
        const headerLength = (bytes[0]! & 0x0f) * 4;
        const isUdp = bytes[9] === 17;
        const isIcmp = bytes[9] === 1;
        const covered = bytes.length - headerLength + (isIcmp ? 0 : 8);
        const index = position % covered;
        const at =
          index < bytes.length - headerLength ? headerLength + index : 12 + index - (bytes.length - headerLength);
        // A UDP length that no longer fits makes the datagram malformed instead, and a checksum of 0 means none.
        fc.pre(!isUdp || at < headerLength + 4 || at >= headerLength + 8 || at < headerLength);
        fc.pre(bytes[at] !== value);
        bytes[at] = value;
        // One byte alone cannot turn a word from 0 to 0xffff, the only change the sum does not see.
        expect(l4ChecksumOk(bytes)).toBe(false);
      }),
    );
  });

  test("a change of the UDP checksum itself is noticed, or says there is none", () => {
    const bytes = hex("4500 001e 0000 4000 4011 0000 0a140002 0a140064 0001 0002 000a 0000 6869");
    emitUdp({ srcPort: 1, dstPort: 2, payload: hex("6869") }, addresses, bytes.subarray(20));
    const right = bytes.readUInt16BE(26);
    expect(l4ChecksumOk(bytes)).toBe(true);
    bytes.writeUInt16BE(right ^ 1, 26);
    expect(l4ChecksumOk(bytes)).toBe(false);
    bytes.writeUInt16BE(0, 26);
    expect(l4ChecksumOk(bytes)).toBeUndefined();
  });

  test.each([
    ["a first fragment", (bytes: Buffer) => bytes.writeUInt16BE(0x2000, 6)],
    ["a later fragment", (bytes: Buffer) => bytes.writeUInt16BE(0x0001, 6)],
    ["another protocol", (bytes: Buffer) => bytes.writeUInt8(47, 9)],
    ["a header length that does not fit", (bytes: Buffer) => bytes.writeUInt8(0x44, 0)],
    ["a total length that does not fit", (bytes: Buffer) => bytes.writeUInt16BE(0xffff, 2)],
    ["IPv6", (bytes: Buffer) => bytes.writeUInt8(0x60, 0)],
  ])("%s has no checksum to look at", (_name, change) => {
    fc.assert(
      fc.property(datagram, (bytes) => {
        change(bytes);
        expect(l4ChecksumOk(bytes)).toBeUndefined();
      }),
      { numRuns: 20 },
    );
  });

  test("padding after the datagram is not summed", () => {
    fc.assert(
      fc.property(datagram, u32, (bytes, padding) => {
        const tail = Buffer.alloc(4);
        tail.writeUInt32BE(padding);
        const padded = Buffer.concat([bytes, tail]);
        expect(l4ChecksumOk(padded)).toBe(true);
        expect(parseIpv4(padded)).toEqual(parseIpv4(bytes));
      }),
    );
  });
});
