import { actions } from "../actions.ts";
import { pad, u8, u16, u32, u64 } from "../schema/codec.ts";
import { recordsOf } from "../schema/records.ts";
import { listOf, struct } from "../schema/struct.ts";
import { MULTIPART_REPLY, MULTIPART_REQUEST, message, multipart } from "./define.ts";

/** OFPGC_*, the command of a GROUP_MOD. */
export const GroupCommand = { add: 0, modify: 1, delete: 2 } as const;
/** OFPGT_*. */
export const GroupType = { all: 0, select: 1, indirect: 2, ff: 3 } as const;
/** OFPG_ALL and OFPG_ANY. */
export const GROUP_ALL = 0xffff_fffc;
export const GROUP_ANY = 0xffff_ffff;

const buckets = recordsOf(
  { _length: pad(2), weight: u16, watchPort: u32, watchGroup: u32, _: pad(4), actions },
  0,
  "OFPGMFC_BAD_BUCKET",
);

/** OF1.3.5 §7.3.4.2. */
export const groupMod = message(
  15,
  "group_mod",
  "OFPT_GROUP_MOD",
  { command: u16, groupType: u8, _: pad(1), groupId: u32, buckets },
  { unit: 8 },
);

/** OF1.3.5 §7.3.5.9. */
export const groupStatsRequest = multipart(MULTIPART_REQUEST, 6, "group_stats_request", "OFPST_GROUP request", {
  groupId: u32,
  _: pad(4),
});
export const groupStatsReply = multipart(
  MULTIPART_REPLY,
  6,
  "group_stats_reply",
  "OFPST_GROUP reply",
  {
    groups: recordsOf(
      {
        _length: pad(2),
        _a: pad(2),
        groupId: u32,
        refCount: u32,
        _b: pad(4),
        packetCount: u64,
        byteCount: u64,
        durationSec: u32,
        durationNsec: u32,
        buckets: listOf(struct({ packetCount: u64, byteCount: u64 })),
      },
      0,
      "OFPBRC_BAD_LEN",
    ),
  },
  { unit: 8 },
);

/** OF1.3.5 §7.3.5.10. */
export const groupDescRequest = multipart(MULTIPART_REQUEST, 7, "group_desc_request", "OFPST_GROUP_DESC request", {});
export const groupDescReply = multipart(
  MULTIPART_REPLY,
  7,
  "group_desc_reply",
  "OFPST_GROUP_DESC reply",
  {
    groups: recordsOf({ _length: pad(2), groupType: u8, _: pad(1), groupId: u32, buckets }, 0, "OFPBRC_BAD_LEN"),
  },
  { unit: 8 },
);

const perType = struct({ all: u32, select: u32, indirect: u32, ff: u32 });
/** OF1.3.5 §7.3.5.11; `types` and `capabilities` are bitmaps, `actions` one per group type. */
export const groupFeaturesRequest = multipart(
  MULTIPART_REQUEST,
  8,
  "group_features_request",
  "OFPST_GROUP_FEATURES request",
  {},
);
export const groupFeaturesReply = multipart(MULTIPART_REPLY, 8, "group_features_reply", "OFPST_GROUP_FEATURES reply", {
  types: u32,
  capabilities: u32,
  maxGroups: perType,
  actions: perType,
});
