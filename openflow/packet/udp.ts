import type { Buffer } from "node:buffer";
import { bufferOf } from "./bytes.ts";
import { IP_PROTO, internetChecksum, type PseudoHeader, pseudoHeaderSum } from "./checksum.ts";

const HEADER = 8;

/** A UDP datagram (RFC 768). */
export interface UdpRepr {
  readonly srcPort: number;
  readonly dstPort: number;
  /** A view of the given bytes. */
  readonly payload: Uint8Array;
}

/**
 * Parses an IPv4 payload. Bytes after the UDP length are left out; the checksum is not looked at.
 * @returns undefined when it is short or its length field does not fit.
 */
export const parseUdp = (segment: Uint8Array): UdpRepr | undefined => {
  if (segment.length < HEADER) return undefined;
  const bytes = bufferOf(segment);
  const length = bytes.readUInt16BE(4);
  if (length < HEADER || length > bytes.length) return undefined;
  return { srcPort: bytes.readUInt16BE(0), dstPort: bytes.readUInt16BE(2), payload: bytes.subarray(HEADER, length) };
};

/** Bytes that {@link emitUdp} writes. */
export const udpLength = (repr: UdpRepr): number => HEADER + repr.payload.length;

/**
 * Writes a datagram with its checksum to the start of `out`.
 * @throws RangeError when `out` is too short or a value too wide.
 */
export const emitUdp = (repr: UdpRepr, addresses: PseudoHeader, out: Buffer): void => {
  const length = udpLength(repr);
  out.writeUInt16BE(repr.srcPort, 0);
  out.writeUInt16BE(repr.dstPort, 2);
  out.writeUInt16BE(length, 4);
  out.writeUInt16BE(0, 6);
  out.set(repr.payload, HEADER);
  const sum = internetChecksum(out.subarray(0, length), pseudoHeaderSum(addresses, IP_PROTO.udp, length));
  // Zero on the wire says "no checksum" (RFC 768), so a sum of zero goes out as its other form.
  out.writeUInt16BE(sum === 0 ? 0xffff : sum, 6);
};
