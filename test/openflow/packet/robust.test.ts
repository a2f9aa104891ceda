import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseArp } from "../../../openflow/packet/arp.ts";
import { ipv4ChecksumOk, l4ChecksumOk } from "../../../openflow/packet/checksum.ts";
import { describePacket } from "../../../openflow/packet/describe.ts";
import { parseEthernet } from "../../../openflow/packet/ethernet.ts";
import { parseIcmp } from "../../../openflow/packet/icmp.ts";
import { icmpError, icmpErrorFrame } from "../../../openflow/packet/icmp-error.ts";
import { parseIpv4, parseQuotedIpv4 } from "../../../openflow/packet/ipv4.ts";
import { readPcap, writePcap } from "../../../openflow/packet/pcap.ts";
import { parseTcp, parseTcpOptions } from "../../../openflow/packet/tcp.ts";
import { parseUdp } from "../../../openflow/packet/udp.ts";
import { datagram, frame } from "./arbitraries.ts";

const expired = { type: 11, code: 0 } as const;
const readers: Readonly<Record<string, (bytes: Uint8Array) => unknown>> = {
  parseEthernet,
  parseArp,
  parseIpv4,
  parseQuotedIpv4,
  parseTcp,
  parseTcpOptions,
  parseUdp,
  parseIcmp,
  ipv4ChecksumOk,
  l4ChecksumOk,
  describePacket,
  readPcap,
  icmpError: (bytes) => icmpError(bytes, expired, { ip: 1 }),
  icmpErrorFrame: (bytes) => icmpErrorFrame(bytes, expired, { ip: 1, mac: 2 }),
};

/** A copy inside a larger memory that is full of `around`. */
const surrounded = (bytes: Uint8Array, around: number): Uint8Array => {
  const memory = new Uint8Array(bytes.length + 128).fill(around);
  memory.set(bytes, 64);
  return memory.subarray(64, 64 + bytes.length);
};

/** Random bytes, good frames and datagrams, and those with a few bytes changed and their end cut off. */
const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 128 }),
  fc
    .tuple(
      fc.oneof(
        frame,
        datagram,
        frame.map((bytes) => writePcap([{ tsMicros: 1, bytes }])),
        datagram.map((bytes) => bytes.subarray(20)),
      ),
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 4 }),
      fc.nat({ max: 40 }),
    )
    .map(([bytes, changes, cut]) => {
      const changed = new Uint8Array(bytes);
      for (const [at, value] of changes) if (changed.length > 0) changed[at % changed.length] = value;
      return changed.subarray(0, Math.max(0, changed.length - cut));
    }),
);

describe("any bytes", () => {
  test.each(Object.entries(readers))("%s neither throws nor sees what lies around them", (_name, read) => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const inZeros = read(surrounded(bytes, 0x00));
        const inOnes = read(surrounded(bytes, 0xff));
        expect(inOnes).toEqual(inZeros);
        expect(read(Buffer.from(bytes))).toEqual(inZeros);
      }),
      { numRuns: 300 },
    );
  });

  test("every prefix of a good frame is read without throwing, and describes no more than the whole", () => {
    fc.assert(
      fc.property(frame, (bytes) => {
        const whole = describePacket(bytes)!;
        for (let length = 14; length < bytes.length; length++) {
          const part = describePacket(bytes.subarray(0, length));
          const fields = Object.keys(part ?? {});
          expect(fields.every((field) => field in whole)).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });
});
