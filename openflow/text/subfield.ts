import { codePointByText, type FieldName, fieldByName, fields } from "../fields.ts";
import { ParseError } from "./parse-error.ts";

/** Some bits of a field: `ofs` counts from the least significant. */
export interface Subfield {
  readonly field: FieldName;
  readonly ofs: number;
  readonly nBits: number;
}

/** Text as ovs-ofctl prints it: `NXM_NX_REG1[0..9]`, `NXM_OF_IP_DST[]`, `NXM_NX_CT_MARK[3]`. */
export function formatSubfield(s: Subfield): string {
  const def = fieldByName(s.field);
  if (!def) throw new TypeError(`no field ${s.field}`);
  const name = def.nxm.text;
  if (s.ofs === 0 && s.nBits === def.bits) return `${name}[]`;
  return s.nBits === 1 ? `${name}[${s.ofs}]` : `${name}[${s.ofs}..${s.ofs + s.nBits - 1}]`;
}

const SHAPE = /^([A-Za-z_]\w*)(?:\[(?:(\d+)(?:\.\.(\d+))?)?\])?$/;

/**
 * Reads a subfield: a field by any of its names, or a code point's name, then `[]`, `[bit]` or `[first..last]`.
 * Brackets may be left out, which means the whole field (ovs-actions(7), "Subfields").
 * @param column where `text` begins in what the user typed, for errors
 * @throws ParseError
 */
export function parseSubfield(text: string, column = 0): Subfield {
  const m = SHAPE.exec(text);
  if (!m) {
    throw new ParseError(column, `"${text}" is not a subfield`, [
      "FIELD[]",
      "FIELD[BIT]",
      "FIELD[FIRST..LAST]",
      "FIELD",
    ]);
  }
  const [, name = "", first, last] = m;
  const def = fieldByName(name) ?? codePointByText(name.endsWith("_W") ? name.slice(0, -2) : name)?.field;
  if (!def) {
    throw new ParseError(
      column,
      `unknown field "${name}"`,
      fields.map((f) => f.name),
    );
  }
  const ofs = first === undefined ? 0 : Number(first);
  const end = first === undefined ? def.bits - 1 : last === undefined ? ofs : Number(last);
  const at = column + name.length;
  if (ofs > end) throw new ParseError(at, `first bit ${ofs} comes after last bit ${end}`, []);
  if (end >= def.bits) throw new ParseError(at, `bit ${end} is not in ${def.name}, which has ${def.bits} bits`, []);
  return { field: def.name, ofs, nBits: end - ofs + 1 };
}
