import { Buffer } from "node:buffer";
import { bufferOf } from "./bytes.ts";
import { IP_PROTO, internetChecksum } from "./checksum.ts";

const MIN_HEADER = 20;
const MAX_OPTIONS = 40;
const MORE_FRAGMENTS = 0x2000;
const DONT_FRAGMENT = 0x4000;

/** An IPv4 datagram (RFC 791). Lengths and the header checksum follow from the rest. */
export interface Ipv4Repr {
  /** Type of service octet: DSCP(6), ECN(2). */
  readonly tos: number;
  /** u16 */
  readonly id: number;
  readonly dontFragment: boolean;
  readonly moreFragments: boolean;
  /** In bytes, a multiple of 8. */
  readonly fragmentOffset: number;
  readonly ttl: number;
  /** IANA protocol number. */
  readonly protocol: number;
  /** u32 */
  readonly src: number;
  /** u32 */
  readonly dst: number;
  /** Raw options with their padding: a multiple of 4 bytes, at most 40. */
  readonly options: Uint8Array;
  /** A view of the given bytes; link padding after the total length is left out. */
  readonly payload: Uint8Array;
}

const parseHeader = (datagram: Uint8Array, isQuote: boolean): Ipv4Repr | undefined => {
  if (datagram.length < MIN_HEADER || datagram[0]! >> 4 !== 4) return undefined;
  const bytes = bufferOf(datagram);
  const headerLength = (bytes[0]! & 0x0f) * 4;
  const totalLength = bytes.readUInt16BE(2);
  if (headerLength < MIN_HEADER || totalLength < headerLength || bytes.length < headerLength) return undefined;
  if (totalLength > bytes.length && !isQuote) return undefined;
  const fragment = bytes.readUInt16BE(6);
  return {
    tos: bytes[1]!,
    id: bytes.readUInt16BE(4),
    dontFragment: (fragment & DONT_FRAGMENT) !== 0,
    moreFragments: (fragment & MORE_FRAGMENTS) !== 0,
    fragmentOffset: (fragment & 0x1fff) * 8,
    ttl: bytes[8]!,
    protocol: bytes[9]!,
    src: bytes.readUInt32BE(12),
    dst: bytes.readUInt32BE(16),
    options: bytes.subarray(MIN_HEADER, headerLength),
    payload: bytes.subarray(headerLength, totalLength),
  };
};

/**
 * Parses a datagram. The header checksum is not looked at: see `ipv4ChecksumOk`.
 * @returns undefined when a length does not fit the version, the header or the given bytes.
 */
export const parseIpv4 = (datagram: Uint8Array): Ipv4Repr | undefined => parseHeader(datagram, false);

/**
 * Parses the start of a datagram as an ICMP error quotes it: the header must be whole, the payload may be cut
 * (RFC 792, RFC 1812 §4.3.2.3).
 */
export const parseQuotedIpv4 = (quote: Uint8Array): Ipv4Repr | undefined => parseHeader(quote, true);

/** Whether the datagram is one piece of a larger one. */
export const isFragment = (repr: Ipv4Repr): boolean => repr.moreFragments || repr.fragmentOffset > 0;

/**
 * Ports of a TCP or UDP datagram. They are the first four bytes of either header, so they can be read where the
 * header itself is cut: in a first fragment and in the quote of an ICMP error.
 * @returns undefined for other protocols, later fragments and payloads shorter than four bytes.
 */
export const transportPorts = (repr: Ipv4Repr): { readonly src: number; readonly dst: number } | undefined => {
  const hasPorts = repr.protocol === IP_PROTO.tcp || repr.protocol === IP_PROTO.udp;
  if (!hasPorts || repr.fragmentOffset > 0 || repr.payload.length < 4) return undefined;
  const bytes = bufferOf(repr.payload);
  return { src: bytes.readUInt16BE(0), dst: bytes.readUInt16BE(2) };
};

/** Bytes that {@link emitIpv4} writes. */
export const ipv4Length = (repr: Ipv4Repr): number => MIN_HEADER + repr.options.length + repr.payload.length;

/**
 * Writes a datagram with its checksum to the start of `out`.
 * @throws RangeError when `out` is too short, a value too wide, the options no multiple of 4 or over 40 bytes, or
 *   the fragment offset no multiple of 8.
 */
export const emitIpv4 = (repr: Ipv4Repr, out: Buffer): void => {
  if (repr.options.length % 4 !== 0 || repr.options.length > MAX_OPTIONS) {
    throw new RangeError(`IPv4 options of ${repr.options.length} bytes`);
  }
  if (repr.fragmentOffset % 8 !== 0 || repr.fragmentOffset < 0 || repr.fragmentOffset > 0x1fff * 8) {
    throw new RangeError(`IPv4 fragment offset ${repr.fragmentOffset}`);
  }
  const headerLength = MIN_HEADER + repr.options.length;
  out.writeUInt8(0x40 | (headerLength / 4), 0);
  out.writeUInt8(repr.tos, 1);
  out.writeUInt16BE(ipv4Length(repr), 2);
  out.writeUInt16BE(repr.id, 4);
  const flags = (repr.dontFragment ? DONT_FRAGMENT : 0) | (repr.moreFragments ? MORE_FRAGMENTS : 0);
  out.writeUInt16BE(flags | (repr.fragmentOffset / 8), 6);
  out.writeUInt8(repr.ttl, 8);
  out.writeUInt8(repr.protocol, 9);
  out.writeUInt16BE(0, 10);
  out.writeUInt32BE(repr.src, 12);
  out.writeUInt32BE(repr.dst, 16);
  out.set(repr.options, MIN_HEADER);
  out.writeUInt16BE(internetChecksum(out.subarray(0, headerLength)), 10);
  out.set(repr.payload, headerLength);
};

/** A datagram in a buffer of its own; see {@link emitIpv4}. */
export const ipv4Datagram = (repr: Ipv4Repr): Buffer => {
  const out = Buffer.alloc(ipv4Length(repr));
  emitIpv4(repr, out);
  return out;
};
