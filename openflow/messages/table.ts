import { DecodeError } from "../errors.ts";
import { pad, rest, str, u8, u32, u64, type Writer } from "../schema/codec.ts";
import { propertyRules } from "../schema/property.ts";
import { recordsOf } from "../schema/records.ts";
import { listOf, struct } from "../schema/struct.ts";
import { tlvList, type Unknown, type ValueOf, variant } from "../schema/tlv.ts";
import { MULTIPART_REPLY, MULTIPART_REQUEST, message, multipart } from "./define.ts";

/** OFPTT_ALL. */
export const TABLE_ALL = 0xff;

/** OF1.3.5 §7.3.3. */
export const tableMod = message(17, "table_mod", "OFPT_TABLE_MOD", { tableId: u8, _: pad(3), config: u32 });

/** OF1.3.5 §7.3.5.4. */
export const tableStatsRequest = multipart(MULTIPART_REQUEST, 3, "table_stats_request", "OFPST_TABLE request", {});
export const tableStatsReply = multipart(
  MULTIPART_REPLY,
  3,
  "table_stats_reply",
  "OFPST_TABLE reply",
  {
    tables: listOf(struct({ tableId: u8, _: pad(3), activeCount: u32, lookupCount: u64, matchedCount: u64 })),
  },
  { unit: 24 },
);

/** An action or instruction a table supports: its type, and for an experimenter's the id that follows. */
export interface TypeId {
  readonly type: number;
  readonly experimenter?: number;
  /** Bytes after the experimenter id. */
  readonly data?: Buffer;
}

const typeIds = rest<readonly TypeId[]>({
  write: (w: Writer, ids) => {
    for (const id of ids) {
      const data = id.data ?? Buffer.alloc(0);
      w.writeUInt16BE(id.type);
      w.writeUInt16BE(id.experimenter === undefined ? 4 : 8 + data.length);
      if (id.experimenter !== undefined) w.writeUInt32BE(id.experimenter);
      w.writeBuffer(data);
    }
  },
  read: (b) => {
    const ids: TypeId[] = [];
    for (let at = 0; at < b.length; at += b.readUInt16BE(at + 2)) {
      const length = b.readUInt16BE(at + 2);
      const type = b.readUInt16BE(at);
      if (length === 4) ids.push({ type });
      else ids.push({ type, experimenter: b.readUInt32BE(at + 4), data: b.subarray(at + 8, at + length) });
    }
    return ids;
  },
  check: (b, at, end) => {
    let here = at;
    while (here < end) {
      const length = end - here < 4 ? 0 : b.readUInt16BE(here + 2);
      if ((length !== 4 && length < 8) || here + length > end) {
        throw new DecodeError("OFPBPC_BAD_LEN", here, `${length} bytes for an action or instruction id`);
      }
      here += length;
    }
  },
});

const none = (): string => "";
const instructionIds = { ids: typeIds } as const;
const nextTables = { tables: listOf(u8) } as const;
const actionIds = { ids: typeIds } as const;
/** 32-bit OXM headers; those of experimenters have a second word. */
const oxmIds = { headers: listOf(u32) } as const;
const properties = [
  variant(0, "instructions", instructionIds, none),
  variant(1, "instructions_miss", instructionIds, none),
  variant(2, "next_tables", nextTables, none),
  variant(3, "next_tables_miss", nextTables, none),
  variant(4, "write_actions", actionIds, none),
  variant(5, "write_actions_miss", actionIds, none),
  variant(6, "apply_actions", actionIds, none),
  variant(7, "apply_actions_miss", actionIds, none),
  variant(8, "match", oxmIds, none),
  variant(10, "wildcards", oxmIds, none),
  variant(12, "write_set_field", oxmIds, none),
  variant(13, "write_set_field_miss", oxmIds, none),
  variant(14, "apply_set_field", oxmIds, none),
  variant(15, "apply_set_field_miss", oxmIds, none),
] as const;
/** A property of table features (OF1.3.5 §7.3.5.5.2); experimenter ones stay raw. */
export type TableProperty = ValueOf<(typeof properties)[number]> | Unknown;

const tables = recordsOf(
  {
    _length: pad(2),
    tableId: u8,
    _: pad(5),
    name: str(32),
    metadataMatch: u64,
    metadataWrite: u64,
    config: u32,
    maxEntries: u32,
    properties: tlvList(properties, propertyRules),
  },
  0,
  "OFPBPC_BAD_LEN",
);

/** OF1.3.5 §7.3.5.5; a request with tables asks to change them. */
export const tableFeaturesRequest = multipart(
  MULTIPART_REQUEST,
  12,
  "table_features_request",
  "OFPST_TABLE_FEATURES request",
  { tables },
  { unit: 8 },
);
export const tableFeaturesReply = multipart(
  MULTIPART_REPLY,
  12,
  "table_features_reply",
  "OFPST_TABLE_FEATURES reply",
  { tables },
  { unit: 8 },
);

/** OF1.3.5 §7.3.5.1. */
export const descRequest = multipart(MULTIPART_REQUEST, 0, "desc_request", "OFPST_DESC request", {});
export const descReply = multipart(MULTIPART_REPLY, 0, "desc_reply", "OFPST_DESC reply", {
  mfrDesc: str(256),
  hwDesc: str(256),
  swDesc: str(256),
  serialNum: str(32),
  dpDesc: str(256),
});
