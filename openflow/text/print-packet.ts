import type { Match } from "../match.ts";
import type { MessageOfType } from "../messages/all.ts";
import type { PacketInProperty } from "../messages/packet.ts";
import { isRaw } from "../oxm.ts";
import { formatActions } from "./actions.ts";
import { dotted, hex } from "./bytes.ts";
import { formatMatch } from "./match.ts";
import { formatPacket } from "./packet.ts";
import { formatPort } from "./ports.ts";

const NO_BUFFER = 0xffff_ffff;
const NO_COOKIE = 0xffff_ffff_ffff_ffffn;

const REASONS = [
  "no_match",
  "action",
  "invalid_ttl",
  "action_set",
  "group",
  "packet_out",
  // Open vSwitch knows these two, of OpenFlow 1.4, but has no words for them.
  "",
  "",
];
/** Why a packet came up. */
const packetInReason = (reason: number): string => REASONS[reason] ?? String(reason);

interface PacketInText {
  readonly tableId: number;
  readonly cookie: bigint;
  readonly totalLen: number;
  readonly match: Match;
  readonly reason: number;
  readonly bufferId: number;
  readonly data: Buffer;
  readonly userdata?: Buffer;
}

function packetInText(p: PacketInText): string {
  let out = p.tableId === 0 ? "" : ` table_id=${p.tableId}`;
  if (p.cookie !== NO_COOKIE) out += ` cookie=${hex(p.cookie)}`;
  out += ` total_len=${p.totalLen} ${formatMatch(p.match.filter((f) => !isRaw(f)))} (via ${packetInReason(p.reason)}) data_len=${p.data.length}`;
  if (p.bufferId === NO_BUFFER) {
    out += " (unbuffered)";
    if (p.totalLen !== p.data.length) out += " (***total_len != data_len***)";
  } else {
    out += ` buffer=0x${p.bufferId.toString(16).padStart(8, "0")}`;
    if (p.totalLen < p.data.length) out += " (***total_len < data_len***)";
  }
  out += "\n";
  if (p.userdata && p.userdata.length > 0) out += ` userdata=${dotted(p.userdata)}\n`;
  return `${out}${formatPacket(p.data)}\n`;
}

export const packetInMessageText = (m: MessageOfType<"packet_in">): string => packetInText(m);
export const nxtPacketInText = (m: MessageOfType<"nxt_packet_in">): string => packetInText(m);

/** The members of a property list; of those that repeat the last one counts. */
function packetInFields(properties: readonly PacketInProperty[]): PacketInText {
  let data: Buffer | undefined;
  let totalLen: number | undefined;
  const rest: { -readonly [K in keyof PacketInText]?: PacketInText[K] } = {};
  for (const p of properties) {
    if (p.kind === "packet") data = p.data;
    else if (p.kind === "full_len") totalLen = p.bytes;
    else if (p.kind === "buffer_id") rest.bufferId = p.bufferId;
    else if (p.kind === "table_id") rest.tableId = p.tableId;
    else if (p.kind === "cookie") rest.cookie = p.cookie;
    else if (p.kind === "reason") rest.reason = p.reason;
    else if (p.kind === "metadata") rest.match = p.match;
    else if (p.kind === "userdata") rest.userdata = p.data;
  }
  const packet = data ?? Buffer.alloc(0);
  return {
    tableId: 0,
    cookie: NO_COOKIE,
    match: [],
    reason: 0,
    bufferId: NO_BUFFER,
    ...rest,
    totalLen: totalLen ?? packet.length,
    data: packet,
  };
}

export const nxtPacketIn2Text = (m: MessageOfType<"nxt_packet_in2" | "nxt_resume">): string =>
  packetInText(packetInFields(m.properties));

export function packetOutText(m: MessageOfType<"packet_out">): string {
  const head = ` in_port=${formatPort(m.inPort)} actions=${formatActions(m.actions)}`;
  if (m.bufferId !== NO_BUFFER) return `${head} buffer=0x${m.bufferId.toString(16).padStart(8, "0")}`;
  return `${head} data_len=${m.data.length}${m.data.length === 0 ? "" : `\n${formatPacket(m.data)}\n`}`;
}
