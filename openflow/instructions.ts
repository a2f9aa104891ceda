/** The list of instructions (OF1.3.5 §7.2.4), both ways and in text. */
import { actions } from "./actions.ts";
import type { Instruction } from "./instruction-values.ts";
import { pad, u8, u32, u64 } from "./schema/codec.ts";
import { nested, type TlvList, tlvList, variant } from "./schema/tlv.ts";

export type { Instruction } from "./instruction-values.ts";

const ALL_64 = 0xffff_ffff_ffff_ffffn;
const hex = (n: bigint): string => (n === 0n ? "0" : `0x${n.toString(16)}`);
const list = { _: pad(4), actions: nested(() => actions) };
const actionsText = (v: { readonly actions: readonly Parameters<typeof actions.text>[0][] }): string =>
  v.actions.map(actions.text).join(",") || "drop";

export const instructions: TlvList<Instruction> = tlvList(
  [
    variant(1, "goto_table", { tableId: u8, _: pad(3) }, (v) => `goto_table:${v.tableId}`),
    variant(2, "write_metadata", { _: pad(4), metadata: u64, mask: u64 }, (v) => {
      return `write_metadata:${hex(v.metadata)}${v.mask === ALL_64 ? "" : `/${hex(v.mask)}`}`;
    }),
    variant(3, "write_actions", list, (v) => `write_actions(${actionsText(v)})`),
    variant(4, "apply_actions", list, actionsText),
    variant(5, "clear_actions", { _: pad(4) }, () => "clear_actions"),
    variant(6, "meter", { meterId: u32 }, (v) => `meter:${v.meterId}`),
  ],
  { align: 8, lengthCoversPadding: true, badLength: "OFPBIC_BAD_LEN", experimenters: true },
);
