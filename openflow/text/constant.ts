/** Constants that actions write or learn, which Open vSwitch prints otherwise than what matches say in two fields. */
import { isValidValue } from "../check-match.ts";
import type { FieldDef, FieldName, FieldValue } from "../fields.ts";
import { CT_STATES, formatFlags, formatSignedFlags } from "./flags.ts";
import { formatValue } from "./value.ts";

const TUNNEL_FLAGS = ["oam", "df", "csum", "key"];
const ALL_32 = 0xffffffff;

/** A value with its mask in the notation of its field; `ANY` for a mask without bits. */
export function formatConstant(def: FieldDef<FieldName>, value: FieldValue, mask?: FieldValue): string {
  if (mask !== undefined && BigInt(mask) === 0n) return "ANY";
  if (def.format === "tun_flags") {
    // Of these flags matches know the first one only, and a mask without it is no mask of theirs.
    return mask === undefined || Number(mask) % 2 === 1 ? formatFlags(Number(value), TUNNEL_FLAGS) : "0/0";
  }
  if (def.format === "port" && !isValidValue(def, value)) return "ANY";
  if (def.format === "ct_state") return formatSignedFlags(Number(value), ALL_32, CT_STATES);
  return formatValue(def, value, mask);
}
