import { instructions } from "../instructions.ts";
import { match } from "../match.ts";
import { pad, u8, u16, u32, u64 } from "../schema/codec.ts";
import { recordsOf } from "../schema/records.ts";
import { Experimenter, experimenterMessage, MULTIPART_REPLY, MULTIPART_REQUEST, message, multipart } from "./define.ts";
import { paddedMatch } from "./padded-match.ts";

/** OFPFC_*, the command of a FLOW_MOD. */
export const FlowCommand = { add: 0, modify: 1, modifyStrict: 2, delete: 3, deleteStrict: 4 } as const;

/** OFPFF_*, flags of a flow. */
export const FlowFlag = {
  sendFlowRem: 1,
  checkOverlap: 2,
  resetCounts: 4,
  noPacketCounts: 8,
  noByteCounts: 16,
} as const;

/** `buffer_id` of a packet that is not buffered. */
export const NO_BUFFER = 0xffff_ffff;

/** OF1.3.5 §7.3.4.1. */
export const flowMod = message(
  14,
  "flow_mod",
  "OFPT_FLOW_MOD",
  {
    cookie: u64,
    cookieMask: u64,
    tableId: u8,
    command: u8,
    idleTimeout: u16,
    hardTimeout: u16,
    priority: u16,
    bufferId: u32,
    outPort: u32,
    outGroup: u32,
    flags: u16,
    _: pad(2),
    match,
    instructions,
  },
  { unit: 8 },
);

/** OF1.3.5 §7.4.2. */
export const flowRemoved = message(
  11,
  "flow_removed",
  "OFPT_FLOW_REMOVED",
  {
    cookie: u64,
    priority: u16,
    reason: u8,
    tableId: u8,
    durationSec: u32,
    durationNsec: u32,
    idleTimeout: u16,
    hardTimeout: u16,
    packetCount: u64,
    byteCount: u64,
    match,
  },
  { unit: 8, trailing: true },
);

const flowRequest = {
  tableId: u8,
  _a: pad(3),
  outPort: u32,
  outGroup: u32,
  _b: pad(4),
  cookie: u64,
  cookieMask: u64,
  match,
} as const;

/** OF1.3.5 §7.3.5.2. */
export const flowStatsRequest = multipart(
  MULTIPART_REQUEST,
  1,
  "flow_stats_request",
  "OFPST_FLOW request",
  flowRequest,
  { unit: 8, trailing: true },
);

export const flowStatsReply = multipart(MULTIPART_REPLY, 1, "flow_stats_reply", "OFPST_FLOW reply", {
  flows: recordsOf(
    {
      _length: pad(2),
      tableId: u8,
      _a: pad(1),
      durationSec: u32,
      durationNsec: u32,
      priority: u16,
      idleTimeout: u16,
      hardTimeout: u16,
      flags: u16,
      _b: pad(4),
      cookie: u64,
      packetCount: u64,
      byteCount: u64,
      match,
      instructions,
    },
    0,
    "OFPBRC_BAD_LEN",
  ),
});

/** OF1.3.5 §7.3.5.3. */
export const aggregateStatsRequest = multipart(
  MULTIPART_REQUEST,
  2,
  "aggregate_stats_request",
  "OFPST_AGGREGATE request",
  flowRequest,
  { unit: 8, trailing: true },
);
export const aggregateStatsReply = multipart(MULTIPART_REPLY, 2, "aggregate_stats_reply", "OFPST_AGGREGATE reply", {
  packetCount: u64,
  byteCount: u64,
  flowCount: u32,
  _: pad(4),
});

const { nicira } = Experimenter;

/** Nicira's FLOW_MOD; the high byte of `command` is a table when NXT_FLOW_MOD_TABLE_ID says so. */
export const nxtFlowMod = experimenterMessage(
  nicira,
  13,
  "nxt_flow_mod",
  "NXT_FLOW_MOD",
  {
    cookie: u64,
    command: u16,
    idleTimeout: u16,
    hardTimeout: u16,
    priority: u16,
    bufferId: u32,
    outPort: u16,
    flags: u16,
    _length: pad(2),
    _: pad(6),
    match: paddedMatch(8),
    instructions,
  },
  { unit: 8 },
);

export const nxtFlowRemoved = experimenterMessage(
  nicira,
  14,
  "nxt_flow_removed",
  "NXT_FLOW_REMOVED",
  {
    cookie: u64,
    priority: u16,
    reason: u8,
    /** Table number plus one; 0 when unknown. */
    tableIdPlusOne: u8,
    durationSec: u32,
    durationNsec: u32,
    idleTimeout: u16,
    _length: pad(2),
    packetCount: u64,
    byteCount: u64,
    match: paddedMatch(18),
  },
  { unit: 8 },
);

/** Whether Nicira's FLOW_MOD names a table in the high byte of its command. */
export const nxtFlowModTableId = experimenterMessage(nicira, 15, "nxt_flow_mod_table_id", "NXT_FLOW_MOD_TABLE_ID", {
  enable: u8,
  _: pad(7),
});

/** Asks for idle and hard ages in flow statistics of Nicira's format. */
export const nxtFlowAge = experimenterMessage(nicira, 18, "nxt_flow_age", "NXT_FLOW_AGE", {});

/** Chooses the flow format of an OpenFlow 1.0 connection; a switch refuses it over 1.3. */
export const nxtSetFlowFormat = experimenterMessage(nicira, 12, "nxt_set_flow_format", "NXT_SET_FLOW_FORMAT", {
  format: u32,
});
