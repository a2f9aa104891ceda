import { pad, u16, u32, u64 } from "../schema/codec.ts";
import { recordsOf } from "../schema/records.ts";
import { listOf, struct } from "../schema/struct.ts";
import { tlvList, variant } from "../schema/tlv.ts";
import { MULTIPART_REPLY, MULTIPART_REQUEST, message, multipart } from "./define.ts";

/** OFPQ_ALL. */
export const QUEUE_ALL = 0xffff_ffff;

const none = (): string => "";
/** `rate` in tenths of a percent of the port's speed. */
const properties = [
  // The padding after a queue property's header stands before the rate and after it.
  variant(1, "min_rate", { _a: pad(4), rate: u16, _b: pad(6) }, none),
  variant(2, "max_rate", { _a: pad(4), rate: u16, _b: pad(6) }, none),
] as const;

/** OF1.3.5 §7.3.6. */
export const queueGetConfigRequest = message(22, "queue_get_config_request", "OFPT_QUEUE_GET_CONFIG_REQUEST", {
  port: u32,
  _: pad(4),
});
export const queueGetConfigReply = message(
  23,
  "queue_get_config_reply",
  "OFPT_QUEUE_GET_CONFIG_REPLY",
  {
    port: u32,
    _: pad(4),
    queues: recordsOf(
      {
        queueId: u32,
        port: u32,
        _length: pad(2),
        _: pad(6),
        properties: tlvList(properties, {
          align: 8,
          lengthCoversPadding: true,
          badLength: "OFPBRC_BAD_LEN",
          experimenters: false,
        }),
      },
      8,
      "OFPBRC_BAD_LEN",
    ),
  },
  { unit: 8 },
);

/** OF1.3.5 §7.3.5.8. */
export const queueStatsRequest = multipart(MULTIPART_REQUEST, 5, "queue_stats_request", "OFPST_QUEUE request", {
  portNo: u32,
  queueId: u32,
});
export const queueStatsReply = multipart(
  MULTIPART_REPLY,
  5,
  "queue_stats_reply",
  "OFPST_QUEUE reply",
  {
    queues: listOf(
      struct({
        portNo: u32,
        queueId: u32,
        txBytes: u64,
        txPackets: u64,
        txErrors: u64,
        durationSec: u32,
        durationNsec: u32,
      }),
    ),
  },
  { unit: 40 },
);
