import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseIpv4 as ip, parseMac } from "../../../openflow/packet/address.ts";
import {
  ARP_LENGTH,
  buildArpReply,
  buildArpRequest,
  buildGratuitousArp,
  emitArp,
  isGratuitousArp,
  parseArp,
} from "../../../openflow/packet/arp.ts";
import { ipv4ChecksumOk } from "../../../openflow/packet/checksum.ts";
import { emitEthernet, ethernetFrame, ethernetLength, parseEthernet } from "../../../openflow/packet/ethernet.ts";
import {
  emitIpv4,
  ipv4Length,
  isFragment,
  parseIpv4,
  parseQuotedIpv4,
  transportPorts,
} from "../../../openflow/packet/ipv4.ts";
import { arpRepr, emitted, ethernetRepr, hex, ipv4Repr, u16 } from "./arbitraries.ts";

const gateway = parseMac("02:42:0a:14:00:01")!;
const member = parseMac("02:42:0a:14:00:02")!;

describe("Ethernet", () => {
  test("plain header", () => {
    expect(parseEthernet(hex("02420a140002 02420a140001 0800 4500"))).toEqual({
      dst: member,
      src: gateway,
      vlans: [],
      type: 0x0800,
      payload: hex("4500"),
    });
  });

  test("one and two VLAN tags are taken off, a third stays", () => {
    const one = parseEthernet(hex("ffffffffffff 02420a140001 8100 6064 0806 00"));
    expect(one).toMatchObject({ vlans: [{ tpid: 0x8100, tci: 0x6064 }], type: 0x0806, payload: hex("00") });
    const two = parseEthernet(hex("ffffffffffff 02420a140001 88a8 0064 8100 0065 0800"));
    expect(two).toMatchObject({
      vlans: [
        { tpid: 0x88a8, tci: 0x64 },
        { tpid: 0x8100, tci: 0x65 },
      ],
      type: 0x0800,
      payload: hex(""),
    });
    const three = parseEthernet(hex("ffffffffffff 02420a140001 8100 0001 8100 0002 8100 0003 0800"));
    expect(three).toMatchObject({ type: 0x8100, payload: hex("0003 0800") });
  });

  test("a header cut anywhere is no frame", () => {
    const whole = hex("ffffffffffff 02420a140001 88a8 0064 8100 0065 0800");
    for (let length = 0; length < whole.length; length++) {
      expect(parseEthernet(whole.subarray(0, length)), `${length} bytes`).toBeUndefined();
    }
    expect(parseEthernet(whole)).toBeDefined();
  });

  test("emit then parse is the identity", () => {
    fc.assert(
      fc.property(ethernetRepr, (repr) => {
        const bytes = emitted(ethernetLength(repr), (out) => emitEthernet(repr, out));
        expect(parseEthernet(bytes)).toEqual(repr);
        expect(ethernetFrame(repr)).toEqual(bytes);
      }),
    );
  });
});

describe("ARP", () => {
  test("request, reply and announcement byte for byte", () => {
    expect(buildArpRequest({ sha: gateway, spa: ip("10.20.0.1")!, tpa: ip("10.20.0.2")! })).toEqual(
      hex("ffffffffffff 02420a140001 0806 0001 0800 06 04 0001 02420a140001 0a140001 000000000000 0a140002"),
    );
    expect(buildArpReply({ sha: gateway, spa: ip("10.20.0.1")!, tha: member, tpa: ip("10.20.0.2")! })).toEqual(
      hex("02420a140002 02420a140001 0806 0001 0800 06 04 0002 02420a140001 0a140001 02420a140002 0a140002"),
    );
    expect(buildGratuitousArp({ sha: gateway, spa: ip("10.20.0.100")! })).toEqual(
      hex("ffffffffffff 02420a140001 0806 0001 0800 06 04 0001 02420a140001 0a140064 000000000000 0a140064"),
    );
  });

  test("a unicast request goes to the one station and leaves the target MAC empty", () => {
    const request = parseEthernet(buildArpRequest({ sha: gateway, spa: 1, tpa: 2, dst: member }))!;
    expect(request.dst).toBe(member);
    expect(parseArp(request.payload)).toEqual({ op: 1, sha: gateway, spa: 1, tha: 0, tpa: 2 });
  });

  test("only an announcement is gratuitous", () => {
    const arpOf = (frame: Uint8Array) => parseArp(parseEthernet(frame)!.payload)!;
    expect(isGratuitousArp(arpOf(buildGratuitousArp({ sha: gateway, spa: 7 })))).toBe(true);
    expect(isGratuitousArp(arpOf(buildArpRequest({ sha: gateway, spa: 7, tpa: 8 })))).toBe(false);
  });

  test("other hardware, other protocol, other lengths and short packets are refused", () => {
    const good = hex("0001 0800 06 04 0001 02420a140001 0a140001 000000000000 0a140002");
    expect(parseArp(good)).toBeDefined();
    expect(parseArp(Buffer.concat([good, Buffer.alloc(18)]))).toEqual(parseArp(good));
    for (const at of [0, 1, 2, 3, 4, 5]) {
      const bad = Buffer.from(good);
      bad[at]! ^= 1;
      expect(parseArp(bad), `byte ${at}`).toBeUndefined();
    }
    for (let length = 0; length < ARP_LENGTH; length++) expect(parseArp(good.subarray(0, length))).toBeUndefined();
  });

  test("emit then parse is the identity", () => {
    fc.assert(
      fc.property(arpRepr, (repr) => {
        expect(parseArp(emitted(ARP_LENGTH, (out) => emitArp(repr, out)))).toEqual(repr);
      }),
    );
  });
});

describe("IPv4", () => {
  // A 24-byte header (one option word), 4 bytes of payload, 2 bytes of padding; the sum was worked out by hand.
  const withOptions = hex("4610 001c 1234 4000 4011 55c1 0a140002 c0a8050d 01010100 deadbeef 0000");

  test("options, payload and padding are told apart", () => {
    expect(parseIpv4(withOptions)).toEqual({
      tos: 0x10,
      id: 0x1234,
      dontFragment: true,
      moreFragments: false,
      fragmentOffset: 0,
      ttl: 64,
      protocol: 17,
      src: ip("10.20.0.2"),
      dst: ip("192.168.5.13"),
      options: hex("01010100"),
      payload: hex("deadbeef"),
    });
    expect(ipv4ChecksumOk(withOptions)).toBe(true);
  });

  test("fragments", () => {
    const first = parseIpv4(hex("4500 0018 0001 2000 4011 0000 0a140002 c0a8050d 00350036"))!;
    expect(first).toMatchObject({ moreFragments: true, fragmentOffset: 0 });
    expect(transportPorts(first)).toEqual({ src: 0x35, dst: 0x36 });
    const last = parseIpv4(hex("4500 0018 0001 00b9 4011 0000 0a140002 c0a8050d 00350036"))!;
    expect(last).toMatchObject({ moreFragments: false, fragmentOffset: 1480 });
    expect(transportPorts(last)).toBeUndefined();
    expect([first, last].map(isFragment)).toEqual([true, true]);
    expect(isFragment(parseIpv4(withOptions)!)).toBe(false);
  });

  test("ports need TCP or UDP and four bytes", () => {
    const udp = parseIpv4(withOptions)!;
    expect(transportPorts(udp)).toEqual({ src: 0xdead, dst: 0xbeef });
    expect(transportPorts({ ...udp, protocol: 1 })).toBeUndefined();
    expect(transportPorts({ ...udp, payload: hex("deadbe") })).toBeUndefined();
  });

  test.each([
    ["version 6", "6500 0014 0000 0000 4011 0000 0a140002 c0a8050d"],
    ["header length 4", "4400 0014 0000 0000 4011 0000 0a140002 c0a8050d"],
    ["header longer than the bytes", "4600 0018 0000 0000 4011 0000 0a140002 c0a8050d"],
    ["total length below the header", "4500 0013 0000 0000 4011 0000 0a140002 c0a8050d"],
    ["total length beyond the bytes", "4500 0015 0000 0000 4011 0000 0a140002 c0a8050d"],
    ["19 bytes", "4500 0013 0000 0000 4011 0000 0a140002 c0a805"],
    ["nothing", ""],
  ])("%s is refused", (_name, text) => expect(parseIpv4(hex(text))).toBeUndefined());

  test("a quote may be cut in its payload, not in its header", () => {
    const quote = hex("4500 05dc 0000 0000 4011 0000 0a140002 c0a8050d 0035003605c80000");
    expect(parseIpv4(quote)).toBeUndefined();
    expect(parseQuotedIpv4(quote)).toMatchObject({ payload: hex("0035003605c80000") });
    expect(parseQuotedIpv4(quote.subarray(0, 19))).toBeUndefined();
  });

  test("emit then parse is the identity and the checksum is right", () => {
    fc.assert(
      fc.property(ipv4Repr, (repr) => {
        const bytes = emitted(ipv4Length(repr), (out) => emitIpv4(repr, out));
        expect(parseIpv4(bytes)).toEqual(repr);
        expect(ipv4ChecksumOk(bytes)).toBe(true);
      }),
    );
  });

  test("any change of one header word is noticed by the checksum", () => {
    fc.assert(
      fc.property(ipv4Repr, fc.nat(29), u16, (repr, word, value) => {
        const bytes = emitted(ipv4Length(repr), (out) => emitIpv4(repr, out));
        const at = (word * 2) % (20 + repr.options.length);
        const before = bytes.readUInt16BE(at);
        // In one's complement 0 and 0xffff are the same number, so the sum cannot tell them apart.
        fc.pre(value % 0xffff !== before % 0xffff);
        bytes.writeUInt16BE(value, at);
        expect(ipv4ChecksumOk(bytes)).toBe(false);
      }),
    );
  });

  test("what cannot be written throws", () => {
    const repr = parseIpv4(withOptions)!;
    const out = Buffer.alloc(100);
    expect(() => emitIpv4({ ...repr, options: Buffer.alloc(3) }, out)).toThrow(RangeError);
    expect(() => emitIpv4({ ...repr, options: Buffer.alloc(44) }, out)).toThrow(RangeError);
    expect(() => emitIpv4({ ...repr, fragmentOffset: 12 }, out)).toThrow(RangeError);
    expect(() => emitIpv4({ ...repr, fragmentOffset: 65536 }, out)).toThrow(RangeError);
    expect(() => emitIpv4({ ...repr, ttl: 256 }, out)).toThrow(RangeError);
    expect(() => emitIpv4(repr, Buffer.alloc(27))).toThrow(RangeError);
  });
});
