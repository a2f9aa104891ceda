import { actions } from "./actions.ts";
import { pad, u8, u32, u64 } from "./schema/codec.ts";
import { nested, tlvList, type Unknown, type ValueOf, variant } from "./schema/tlv.ts";

const none = (): string => "";
const gotoTable = variant(1, "goto_table", { tableId: u8, _: pad(3) }, none);
const writeMetadata = variant(2, "write_metadata", { _: pad(4), metadata: u64, mask: u64 }, none);
const writeActions = variant(3, "write_actions", { _: pad(4), actions: nested(() => actions) }, none);
const applyActions = variant(4, "apply_actions", { _: pad(4), actions: nested(() => actions) }, none);
const clearActions = variant(5, "clear_actions", { _: pad(4) }, none);
const meter = variant(6, "meter", { meterId: u32 }, none);
const all = [gotoTable, writeMetadata, writeActions, applyActions, clearActions, meter] as const;
export type Instruction = ValueOf<(typeof all)[number]> | Unknown;
export const instructions = tlvList(all, {
  align: 8,
  lengthCoversPadding: true,
  badLength: "OFPBIC_BAD_LEN",
  experimenters: true,
});
