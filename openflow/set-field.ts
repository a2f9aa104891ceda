/** Actions that write constants into fields (OF1.3.5 §7.2.5; ovs-actions(7), "The set_field and load actions"). */
import type { SetField } from "./action-values.ts";
import { action, type Body, customAction, nx } from "./action-variant.ts";
import { isValidValue } from "./check-match.ts";
import { DecodeError } from "./errors.ts";
import { fieldByNumber } from "./fields.ts";
import { isRaw, type OxmField, readOxm, writeOxmAs } from "./oxm.ts";
import { need, u64 } from "./schema/codec.ts";
import { definition, mustBeZero, targetBits } from "./subfield.ts";
import { formatConstant } from "./text/constant.ts";
import { formatSubfield } from "./text/subfield.ts";

const VLAN_PRESENT = 0x1000;

/** Checks one TLV and the zeros after it; with `mask` the rules of NXAST_REG_LOAD2, else those of OFPAT_SET_FIELD. */
function checkOxm(b: Buffer, at: number, end: number, mayMask: boolean): void {
  need(at, 4, end, "OFPBAC_BAD_LEN");
  const length = b[at + 3] as number;
  const stop = at + 4 + length;
  const f = stop <= end && !(isExperimental(b, at) && length < 4) ? readOxm(b, at) : undefined;
  if (!f || isRaw(f)) throw badField(b, at, end);
  if (f.mask !== undefined) {
    if (!mayMask) throw new DecodeError("OFPBAC_BAD_SET_MASK", at, "set_field takes no mask");
    if ((BigInt(f.value) & ~BigInt(f.mask)) !== 0n) {
      throw new DecodeError("OFPBMC_BAD_WILDCARDS", at, "a bit is 1 in the value and 0 in the mask");
    }
  }
  mustBeZero(b, stop, end, "OFPBAC_BAD_SET_ARGUMENT");
  const def = definition(f.field);
  if (!def.writable) throw new DecodeError("OFPBAC_BAD_SET_ARGUMENT", at, `${def.name} is read-only`);
  if (mayMask) return;
  if (def.name === "in_port_oxm") throw new DecodeError("OFPBAC_BAD_SET_ARGUMENT", at, "in_port cannot be set");
  const untagged = def.name === "vlan_vid" && ((f.value as number) & VLAN_PRESENT) === 0;
  if (untagged || !isValidValue(def, f.value)) {
    throw new DecodeError("OFPBAC_BAD_SET_ARGUMENT", at, `${def.name} cannot be ${f.value}`);
  }
}

const isExperimental = (b: Buffer, at: number): boolean => b.readUInt16BE(at) === 0xffff;

/** What is wrong with a TLV that holds no field of its length. */
function badField(b: Buffer, at: number, end: number): DecodeError {
  const length = b[at + 3] as number;
  let experimenter: number | undefined;
  if (isExperimental(b, at)) {
    if (length < 4 || at + 8 > end) return new DecodeError("OFPBMC_BAD_LEN", at, "no room for the experimenter's id");
    experimenter = b.readUInt32BE(at + 4);
  }
  const def = fieldByNumber(b.readUInt16BE(at), (b[at + 2] as number) >> 1, experimenter);
  if (!def) return new DecodeError("OFPBAC_BAD_SET_TYPE", at, "unknown field");
  if (def.variable && at + 4 + length > end) return new DecodeError("OFPBMC_BAD_LEN", at, `${length} bytes do not fit`);
  return new DecodeError("OFPBAC_BAD_SET_LEN", at, `${def.name} of ${length} bytes`);
}

const text = (v: Body<"set_field">): string =>
  `set_field:${formatConstant(definition(v.field), v.value, v.mask)}->${v.field}`;

const withKind = ({ field, value, mask }: OxmField): SetField =>
  mask === undefined ? { kind: "set_field", field, value } : { kind: "set_field", field, value, mask };

const setField = customAction(25, "set_field", {
  min: 4,
  write: (w, v) => writeOxmAs(w, v as OxmField, definition(v.field), "oxm"),
  read: (b, at) => withKind(readOxm(b, at) as OxmField),
  check: (b, at, end) => checkOxm(b, at, end, false),
  text,
  when: (v) => v.mask === undefined,
});

/** All of a field may be written in this form too; the mask then says all. */
const setMasked = customAction(nx(33), "set_field", {
  min: 6,
  write: (w, v) => {
    const def = definition(v.field);
    const { mask, ...exact } = v;
    const whole = mask === def.full && !def.variable;
    writeOxmAs(w, (whole ? exact : v) as OxmField, def, "nxm");
  },
  read: (b, at) => {
    const f = readOxm(b, at) as OxmField;
    return { ...withKind(f), mask: f.mask ?? definition(f.field).full };
  },
  check: (b, at, end) => checkOxm(b, at, end, true),
  text,
});

const load = action(
  nx(7),
  "load",
  { dst: targetBits, value: u64 },
  (v) => {
    const value = v.value === 0n ? "0" : `0x${v.value.toString(16)}`;
    return `load:${value}->${formatSubfield(v.dst)}`;
  },
  {
    check: (b, at) => {
      const width = (b.readUInt16BE(at) & 0x3f) + 1;
      const high = b.readUInt32BE(at + 6);
      const low = b.readUInt32BE(at + 10);
      const over = width >= 64 ? false : width > 32 ? high >= 2 ** (width - 32) : high !== 0 || low >= 2 ** width;
      if (over) throw new DecodeError("OFPBAC_BAD_ARGUMENT", at, `the value has more than ${width} bits`);
    },
  },
);

export const setVariants = [setField, setMasked, load] as const;
