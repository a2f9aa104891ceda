/**
 * The one table of match fields. Each line is a field of ovs-fields(7): primary name, OXM or NXM class and number,
 * width in bits.
 */

/** OXM classes (OF1.3.5 §7.2.3.2) and Nicira's two. */
export const OxmClass = {
  nxm0: 0x0000,
  nxm1: 0x0001,
  basic: 0x8000,
  packetRegs: 0x8001,
  experimenter: 0xffff,
} as const;

/** A number up to 48 bits wide, a bigint beyond. */
export type FieldValue = number | bigint;

export interface FieldDef {
  readonly name: string;
  readonly oxmClass: number;
  readonly oxmField: number;
  /** Width in bits of the value; on the wire it takes `bytes`. */
  readonly bits: number;
  readonly bytes: number;
}

const define = <N extends string>(name: N, oxmClass: number, oxmField: number, bits: number) => ({
  name,
  oxmClass,
  oxmField,
  bits,
  bytes: Math.ceil(bits / 8),
});

const defs = [
  define("in_port", OxmClass.basic, 0, 32),
  define("eth_dst", OxmClass.basic, 3, 48),
  define("eth_src", OxmClass.basic, 4, 48),
  define("eth_type", OxmClass.basic, 5, 16),
  define("nw_proto", OxmClass.basic, 10, 8),
  define("ip_src", OxmClass.basic, 11, 32),
  define("ip_dst", OxmClass.basic, 12, 32),
  define("reg1", OxmClass.nxm1, 1, 32),
  define("reg2", OxmClass.nxm1, 2, 32),
  define("ipv6_src", OxmClass.basic, 26, 128),
] as const;

export type FieldName = (typeof defs)[number]["name"];

const byName = new Map<string, FieldDef>(defs.map((d) => [d.name, d]));
const byNumber = new Map<number, FieldDef>(defs.map((d) => [d.oxmClass * 0x80 + d.oxmField, d]));

export const fieldByName = (name: string): FieldDef | undefined => byName.get(name);
export const fieldByNumber = (oxmClass: number, oxmField: number): FieldDef | undefined =>
  byNumber.get(oxmClass * 0x80 + oxmField);
