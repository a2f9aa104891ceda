import { Buffer } from "node:buffer";
import { bufferOf } from "./bytes.ts";
import { IP_PROTO, internetChecksum, type PseudoHeader, pseudoHeaderSum } from "./checksum.ts";

/** TCP control bits (RFC 9293 §3.1). */
export const TCP_FLAG = {
  fin: 0x01,
  syn: 0x02,
  rst: 0x04,
  psh: 0x08,
  ack: 0x10,
  urg: 0x20,
  ece: 0x40,
  cwr: 0x80,
} as const;

const MIN_HEADER = 20;
const MAX_OPTIONS = 40;
const OPTION_END = 0;
const OPTION_NOP = 1;
const OPTION_MSS = 2;

/** A TCP segment (RFC 9293). */
export interface TcpRepr {
  readonly srcPort: number;
  readonly dstPort: number;
  /** u32 */
  readonly seq: number;
  /** u32; has a meaning only with the ACK bit. */
  readonly ack: number;
  /** 12 bits: the control bits and, above them, the reserved ones (as ovs-fields(7) tcp_flags). */
  readonly flags: number;
  readonly window: number;
  readonly urgent: number;
  /** Raw options with their padding: a multiple of 4 bytes, at most 40. */
  readonly options: Uint8Array;
  /** A view of the given bytes. */
  readonly payload: Uint8Array;
}

/** One TCP option other than end-of-list and no-operation. */
export interface TcpOption {
  readonly kind: number;
  readonly data: Uint8Array;
}

/**
 * Parses an IPv4 payload; the checksum is not looked at.
 * @returns undefined when it is short or its data offset does not fit.
 */
export const parseTcp = (segment: Uint8Array): TcpRepr | undefined => {
  if (segment.length < MIN_HEADER) return undefined;
  const bytes = bufferOf(segment);
  const headerLength = (bytes[12]! >> 4) * 4;
  if (headerLength < MIN_HEADER || headerLength > bytes.length) return undefined;
  return {
    srcPort: bytes.readUInt16BE(0),
    dstPort: bytes.readUInt16BE(2),
    seq: bytes.readUInt32BE(4),
    ack: bytes.readUInt32BE(8),
    flags: bytes.readUInt16BE(12) & 0x0fff,
    window: bytes.readUInt16BE(14),
    urgent: bytes.readUInt16BE(18),
    options: bytes.subarray(MIN_HEADER, headerLength),
    payload: bytes.subarray(headerLength),
  };
};

/**
 * Splits raw options (RFC 9293 §3.2).
 * @returns undefined when a length byte is missing, below 2 or points past the end.
 */
export const parseTcpOptions = (options: Uint8Array): readonly TcpOption[] | undefined => {
  const bytes = bufferOf(options);
  const found: TcpOption[] = [];
  let at = 0;
  while (at < bytes.length) {
    const kind = bytes[at]!;
    if (kind === OPTION_END) break;
    if (kind === OPTION_NOP) {
      at += 1;
      continue;
    }
    const length = bytes[at + 1];
    if (length === undefined || length < 2 || at + length > bytes.length) return undefined;
    found.push({ kind, data: bytes.subarray(at + 2, at + length) });
    at += length;
  }
  return found;
};

/** The maximum segment size option (RFC 9293 §3.7.1), for a SYN. */
export const mssOption = (mss: number): Buffer => {
  const out = Buffer.alloc(4);
  out.writeUInt8(OPTION_MSS, 0);
  out.writeUInt8(4, 1);
  out.writeUInt16BE(mss, 2);
  return out;
};

/** Bytes that {@link emitTcp} writes. */
export const tcpLength = (repr: TcpRepr): number => MIN_HEADER + repr.options.length + repr.payload.length;

/**
 * Writes a segment with its checksum to the start of `out`.
 * @throws RangeError when `out` is too short, a value too wide, or the options no multiple of 4 or over 40 bytes.
 */
export const emitTcp = (repr: TcpRepr, addresses: PseudoHeader, out: Buffer): void => {
  if (repr.options.length % 4 !== 0 || repr.options.length > MAX_OPTIONS) {
    throw new RangeError(`TCP options of ${repr.options.length} bytes`);
  }
  if (repr.flags < 0 || repr.flags > 0x0fff) throw new RangeError(`TCP flags ${repr.flags}`);
  const headerLength = MIN_HEADER + repr.options.length;
  const length = tcpLength(repr);
  out.writeUInt16BE(repr.srcPort, 0);
  out.writeUInt16BE(repr.dstPort, 2);
  out.writeUInt32BE(repr.seq, 4);
  out.writeUInt32BE(repr.ack, 8);
  out.writeUInt16BE(((headerLength / 4) << 12) | repr.flags, 12);
  out.writeUInt16BE(repr.window, 14);
  out.writeUInt16BE(0, 16);
  out.writeUInt16BE(repr.urgent, 18);
  out.set(repr.options, MIN_HEADER);
  out.set(repr.payload, headerLength);
  const sum = internetChecksum(out.subarray(0, length), pseudoHeaderSum(addresses, IP_PROTO.tcp, length));
  out.writeUInt16BE(sum, 16);
};
