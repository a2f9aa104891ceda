/** Where a packet's connection has its ends. */
import { ipText } from "../format.ts";
import type { Tuple } from "./conntrack.ts";
import { type PacketState, readField, writeField } from "./packet.ts";

/** TCP, UDP, SCTP. */
const PORTED: readonly number[] = [6, 17, 132];
/** Bit of ip_frag for fragments without a transport header. */
const LATER = 2n;

const hasPorts = (state: PacketState): boolean =>
  PORTED.includes(Number(readField(state, "nw_proto"))) && (readField(state, "ip_frag") & LATER) === 0n;

export const tupleOf = (state: PacketState): Tuple => {
  const ported = hasPorts(state);
  return {
    src: Number(readField(state, "ip_src")),
    dst: Number(readField(state, "ip_dst")),
    srcPort: ported ? Number(readField(state, "tcp_src")) : 0,
    dstPort: ported ? Number(readField(state, "tcp_dst")) : 0,
  };
};

export const writeTuple = (state: PacketState, t: Tuple): void => {
  writeField(state, "ip_src", BigInt(t.src));
  writeField(state, "ip_dst", BigInt(t.dst));
  if (!hasPorts(state)) return;
  writeField(state, "tcp_src", BigInt(t.srcPort));
  writeField(state, "tcp_dst", BigInt(t.dstPort));
};

export const tupleText = (t: Tuple): string => `${ipText(t.src)}:${t.srcPort} -> ${ipText(t.dst)}:${t.dstPort}`;
