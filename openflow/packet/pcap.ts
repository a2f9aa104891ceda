import { Buffer } from "node:buffer";
import { bufferOf } from "./bytes.ts";

/** One captured packet. */
export interface PcapPacket {
  /** Microseconds since 1970; nanosecond files are rounded down. */
  readonly tsMicros: number;
  readonly bytes: Uint8Array;
}

/** A capture file's content. */
export interface PcapFile {
  /** Link type, 1 for Ethernet. */
  readonly linkType: number;
  readonly packets: readonly PcapPacket[];
  /** The file ends inside a record, as one does while it is being written. */
  readonly truncated: boolean;
}

/** Variant of the file format to write. */
export interface PcapFormat {
  /** "big" unless given. */
  readonly byteOrder?: "big" | "little";
  /** Resolution of the time stamps: "micro" unless given. */
  readonly resolution?: "micro" | "nano";
}

const MAGIC_MICRO = 0xa1b2c3d4;
const MAGIC_NANO = 0xa1b23c4d;
const FILE_HEADER = 24;
const RECORD_HEADER = 16;
const LINK_ETHERNET = 1;
const SNAP_LENGTH = 262_144;
const MICROS = 1_000_000;

/**
 * Reads a classic pcap file of either byte order, with micro- or nanosecond stamps.
 * @returns undefined when the bytes do not start with a whole pcap header.
 */
export const readPcap = (file: Uint8Array): PcapFile | undefined => {
  if (file.length < FILE_HEADER) return undefined;
  const bytes = bufferOf(file);
  const isBig = [MAGIC_MICRO, MAGIC_NANO].includes(bytes.readUInt32BE(0));
  const isLittle = [MAGIC_MICRO, MAGIC_NANO].includes(bytes.readUInt32LE(0));
  if (!isBig && !isLittle) return undefined;
  const u32 = (at: number): number => (isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at));
  const perMicro = u32(0) === MAGIC_NANO ? 1000 : 1;
  const packets: PcapPacket[] = [];
  let at = FILE_HEADER;
  while (at + RECORD_HEADER <= bytes.length) {
    const end = at + RECORD_HEADER + u32(at + 8);
    if (end > bytes.length) break;
    const tsMicros = u32(at) * MICROS + Math.floor(u32(at + 4) / perMicro);
    packets.push({ tsMicros, bytes: bytes.subarray(at + RECORD_HEADER, end) });
    at = end;
  }
  // The upper bits of the link type field hold the frame check sequence length, not the type.
  return { linkType: u32(20) & 0xffff, packets, truncated: at !== bytes.length };
};

/** Writes a classic pcap file of Ethernet frames. */
export const writePcap = (packets: readonly PcapPacket[], format: PcapFormat = {}): Buffer => {
  const isBig = format.byteOrder !== "little";
  const isNano = format.resolution === "nano";
  const size = packets.reduce((sum, packet) => sum + RECORD_HEADER + packet.bytes.length, FILE_HEADER);
  const out = Buffer.alloc(size);
  const u16 = (value: number, at: number) => (isBig ? out.writeUInt16BE(value, at) : out.writeUInt16LE(value, at));
  const u32 = (value: number, at: number) => (isBig ? out.writeUInt32BE(value, at) : out.writeUInt32LE(value, at));
  u32(isNano ? MAGIC_NANO : MAGIC_MICRO, 0);
  u16(2, 4);
  u16(4, 6);
  u32(SNAP_LENGTH, 16);
  u32(LINK_ETHERNET, 20);
  let at = FILE_HEADER;
  for (const { tsMicros, bytes } of packets) {
    u32(Math.floor(tsMicros / MICROS), at);
    u32(Math.floor(tsMicros % MICROS) * (isNano ? 1000 : 1), at + 4);
    u32(bytes.length, at + 8);
    u32(bytes.length, at + 12);
    out.set(bytes, at + RECORD_HEADER);
    at += RECORD_HEADER + bytes.length;
  }
  return out;
};
