import { Buffer } from "node:buffer";
import { bufferOf } from "./bytes.ts";
import { internetChecksum } from "./checksum.ts";

/** ICMP message types used here (RFC 792). */
export const ICMP_TYPE = { echoReply: 0, destUnreachable: 3, echo: 8, timeExceeded: 11 } as const;

/** Codes of "destination unreachable" (RFC 792, RFC 1812 §5.2.7.1). */
export const ICMP_UNREACHABLE = {
  net: 0,
  host: 1,
  protocol: 2,
  port: 3,
  fragmentationNeeded: 4,
  prohibited: 13,
} as const;

const HEADER = 8;

/** Echo request or reply. */
export interface IcmpEcho {
  readonly kind: "echo" | "echo_reply";
  /** u16 */
  readonly id: number;
  /** u16 */
  readonly sequence: number;
  /** A view of the given bytes. */
  readonly data: Uint8Array;
}

/** An error about a datagram whose start is quoted. */
interface IcmpUnreachable {
  readonly kind: "dest_unreachable";
  readonly code: number;
  /** Next-hop MTU in bytes with code 4 (RFC 1191 §4), else 0. */
  readonly nextHopMtu: number;
  /** IPv4 header and the bytes after it; see `parseQuotedIpv4`. */
  readonly quote: Uint8Array;
}

/** TTL (code 0) or reassembly time (code 1) ran out. */
interface IcmpTimeExceeded {
  readonly kind: "time_exceeded";
  readonly code: number;
  readonly quote: Uint8Array;
}

/** Any other message, unread. */
interface IcmpOther {
  readonly kind: "other";
  readonly type: number;
  readonly code: number;
  /** The four bytes after the checksum. */
  readonly rest: number;
  readonly data: Uint8Array;
}

/** An ICMP message (RFC 792). */
export type IcmpRepr = IcmpEcho | IcmpUnreachable | IcmpTimeExceeded | IcmpOther;

/**
 * Parses an IPv4 payload; the checksum is not looked at.
 * @returns undefined when it is shorter than the 8 bytes every message has. An echo with a code other than 0 is "other".
 */
export const parseIcmp = (message: Uint8Array): IcmpRepr | undefined => {
  if (message.length < HEADER) return undefined;
  const bytes = bufferOf(message);
  const type = bytes[0]!;
  const code = bytes[1]!;
  const high = bytes.readUInt16BE(4);
  const low = bytes.readUInt16BE(6);
  const data = bytes.subarray(HEADER);
  if ((type === ICMP_TYPE.echo || type === ICMP_TYPE.echoReply) && code === 0) {
    return { kind: type === ICMP_TYPE.echo ? "echo" : "echo_reply", id: high, sequence: low, data };
  }
  if (type === ICMP_TYPE.destUnreachable) {
    return {
      kind: "dest_unreachable",
      code,
      nextHopMtu: code === ICMP_UNREACHABLE.fragmentationNeeded ? low : 0,
      quote: data,
    };
  }
  if (type === ICMP_TYPE.timeExceeded) return { kind: "time_exceeded", code, quote: data };
  return { kind: "other", type, code, rest: bytes.readUInt32BE(4), data };
};

interface WireFields {
  readonly type: number;
  readonly code: number;
  readonly rest: number;
  readonly data: Uint8Array;
}

const wireFields = (repr: IcmpRepr): WireFields => {
  switch (repr.kind) {
    case "echo":
    case "echo_reply": {
      const type = repr.kind === "echo" ? ICMP_TYPE.echo : ICMP_TYPE.echoReply;
      return { type, code: 0, rest: repr.id * 0x1_0000 + repr.sequence, data: repr.data };
    }
    case "dest_unreachable":
      return { type: ICMP_TYPE.destUnreachable, code: repr.code, rest: repr.nextHopMtu, data: repr.quote };
    case "time_exceeded":
      return { type: ICMP_TYPE.timeExceeded, code: repr.code, rest: 0, data: repr.quote };
    case "other":
      return repr;
  }
};

/** Bytes that {@link emitIcmp} writes. */
export const icmpLength = (repr: IcmpRepr): number => HEADER + wireFields(repr).data.length;

/**
 * Writes a message with its checksum to the start of `out`.
 * @throws RangeError when `out` is too short or a value too wide.
 */
export const emitIcmp = (repr: IcmpRepr, out: Buffer): void => {
  const { type, code, rest, data } = wireFields(repr);
  out.writeUInt8(type, 0);
  out.writeUInt8(code, 1);
  out.writeUInt16BE(0, 2);
  out.writeUInt32BE(rest, 4);
  out.set(data, HEADER);
  out.writeUInt16BE(internetChecksum(out.subarray(0, HEADER + data.length)), 2);
};

/** A message in a buffer of its own; see {@link emitIcmp}. */
export const icmpMessage = (repr: IcmpRepr): Buffer => {
  const out = Buffer.alloc(icmpLength(repr));
  emitIcmp(repr, out);
  return out;
};
