import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseIpv4 as ip } from "../../../openflow/packet/address.ts";
import { buildEchoFrame, buildUdpFrame } from "../../../openflow/packet/build.ts";
import { ipv4ChecksumOk, l4ChecksumOk } from "../../../openflow/packet/checksum.ts";
import { ethernetFrame, parseEthernet } from "../../../openflow/packet/ethernet.ts";
import { ICMP_TYPE, ICMP_UNREACHABLE, icmpMessage, parseIcmp } from "../../../openflow/packet/icmp.ts";
import { icmpError, icmpErrorFrame } from "../../../openflow/packet/icmp-error.ts";
import {
  type Ipv4Repr,
  ipv4Datagram,
  parseIpv4,
  parseQuotedIpv4,
  transportPorts,
} from "../../../openflow/packet/ipv4.ts";
import { datagram } from "./arbitraries.ts";

const expired = { type: ICMP_TYPE.timeExceeded, code: 0 } as const;
const router = { ip: ip("10.20.0.1")!, broadcasts: [ip("10.20.0.255")!] };
const original: Ipv4Repr = {
  tos: 0xb9,
  id: 7,
  dontFragment: false,
  moreFragments: false,
  fragmentOffset: 0,
  ttl: 1,
  protocol: 17,
  src: ip("10.20.0.2")!,
  dst: ip("192.168.5.13")!,
  options: Buffer.alloc(0),
  payload: Buffer.from("8235829b000c00006869686900", "hex"),
};

const refusalOf = (change: Partial<Ipv4Repr>) => {
  const result = icmpError(ipv4Datagram({ ...original, ...change }), expired, router);
  return result.ok ? "sent" : result.reason;
};

describe("ICMP errors", () => {
  test("time exceeded goes to the source and quotes the datagram", () => {
    const bytes = ipv4Datagram(original);
    const result = icmpError(bytes, expired, router);
    if (!result.ok) throw new Error(result.reason);
    const answer = parseIpv4(result.bytes)!;
    expect(answer).toMatchObject({ src: router.ip, dst: original.src, protocol: 1, tos: 0xd8, fragmentOffset: 0 });
    expect(parseIcmp(answer.payload)).toEqual({ kind: "time_exceeded", code: 0, quote: bytes });
    expect(ipv4ChecksumOk(result.bytes)).toBe(true);
    expect(l4ChecksumOk(result.bytes)).toBe(true);
  });

  test("fragmentation needed carries the next hop's MTU", () => {
    const kind = { type: ICMP_TYPE.destUnreachable, code: ICMP_UNREACHABLE.fragmentationNeeded, nextHopMtu: 1400 };
    const result = icmpError(ipv4Datagram(original), kind, router);
    if (!result.ok) throw new Error(result.reason);
    expect(parseIcmp(parseIpv4(result.bytes)!.payload)).toMatchObject({ kind: "dest_unreachable", nextHopMtu: 1400 });
  });

  test.each([
    [519, 567],
    [528, 576],
    [529, 576],
    [1472, 576],
  ])("a payload of %d bytes makes an error of %d bytes", (payload, total) => {
    const bytes = ipv4Datagram({ ...original, payload: Buffer.alloc(payload, 1) });
    const result = icmpError(bytes, expired, router);
    if (!result.ok) throw new Error(result.reason);
    expect(result.bytes.length).toBe(total);
    const message = parseIcmp(parseIpv4(result.bytes)!.payload)!;
    if (message.kind !== "time_exceeded") throw new Error(message.kind);
    expect(message.quote).toEqual(bytes.subarray(0, total - 28));
    expect(transportPorts(parseQuotedIpv4(message.quote)!)).toEqual({ src: 0x0101, dst: 0x0101 });
  });

  test("link padding is not quoted", () => {
    const bytes = ipv4Datagram(original);
    const padded = icmpError(Buffer.concat([bytes, Buffer.alloc(6, 0xee)]), expired, router);
    expect(padded).toEqual(icmpError(bytes, expired, router));
  });

  test.each([
    ["to a multicast group", { dst: ip("224.0.0.5")! }, "group_destination"],
    ["to everybody", { dst: ip("255.255.255.255")! }, "group_destination"],
    ["to a network's broadcast", { dst: ip("10.20.0.255")! }, "group_destination"],
    ["from a multicast group", { src: ip("239.1.2.3")! }, "group_source"],
    ["from everybody", { src: ip("255.255.255.255")! }, "group_source"],
    ["from a network's broadcast", { src: ip("10.20.0.255")! }, "group_source"],
    ["from nobody", { src: 0 }, "group_source"],
    ["from loopback", { src: ip("127.0.0.1")! }, "group_source"],
    ["in a later fragment", { fragmentOffset: 1480 }, "later_fragment"],
    ["in a first fragment", { moreFragments: true }, "sent"],
  ])("about a datagram %s: %s", (_name, change, expected) => expect(refusalOf(change)).toBe(expected));

  test.each([0, 8, 13, 14, 17, 18])("about ICMP query %d: sent", (type) => {
    const payload = icmpMessage({ kind: "other", type, code: 0, rest: 0, data: Buffer.alloc(0) });
    expect(refusalOf({ protocol: 1, payload })).toBe("sent");
  });

  test.each([3, 4, 5, 11, 12, 40, 255])("about ICMP error or unknown type %d: silence", (type) => {
    const payload = icmpMessage({ kind: "other", type, code: 0, rest: 0, data: Buffer.alloc(0) });
    expect(refusalOf({ protocol: 1, payload })).toBe("about_icmp_error");
  });

  test("about an ICMP datagram without a type: silence", () => {
    expect(refusalOf({ protocol: 1, payload: Buffer.alloc(0) })).toBe("about_icmp_error");
  });

  test("about a datagram with a wrong header checksum or cut short: silence", () => {
    const bytes = ipv4Datagram(original);
    bytes[10]! ^= 1;
    expect(icmpError(bytes, expired, router)).toEqual({ ok: false, reason: "malformed" });
    expect(icmpError(bytes.subarray(0, 21), expired, router)).toEqual({ ok: false, reason: "malformed" });
  });

  test("an error about an error is never made", () => {
    fc.assert(
      fc.property(datagram, (bytes) => {
        const first = icmpError(bytes, expired, router);
        if (!first.ok) return;
        expect(icmpError(first.bytes, expired, router)).toEqual({ ok: false, reason: "about_icmp_error" });
        expect(first.bytes.length).toBeLessThanOrEqual(576);
      }),
    );
  });
});

describe("ICMP error frames", () => {
  const path = { srcMac: 0x02420a140002, dstMac: 0x02420a140001, src: original.src, dst: original.dst, ttl: 1 };
  const mac = 0x02420a140001;

  test("go back to the sender, in its VLAN", () => {
    const plain = parseEthernet(buildUdpFrame(path, { srcPort: 1, dstPort: 2, payload: Buffer.alloc(3) }))!;
    const tagged = ethernetFrame({ ...plain, vlans: [{ tpid: 0x8100, tci: 100 }] });
    const result = icmpErrorFrame(tagged, expired, { ...router, mac });
    if (!result.ok) throw new Error(result.reason);
    expect(parseEthernet(result.bytes)).toMatchObject({
      dst: path.srcMac,
      src: mac,
      vlans: [{ tpid: 0x8100, tci: 100 }],
      type: 0x0800,
    });
  });

  test("are not made about link broadcasts, other protocols and runts", () => {
    const echo = { kind: "echo", id: 1, sequence: 1, data: Buffer.alloc(0) } as const;
    const reasonOf = (frame: Uint8Array) => {
      const result = icmpErrorFrame(frame, expired, { ...router, mac });
      return result.ok ? "sent" : result.reason;
    };
    expect(reasonOf(buildEchoFrame(path, echo))).toBe("sent");
    expect(reasonOf(buildEchoFrame({ ...path, dstMac: 0xffffffffffff }, echo))).toBe("link_group_destination");
    expect(reasonOf(buildEchoFrame({ ...path, dstMac: 0x01005e000005 }, echo))).toBe("link_group_destination");
    expect(reasonOf(buildEchoFrame({ ...path, dst: ip("224.0.0.5")! }, echo))).toBe("group_destination");
    expect(reasonOf(ethernetFrame({ dst: mac, src: 1, vlans: [], type: 0x86dd, payload: Buffer.alloc(40) }))).toBe(
      "malformed",
    );
    expect(reasonOf(Buffer.alloc(13))).toBe("malformed");
  });
});
