import { Buffer } from "node:buffer";
import { BROADCAST_MAC } from "./address.ts";
import { bufferOf } from "./bytes.ts";
import { ETH_TYPE, ethernetFrame } from "./ethernet.ts";

/** ARP operations (RFC 826). */
export const ARP_OP = { request: 1, reply: 2 } as const;

/** Length of an ARP packet for Ethernet and IPv4. */
export const ARP_LENGTH = 28;

const HARDWARE_ETHERNET = 1;

/** ARP for IPv4 over Ethernet (RFC 826). */
export interface ArpRepr {
  /** 1 request, 2 reply; others are passed through. */
  readonly op: number;
  /** Sender's MAC, 48 bits. */
  readonly sha: number;
  /** Sender's IPv4 address, u32; 0 in an address probe (RFC 5227). */
  readonly spa: number;
  /** Target's MAC, 48 bits; 0 in a request. */
  readonly tha: number;
  /** Target's IPv4 address, u32. */
  readonly tpa: number;
}

/**
 * Parses the payload of an ARP frame; bytes after the 28th are padding.
 * @returns undefined when it is short or not about IPv4 over Ethernet.
 */
export const parseArp = (packet: Uint8Array): ArpRepr | undefined => {
  if (packet.length < ARP_LENGTH) return undefined;
  const bytes = bufferOf(packet);
  const isIpv4OverEthernet =
    bytes.readUInt16BE(0) === HARDWARE_ETHERNET &&
    bytes.readUInt16BE(2) === ETH_TYPE.ipv4 &&
    bytes[4] === 6 &&
    bytes[5] === 4;
  if (!isIpv4OverEthernet) return undefined;
  return {
    op: bytes.readUInt16BE(6),
    sha: bytes.readUIntBE(8, 6),
    spa: bytes.readUInt32BE(14),
    tha: bytes.readUIntBE(18, 6),
    tpa: bytes.readUInt32BE(24),
  };
};

/**
 * Writes the 28 bytes of an ARP packet to the start of `out`.
 * @throws RangeError when `out` is too short or a value too wide.
 */
export const emitArp = (repr: ArpRepr, out: Buffer): void => {
  out.writeUInt16BE(HARDWARE_ETHERNET, 0);
  out.writeUInt16BE(ETH_TYPE.ipv4, 2);
  out.writeUInt8(6, 4);
  out.writeUInt8(4, 5);
  out.writeUInt16BE(repr.op, 6);
  out.writeUIntBE(repr.sha, 8, 6);
  out.writeUInt32BE(repr.spa, 14);
  out.writeUIntBE(repr.tha, 18, 6);
  out.writeUInt32BE(repr.tpa, 24);
};

/** Whether sender and target address are the same: an announcement rather than a question (RFC 5227 §3). */
export const isGratuitousArp = (repr: ArpRepr): boolean => repr.spa === repr.tpa;

const arpFrame = (dst: number, repr: ArpRepr): Buffer => {
  const payload = Buffer.alloc(ARP_LENGTH);
  emitArp(repr, payload);
  return ethernetFrame({ dst, src: repr.sha, vlans: [], type: ETH_TYPE.arp, payload });
};

/**
 * "Who has `tpa`? Tell `spa`" as a whole frame.
 * @param ask.dst link destination: broadcast unless given. A unicast question re-checks a known neighbour
 *   (RFC 1122 §2.3.2.1) without waking up the segment.
 */
export const buildArpRequest = (ask: {
  readonly sha: number;
  readonly spa: number;
  readonly tpa: number;
  readonly dst?: number;
}): Buffer =>
  arpFrame(ask.dst ?? BROADCAST_MAC, { op: ARP_OP.request, sha: ask.sha, spa: ask.spa, tha: 0, tpa: ask.tpa });

/** "`spa` is at `sha`", sent to the one who asked (`tha`, `tpa`), as a whole frame. */
export const buildArpReply = (answer: Omit<ArpRepr, "op">): Buffer =>
  arpFrame(answer.tha, { op: ARP_OP.reply, sha: answer.sha, spa: answer.spa, tha: answer.tha, tpa: answer.tpa });

/**
 * Announcement that `spa` is at `sha`, as a whole broadcast frame. It is a request: RFC 5227 §3 chose that form
 * because some stacks ignore replies they did not ask for.
 */
export const buildGratuitousArp = (owner: { readonly sha: number; readonly spa: number }): Buffer =>
  buildArpRequest({ sha: owner.sha, spa: owner.spa, tpa: owner.spa });
