/** The list of instructions (OF1.3.5 §7.2.4), both ways and in text. */
import { actions } from "./actions.ts";
import { DecodeError } from "./errors.ts";
import type { Instruction } from "./instruction-values.ts";
import { pad, u8, u32, u64 } from "./schema/codec.ts";
import { type TlvList, tlvList, variant } from "./schema/tlv.ts";

export type { Instruction } from "./instruction-values.ts";

const ALL_64 = 0xffff_ffff_ffff_ffffn;
const hex = (n: bigint): string => (n === 0n ? "0" : `0x${n.toString(16)}`);
const list = { _: pad(4), actions };
const actionsText = (v: { readonly actions: readonly Parameters<typeof actions.text>[0][] }): string =>
  v.actions.map(actions.text).join(",") || "drop";

const list13 = tlvList(
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
  {
    align: 8,
    lengthCoversPadding: true,
    badLength: "OFPBIC_BAD_LEN",
    experimenters: true,
  },
);

/** Lengths of instructions: what they have, or have at least. */
const lengths = new Map([
  [1, { exact: 8 }],
  [2, { exact: 24 }],
  [3, { least: 8 }],
  [4, { least: 8 }],
  [5, { exact: 8 }],
  [6, { exact: 8 }],
]);
const EXPERIMENTER = 0xffff;

/** Throws what is wrong with the headers, which a switch looks at before any action. */
function checkHeaders(b: Buffer, at: number, end: number): void {
  const seen = new Set<number>();
  const refuse = (code: string, here: number): DecodeError => new DecodeError(code, here, "instruction header");
  for (let here = at; here < end; ) {
    const length = end - here < 8 ? 0 : b.readUInt16BE(here + 2);
    if (length < 8 || length % 8 !== 0 || here + length > end) throw refuse("OFPBIC_BAD_LEN", here);
    const type = b.readUInt16BE(here);
    if (type === EXPERIMENTER) throw refuse("OFPBIC_BAD_EXPERIMENTER", here);
    const size: { readonly exact?: number } | undefined = lengths.get(type);
    if (!size) throw refuse("OFPBIC_UNKNOWN_INST", here);
    if (size.exact !== undefined && size.exact !== length) throw refuse("OFPBIC_BAD_LEN", here);
    if (seen.has(type)) throw refuse("OFPBIC_DUP_INST", here);
    seen.add(type);
    here += length;
  }
}

/** Does `fence`, and when it throws finds the reason that a switch would give. */
function refusingHeadersFirst<T>(b: Buffer, at: number, end: number, fence: () => T): T {
  try {
    return fence();
  } catch (e) {
    checkHeaders(b, at, end);
    throw e;
  }
}

export const instructions: TlvList<Instruction> = {
  ...list13,
  fence: (b, at, end) => refusingHeadersFirst(b, at, end, () => list13.fence(b, at, end)),
  decode: (b) => refusingHeadersFirst(b, 0, b.length, () => list13.decode(b)),
};
