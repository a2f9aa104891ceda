import { actions } from "../actions.ts";
import { match, matchFields } from "../match.ts";
import { pad, restBytes, u8, u16, u32, u64 } from "../schema/codec.ts";
import { propertyRules, propertyU8 } from "../schema/property.ts";
import { sized } from "../schema/records.ts";
import { tlvList, type Unknown, type ValueOf, variant } from "../schema/tlv.ts";
import { Experimenter, experimenterMessage, message } from "./define.ts";
import { paddedMatch } from "./padded-match.ts";

/** OF1.3.5 §7.4.1. */
export const packetIn = message(
  10,
  "packet_in",
  "OFPT_PACKET_IN",
  { bufferId: u32, totalLen: u16, reason: u8, tableId: u8, cookie: u64, match, _: pad(2), data: restBytes },
  { base: 24 },
);

/** OF1.3.5 §7.3.7. */
export const packetOut = message(
  13,
  "packet_out",
  "OFPT_PACKET_OUT",
  {
    bufferId: u32,
    inPort: u32,
    actions: sized(actions, 6, "OFPBRC_BAD_LEN"),
    data: restBytes,
  },
  { base: 24 },
);

const { nicira } = Experimenter;

/** Nicira's first packet-in format; its match is a bare field list. */
export const nxtPacketIn = experimenterMessage(
  nicira,
  17,
  "nxt_packet_in",
  "NXT_PACKET_IN",
  {
    bufferId: u32,
    totalLen: u16,
    reason: u8,
    tableId: u8,
    cookie: u64,
    _length: pad(2),
    _a: pad(6),
    match: paddedMatch(8),
    _b: pad(2),
    data: restBytes,
  },
  { base: 40 },
);

const none = (): string => "";
const properties = [
  variant(0, "packet", { data: restBytes }, none),
  variant(1, "full_len", { bytes: u32 }, none),
  variant(2, "buffer_id", { bufferId: u32 }, none),
  variant(3, "table_id", { tableId: propertyU8 }, none),
  variant(4, "cookie", { _: pad(4), cookie: u64 }, none),
  variant(5, "reason", { reason: propertyU8 }, none),
  variant(6, "metadata", { match: matchFields }, none),
  variant(7, "userdata", { data: restBytes }, none),
  variant(0x8000, "continuation", { data: restBytes }, none),
] as const;

/** A property of NXT_PACKET_IN2 and NXT_RESUME. A continuation is opaque and goes back unchanged. */
export type PacketInProperty = ValueOf<(typeof properties)[number]> | Unknown;

const packetInProperties = tlvList(properties, propertyRules);

/** The packet-in format with pipeline metadata, user data and continuations. */
export const nxtPacketIn2 = experimenterMessage(
  nicira,
  30,
  "nxt_packet_in2",
  "NXT_PACKET_IN2",
  { properties: packetInProperties },
  { unit: 8 },
);

/** Resumes a packet that `controller(pause)` sent up: the NXT_PACKET_IN2 comes back as it was. */
export const nxtResume = experimenterMessage(
  nicira,
  28,
  "nxt_resume",
  "NXT_RESUME",
  { properties: packetInProperties },
  { unit: 8 },
);

/** Chooses what packet-ins look like on this connection: 0 standard, 1 NXT_PACKET_IN, 2 NXT_PACKET_IN2. */
export const nxtSetPacketInFormat = experimenterMessage(
  nicira,
  16,
  "nxt_set_packet_in_format",
  "NXT_SET_PACKET_IN_FORMAT",
  { format: u32 },
);

/** Numbers this connection for `controller(id=…)`. */
export const nxtSetControllerId = experimenterMessage(nicira, 20, "nxt_set_controller_id", "NXT_SET_CONTROLLER_ID", {
  _: pad(6),
  controllerId: u16,
});
