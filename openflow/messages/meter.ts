import { pad, u8, u16, u32, u64 } from "../schema/codec.ts";
import { recordsOf } from "../schema/records.ts";
import { listOf, struct } from "../schema/struct.ts";
import { tlvList, variant } from "../schema/tlv.ts";
import { MULTIPART_REPLY, MULTIPART_REQUEST, message, multipart } from "./define.ts";

/** OFPMC_*. */
export const MeterCommand = { add: 0, modify: 1, delete: 2 } as const;
/** OFPMF_*. */
export const MeterFlag = { kbps: 1, pktps: 2, burst: 4, stats: 8 } as const;
/** OFPM_*, meters with a meaning of their own. */
export const Meter = { slowpath: 0xffff_fffd, controller: 0xffff_fffe, all: 0xffff_ffff } as const;

const none = (): string => "";
/** OF1.3.5 §7.3.4.5. `rate` and `burstSize` in kilobits or packets, as the meter's flags say. */
const allBands = [
  variant(1, "drop", { rate: u32, burstSize: u32, _: pad(4) }, none),
  variant(2, "dscp_remark", { rate: u32, burstSize: u32, precLevel: u8, _: pad(3) }, none),
] as const;
const bands = tlvList(allBands, {
  align: 8,
  lengthCoversPadding: true,
  badLength: "OFPBRC_BAD_LEN",
  experimenters: false,
});

export const meterMod = message(
  29,
  "meter_mod",
  "OFPT_METER_MOD",
  { command: u16, flags: u16, meterId: u32, bands },
  { unit: 8 },
);

const request = { meterId: u32, _: pad(4) } as const;

/** OF1.3.5 §7.3.5.12. */
export const meterStatsRequest = multipart(MULTIPART_REQUEST, 9, "meter_stats_request", "OFPST_METER request", request);
export const meterStatsReply = multipart(
  MULTIPART_REPLY,
  9,
  "meter_stats_reply",
  "OFPST_METER reply",
  {
    meters: recordsOf(
      {
        meterId: u32,
        _length: pad(2),
        _: pad(6),
        flowCount: u32,
        packetInCount: u64,
        byteInCount: u64,
        durationSec: u32,
        durationNsec: u32,
        bands: listOf(struct({ packetCount: u64, byteCount: u64 })),
      },
      4,
      "OFPBRC_BAD_LEN",
    ),
  },
  { unit: 8 },
);

/** OF1.3.5 §7.3.5.13. */
export const meterConfigRequest = multipart(
  MULTIPART_REQUEST,
  10,
  "meter_config_request",
  "OFPST_METER_CONFIG request",
  request,
);
export const meterConfigReply = multipart(
  MULTIPART_REPLY,
  10,
  "meter_config_reply",
  "OFPST_METER_CONFIG reply",
  { meters: recordsOf({ _length: pad(2), meterFlags: u16, meterId: u32, bands }, 0, "OFPBRC_BAD_LEN") },
  { unit: 8 },
);

/** OF1.3.5 §7.3.5.14. */
export const meterFeaturesRequest = multipart(
  MULTIPART_REQUEST,
  11,
  "meter_features_request",
  "OFPST_METER_FEATURES request",
  {},
);
export const meterFeaturesReply = multipart(MULTIPART_REPLY, 11, "meter_features_reply", "OFPST_METER_FEATURES reply", {
  maxMeter: u32,
  bandTypes: u32,
  capabilities: u32,
  maxBands: u8,
  maxColor: u8,
  _: pad(2),
});
