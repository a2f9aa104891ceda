import type { FieldName } from "./fields.ts";

/** Bits `ofs … ofs + nBits - 1` of a field, bit 0 being the least significant; in text `NXM_NX_REG1[0..9]`. */
export interface Subfield {
  readonly field: FieldName;
  readonly ofs: number;
  readonly nBits: number;
}
