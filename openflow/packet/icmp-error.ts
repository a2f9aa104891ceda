import type { Buffer } from "node:buffer";
import { isGroupMac, isHostIpv4, isMulticastIpv4, LIMITED_BROADCAST } from "./address.ts";
import { IP_PROTO, ipv4ChecksumOk } from "./checksum.ts";
import { ETH_TYPE, ethernetFrame, parseEthernet } from "./ethernet.ts";
import { ICMP_TYPE, type IcmpRepr, icmpMessage } from "./icmp.ts";
import { type Ipv4Repr, ipv4Datagram, parseIpv4 } from "./ipv4.ts";

/** Which error to send. */
export type IcmpErrorKind =
  | {
      readonly type: typeof ICMP_TYPE.destUnreachable;
      readonly code: number;
      /** With code 4 only (RFC 1191). */
      readonly nextHopMtu?: number;
    }
  | { readonly type: typeof ICMP_TYPE.timeExceeded; readonly code: number };

/** Why no error may be sent about a datagram (RFC 1812 §4.3.2.7, RFC 1122 §3.2.2). */
type IcmpErrorRefusal =
  | "malformed"
  | "about_icmp_error"
  | "later_fragment"
  | "group_destination"
  | "group_source"
  | "link_group_destination";

/** The error to send, or the reason for silence. */
export type IcmpErrorResult =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly reason: IcmpErrorRefusal };

/** The address an error comes from, and the directed broadcast addresses known on this router. */
export interface IcmpErrorSource {
  /** u32 */
  readonly ip: number;
  readonly broadcasts?: readonly number[];
}

/** RFC 1812 §4.3.2.3: as much of the original as fits without the error exceeding 576 bytes. */
const MAX_ERROR_LENGTH = 576;
const HEADERS = 20 + 8;
const ERROR_TTL = 64;
/** Queries and their answers. Every other type is an error or unknown, and unknown ones get no answer either. */
const ICMP_QUERIES = new Set([0, 8, 9, 10, 13, 14, 15, 16, 17, 18]);

const refusal = (original: Uint8Array, ip: Ipv4Repr, broadcasts: readonly number[]): IcmpErrorRefusal | undefined => {
  if (!ipv4ChecksumOk(original)) return "malformed";
  if (ip.fragmentOffset > 0) return "later_fragment";
  if (isMulticastIpv4(ip.dst) || ip.dst === LIMITED_BROADCAST || broadcasts.includes(ip.dst))
    return "group_destination";
  if (!isHostIpv4(ip.src) || broadcasts.includes(ip.src)) return "group_source";
  if (ip.protocol === IP_PROTO.icmp) {
    const type = ip.payload[0];
    if (type === undefined || !ICMP_QUERIES.has(type)) return "about_icmp_error";
  }
  return undefined;
};

const errorMessage = (kind: IcmpErrorKind, quote: Uint8Array): IcmpRepr =>
  kind.type === ICMP_TYPE.timeExceeded
    ? { kind: "time_exceeded", code: kind.code, quote }
    : { kind: "dest_unreachable", code: kind.code, nextHopMtu: kind.nextHopMtu ?? 0, quote };

/**
 * Builds the ICMP error datagram about an IPv4 datagram (RFC 792, RFC 1812 §4.3.2).
 * @param original bytes from the IPv4 header on, as they were received; link padding is not quoted.
 */
export const icmpError = (original: Uint8Array, kind: IcmpErrorKind, source: IcmpErrorSource): IcmpErrorResult => {
  const ip = parseIpv4(original);
  if (ip === undefined) return { ok: false, reason: "malformed" };
  const reason = refusal(original, ip, source.broadcasts ?? []);
  if (reason !== undefined) return { ok: false, reason };
  const datagramLength = 20 + ip.options.length + ip.payload.length;
  const quote = original.subarray(0, Math.min(datagramLength, MAX_ERROR_LENGTH - HEADERS));
  const bytes = ipv4Datagram({
    // Precedence 6 and the original's type of service (RFC 1812 §4.3.2.5); an error is no ECN traffic.
    tos: 0xc0 | (ip.tos & 0x1c),
    id: 0,
    dontFragment: false,
    moreFragments: false,
    fragmentOffset: 0,
    ttl: ERROR_TTL,
    protocol: IP_PROTO.icmp,
    src: source.ip,
    dst: ip.src,
    options: new Uint8Array(0),
    payload: icmpMessage(errorMessage(kind, quote)),
  });
  return { ok: true, bytes };
};

/**
 * As {@link icmpError}, from a received frame to the frame to send back to its sender, in the same VLANs.
 * @param source.mac MAC the answer comes from.
 */
export const icmpErrorFrame = (
  frame: Uint8Array,
  kind: IcmpErrorKind,
  source: IcmpErrorSource & { readonly mac: number },
): IcmpErrorResult => {
  const link = parseEthernet(frame);
  if (link === undefined || link.type !== ETH_TYPE.ipv4) return { ok: false, reason: "malformed" };
  if (isGroupMac(link.dst)) return { ok: false, reason: "link_group_destination" };
  const error = icmpError(link.payload, kind, source);
  if (!error.ok) return error;
  const bytes = ethernetFrame({ ...link, dst: link.src, src: source.mac, payload: error.bytes });
  return { ok: true, bytes };
};
