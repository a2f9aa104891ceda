import { Buffer } from "node:buffer";
import { bufferOf } from "./bytes.ts";

/** EtherTypes used here (IEEE 802 numbers). */
export const ETH_TYPE = { ipv4: 0x0800, arp: 0x0806, vlan: 0x8100, qinq: 0x88a8 } as const;

/** One VLAN tag (IEEE 802.1Q). */
interface VlanTag {
  /** Tag protocol: 0x8100 or 0x88a8. */
  readonly tpid: number;
  /** Tag control information: priority(3), drop eligible(1), VLAN id(12). */
  readonly tci: number;
}

/** An Ethernet II frame without its frame check sequence. */
export interface EthernetRepr {
  /** 48 bits */
  readonly dst: number;
  /** 48 bits */
  readonly src: number;
  /** Outermost first; at most two are taken off by {@link parseEthernet}. */
  readonly vlans: readonly VlanTag[];
  /** EtherType of the payload; below 0x600 it is an IEEE 802.3 length. */
  readonly type: number;
  /** A view of the given bytes, link padding included. */
  readonly payload: Uint8Array;
}

const HEADER = 14;
const TAG = 4;
const MAX_TAGS = 2;

const isTag = (type: number): boolean => type === ETH_TYPE.vlan || type === ETH_TYPE.qinq;

/**
 * Parses a frame and takes off up to two VLAN tags. A third tag stays in the payload, its tag protocol being `type`.
 * @returns undefined when the frame ends inside its header or inside a tag.
 */
export const parseEthernet = (frame: Uint8Array): EthernetRepr | undefined => {
  if (frame.length < HEADER) return undefined;
  const bytes = bufferOf(frame);
  const vlans: VlanTag[] = [];
  let at = 12;
  let type = bytes.readUInt16BE(at);
  while (isTag(type) && vlans.length < MAX_TAGS) {
    if (bytes.length < at + TAG + 2) return undefined;
    vlans.push({ tpid: type, tci: bytes.readUInt16BE(at + 2) });
    at += TAG;
    type = bytes.readUInt16BE(at);
  }
  return { dst: bytes.readUIntBE(0, 6), src: bytes.readUIntBE(6, 6), vlans, type, payload: bytes.subarray(at + 2) };
};

/** Bytes that {@link emitEthernet} writes. */
export const ethernetLength = (repr: EthernetRepr): number => HEADER + TAG * repr.vlans.length + repr.payload.length;

/**
 * Writes a frame to the start of `out`. It is not padded to 60 bytes: the port that sends it does that.
 * @throws RangeError when `out` is too short or a value too wide.
 */
export const emitEthernet = (repr: EthernetRepr, out: Buffer): void => {
  out.writeUIntBE(repr.dst, 0, 6);
  out.writeUIntBE(repr.src, 6, 6);
  let at = 12;
  for (const { tpid, tci } of repr.vlans) {
    out.writeUInt16BE(tpid, at);
    out.writeUInt16BE(tci, at + 2);
    at += TAG;
  }
  out.writeUInt16BE(repr.type, at);
  out.set(repr.payload, at + 2);
};

/** A frame in a buffer of its own; see {@link emitEthernet}. */
export const ethernetFrame = (repr: EthernetRepr): Buffer => {
  const out = Buffer.alloc(ethernetLength(repr));
  emitEthernet(repr, out);
  return out;
};
