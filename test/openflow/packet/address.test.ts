import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  formatIpv4,
  formatMac,
  formatPrefix,
  isGroupMac,
  isHostIpv4,
  isMulticastIpv4,
  isStationMac,
  parseIpv4,
  parseMac,
  parsePrefix,
  prefixBroadcast,
  prefixContains,
  prefixMask,
  prefixNetwork,
} from "../../../openflow/packet/address.ts";
import { mac, u32 } from "./arbitraries.ts";

describe("MAC addresses", () => {
  test.each([
    ["02:42:0a:14:00:01", 0x02420a140001],
    ["0E:00:00:00:00:AA", 0x0e00000000aa],
    ["0e-00-00-00-00-aa", 0x0e00000000aa],
    ["00:00:00:00:00:00", 0],
    ["ff:ff:ff:ff:ff:ff", 0xffffffffffff],
  ])("%s is read", (text, value) => expect(parseMac(text)).toBe(value));

  test.each([
    "",
    "02:42:0a:14:00",
    "02:42:0a:14:00:01:02",
    "02:42-0a:14:00:01",
    "2:42:0a:14:0:1",
    "02:42:0a:14:00:0g",
    "02420a140001",
    " 02:42:0a:14:00:01",
    "02:42:0a:14:00:01\n",
    "0242.0a14.0001",
    "02:42:0a:14:00:+1",
  ])("%j is refused", (text) => expect(parseMac(text)).toBeUndefined());

  test("text and number are the same thing", () => {
    fc.assert(
      fc.property(mac, (value) => {
        const text = formatMac(value);
        expect(text).toMatch(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/);
        expect(parseMac(text)).toBe(value);
        expect(parseMac(text.toUpperCase().replaceAll(":", "-"))).toBe(value);
      }),
    );
  });

  test.each([-1, 2 ** 48, 1.5, Number.NaN])("%d has no text", (value) =>
    expect(() => formatMac(value)).toThrow(RangeError),
  );

  test("group and station addresses", () => {
    expect(isGroupMac(0xffffffffffff)).toBe(true);
    expect(isGroupMac(0x01005e000001)).toBe(true);
    expect(isGroupMac(0x02420a140001)).toBe(false);
    expect(isStationMac(0x02420a140001)).toBe(true);
    expect(isStationMac(0)).toBe(false);
    expect(isStationMac(0x333300000001)).toBe(false);
  });
});

describe("IPv4 addresses", () => {
  test.each([
    ["0.0.0.0", 0],
    ["10.20.0.100", 0x0a140064],
    ["192.168.5.21", 0xc0a80515],
    ["255.255.255.255", 0xffffffff],
  ])("%s is read", (text, value) => expect(parseIpv4(text)).toBe(value));

  test.each([
    "",
    "10.0.0",
    "10.0.0.1.2",
    "256.0.0.1",
    "10.0.0.01",
    "010.0.0.1",
    "00.0.0.0",
    "10.0.0.1 ",
    "10.0.0.1\n",
    "10.0.0.-1",
    "10.0.0.1e1",
    "0x0a.0.0.1",
    "10.0.0.0001",
    "10..0.1",
    "1٠.0.0.1",
  ])("%j is refused", (text) => expect(parseIpv4(text)).toBeUndefined());

  test("text and number are the same thing", () => {
    fc.assert(
      fc.property(u32, (value) => {
        expect(parseIpv4(formatIpv4(value))).toBe(value);
      }),
    );
  });

  test.each([-1, 2 ** 32, 0.5])("%d has no text", (value) => expect(() => formatIpv4(value)).toThrow(RangeError));

  test("classes of addresses", () => {
    const host = (text: string) => isHostIpv4(parseIpv4(text)!);
    expect(["10.0.0.1", "126.1.1.1", "223.255.255.255"].every(host)).toBe(true);
    expect(["0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"].some(host)).toBe(false);
    expect(isMulticastIpv4(parseIpv4("224.0.0.0")!)).toBe(true);
    expect(isMulticastIpv4(parseIpv4("239.255.255.255")!)).toBe(true);
    expect(isMulticastIpv4(parseIpv4("223.255.255.255")!)).toBe(false);
    expect(isMulticastIpv4(parseIpv4("240.0.0.0")!)).toBe(false);
  });
});

describe("prefixes", () => {
  test("keep their host bits", () => {
    const prefix = parsePrefix("10.20.0.1/24")!;
    expect(prefix).toEqual({ address: 0x0a140001, length: 24 });
    expect(formatPrefix(prefix)).toBe("10.20.0.1/24");
    expect(formatIpv4(prefixNetwork(prefix))).toBe("10.20.0.0");
    expect(formatIpv4(prefixBroadcast(prefix)!)).toBe("10.20.0.255");
  });

  test.each(["10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/-1", "/8", "10.0.0/8", "1.2.3.4/8/8"])(
    "%j is refused",
    (text) => expect(parsePrefix(text)).toBeUndefined(),
  );

  test.each([
    [0, 0],
    [1, 0x80000000],
    [8, 0xff000000],
    [31, 0xfffffffe],
    [32, 0xffffffff],
  ])("mask of /%d", (length, mask) => expect(prefixMask(length)).toBe(mask));

  test("/31 and /32 have no broadcast address, /0 has the limited one", () => {
    expect(prefixBroadcast({ address: 0x0a000000, length: 31 })).toBeUndefined();
    expect(prefixBroadcast({ address: 0x0a000000, length: 32 })).toBeUndefined();
    expect(prefixBroadcast({ address: 0x0a000000, length: 0 })).toBe(0xffffffff);
  });

  test("contain what agrees in the first bits", () => {
    fc.assert(
      fc.property(u32, u32, fc.integer({ min: 0, max: 32 }), (address, other, length) => {
        const bits = (value: number) => value.toString(2).padStart(32, "0").slice(0, length);
        expect(prefixContains({ address, length }, other)).toBe(bits(address) === bits(other));
      }),
    );
  });
});
