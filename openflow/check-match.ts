import { DecodeError } from "./errors.ts";
import { type FieldDef, type FieldName, type FieldValue, fieldByName } from "./fields.ts";
import { and, apply, emptyKey, type FlowKey, isSet } from "./flow-key.ts";
import type { Match } from "./match.ts";
import type { Oxm, OxmField, RawOxm } from "./oxm.ts";
import { prerequisiteMet } from "./prerequisites.ts";

export interface CheckOptions {
  /** Skip unknown fields and prerequisites, as a switch does where a match only reports (packet_in). */
  readonly loose?: boolean;
}

/**
 * The error with which Open vSwitch refuses a match, or undefined. The first bad field decides, and for one field
 * the order is: BAD_WILDCARDS, BAD_FIELD, BAD_MASK, BAD_VALUE, BAD_PREREQ, DUP_FIELD. `offset` counts the bytes of
 * the fields before it.
 */
export function checkMatch(match: Match, options: CheckOptions = {}): DecodeError | undefined {
  const loose = options.loose ?? false;
  const key = emptyKey();
  let offset = 0;
  for (const f of match) {
    const found = f.field === "raw" ? problemOfRaw(f as RawOxm, loose) : problemOf(key, f as OxmField, loose);
    if (found) return new DecodeError(found[0], offset, found[1]);
    offset += wireLength(f);
  }
  return undefined;
}

type Problem = readonly [code: string, detail: string];

function problemOfRaw(raw: RawOxm, loose: boolean): Problem | undefined {
  if (!rawMaskCovers(raw)) return ["OFPBMC_BAD_WILDCARDS", "value bits where the mask has none"];
  return loose ? undefined : ["OFPBMC_BAD_FIELD", `header 0x${raw.header.toString(16).padStart(8, "0")}`];
}

/** Checks one field against those before it, and adds it to them. */
function problemOf(key: FlowKey, f: OxmField, loose: boolean): Problem | undefined {
  const def = fieldByName(f.field);
  if (!def) return ["OFPBMC_BAD_FIELD", f.field];
  const { value, mask } = f;
  if (mask !== undefined) {
    if (and(value, mask) !== value) return ["OFPBMC_BAD_WILDCARDS", `${def.name}: value bits where the mask has none`];
    const everything = def.name === "in_port" ? 0xffff_ffff : def.full;
    if (!def.maskable && mask !== everything && Number(mask) !== 0) {
      return ["OFPBMC_BAD_MASK", `${def.name} takes no mask`];
    }
  }
  if (!isValidValue(def, value)) return ["OFPBMC_BAD_VALUE", `${def.name} cannot be ${value}`];
  if (!loose && !prerequisiteMet(key, def)) {
    return ["OFPBMC_BAD_PREREQ", `${def.name} needs ${def.prerequisite} before it`];
  }
  if (isSet(key, def)) return ["OFPBMC_DUP_FIELD", `${def.name} is there already`];
  apply(key, def, f);
  return undefined;
}

/** Whether a switch accepts the value for the field, apart from any prerequisite. */
export function isValidValue(def: FieldDef<FieldName>, value: FieldValue): boolean {
  if (def.format === "port") {
    // OpenFlow 1.0 reserved the end of 16 bits; what lies between it and the end of 32 bits exists in no version.
    return value < 0xff00 || value >= 0xffff_ff00 || (def.name === "in_port" && value > 0xffff_ff00);
  }
  if (def.name === "nsh_mdtype") return value === 1 || value === 2;
  if (typeof value === "bigint" || typeof def.valid === "bigint") return true;
  return value <= 0xffff_ffff ? (value & ~def.valid) >>> 0 === 0 || def.valid > 0xffff_ffff : true;
}

function rawMaskCovers(raw: RawOxm): boolean {
  const { header, body } = raw;
  if ((header & 0x100) === 0) return true;
  const start = header >>> 16 === 0xffff ? 4 : 0;
  const width = (body.length - start) >> 1;
  for (let i = start; i < start + width; i++) {
    if (((body[i] as number) & ~(body[i + width] as number)) !== 0) return false;
  }
  return true;
}

/** Bytes of a TLV as it would be written. */
function wireLength(f: Oxm): number {
  if (f.field === "raw") return 4 + (f as RawOxm).body.length;
  const known = f as OxmField;
  const def = fieldByName(known.field === "in_port" ? "in_port_oxm" : known.field);
  const bytes = known.bytes ?? def?.bytes ?? 0;
  return (def?.oxm.experimenter === undefined ? 4 : 8) + (known.mask === undefined ? bytes : 2 * bytes);
}
