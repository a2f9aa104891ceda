import { bufferOf } from "./bytes.ts";

/** IP protocol numbers used here (IANA). */
export const IP_PROTO = { icmp: 1, tcp: 6, udp: 17 } as const;

/** Addresses that a TCP or UDP checksum covers besides the segment (RFC 9293 §3.1). */
export interface PseudoHeader {
  /** u32 */
  readonly src: number;
  /** u32 */
  readonly dst: number;
}

const fold = (sum: number): number => {
  let folded = sum;
  while (folded > 0xffff) folded = (folded % 0x1_0000) + Math.floor(folded / 0x1_0000);
  return folded;
};

/**
 * Internet checksum (RFC 1071): complement of the one's complement sum of the 16-bit words.
 * A last odd byte counts as the high byte of a word.
 * @param initial sum to start with, from {@link pseudoHeaderSum}.
 */
export const internetChecksum = (bytes: Uint8Array, initial = 0): number => {
  let sum = initial;
  const even = bytes.length & ~1;
  for (let i = 0; i < even; i += 2) sum += (bytes[i]! << 8) | bytes[i + 1]!;
  if (even < bytes.length) sum += bytes[even]! << 8;
  return fold(sum) ^ 0xffff;
};

/** Unfolded sum of the pseudo header (RFC 9293 §3.1, RFC 768). */
export const pseudoHeaderSum = ({ src, dst }: PseudoHeader, protocol: number, length: number): number =>
  (src >>> 16) + (src & 0xffff) + (dst >>> 16) + (dst & 0xffff) + protocol + length;

/**
 * Checks an IPv4 header's checksum.
 * @param datagram bytes from the IPv4 header on.
 * @returns false too when the bytes hold no whole IPv4 header.
 */
export const ipv4ChecksumOk = (datagram: Uint8Array): boolean => {
  if (datagram.length < 20 || datagram[0]! >> 4 !== 4) return false;
  const headerLength = (datagram[0]! & 0x0f) * 4;
  if (headerLength < 20 || headerLength > datagram.length) return false;
  return internetChecksum(datagram.subarray(0, headerLength)) === 0;
};

/**
 * Checks the TCP, UDP or ICMP checksum of a whole IPv4 datagram.
 * @param datagram bytes from the IPv4 header on; link padding after the total length is left out.
 * @returns undefined when there is nothing to check: a fragment (the sum covers all of them), a UDP datagram
 *   sent without a checksum (RFC 768), another protocol, or bytes that are no whole datagram.
 */
export const l4ChecksumOk = (datagram: Uint8Array): boolean | undefined => {
  if (datagram.length < 20 || datagram[0]! >> 4 !== 4) return undefined;
  const bytes = bufferOf(datagram);
  const headerLength = (bytes[0]! & 0x0f) * 4;
  const totalLength = bytes.readUInt16BE(2);
  if (headerLength < 20 || totalLength < headerLength || totalLength > bytes.length) return undefined;
  const isFragment = (bytes.readUInt16BE(6) & 0x3fff) !== 0;
  if (isFragment) return undefined;
  const segment = bytes.subarray(headerLength, totalLength);
  const addresses = { src: bytes.readUInt32BE(12), dst: bytes.readUInt32BE(16) };
  switch (bytes[9]) {
    case IP_PROTO.icmp:
      return segment.length < 4 ? undefined : internetChecksum(segment) === 0;
    case IP_PROTO.tcp:
      if (segment.length < 20) return undefined;
      return internetChecksum(segment, pseudoHeaderSum(addresses, IP_PROTO.tcp, segment.length)) === 0;
    case IP_PROTO.udp: {
      if (segment.length < 8) return undefined;
      const length = segment.readUInt16BE(4);
      if (length < 8 || length > segment.length || segment.readUInt16BE(6) === 0) return undefined;
      return internetChecksum(segment.subarray(0, length), pseudoHeaderSum(addresses, IP_PROTO.udp, length)) === 0;
    }
    default:
      return undefined;
  }
};
