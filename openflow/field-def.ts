/** OXM classes (OF1.3.5 §7.2.3.2), Nicira's two, and the one that holds Ericsson's ND fields. */
const OxmClass = {
  nxm0: 0x0000,
  nxm1: 0x0001,
  ericsson: 0x1000,
  basic: 0x8000,
  packetRegs: 0x8001,
  experimenter: 0xffff,
} as const;

/** Experimenters that have OXM fields of their own (class 0xffff). */
const OxmExperimenter = { nicira: 0x2320, nsh: 0x5ad650, onf: 0x4f4e4600 } as const;

/** A number up to 48 bits wide, a bigint beyond. */
export type FieldValue = number | bigint;

/** How a value reads and prints; the words are those of ovs-fields(7). */
export type FieldFormat =
  | "decimal"
  | "hex"
  | "mac"
  | "ipv4"
  | "ipv6"
  | "port"
  | "frag"
  | "tcp_flags"
  | "ct_state"
  | "tun_flags"
  | "packet_type";

/** What else a match must say before it may name the field (ovs-fields(7), "Prerequisites"). */
type Prerequisite =
  | "none"
  | "ethernet"
  | "vlan_vid"
  | "mpls"
  | "ipv4"
  | "ipv6"
  | "ip"
  | "arp"
  | "nsh"
  | "ct"
  | "tcp"
  | "udp"
  | "sctp"
  | "icmpv4"
  | "icmpv6"
  | "nd"
  | "nd_solicit"
  | "nd_advert";

/** One code point of a field. A field may have several: NXM, OXM, an ONF extension. */
interface FieldHeader {
  /** Name in subfields and in the text of an OXM, for instance `NXM_NX_REG0`. */
  readonly text: string;
  readonly oxmClass: number;
  readonly number: number;
  /** Present in class 0xffff, where the id follows the header word and counts in its length. */
  readonly experimenter: number | undefined;
  /** Defined by OpenFlow 1.5: understood, never written on OpenFlow 1.3 when the field has another. */
  readonly since15: boolean;
  /** The 32-bit header words of an exact and of a masked match. */
  readonly exact: number;
  readonly masked: number;
}

export interface FieldDef<N extends string = string> {
  readonly name: N;
  readonly aliases: readonly string[];
  /** Position in the table, which is the order of Open vSwitch's field numbers. */
  readonly index: number;
  /** Width of the value in bits as subfields count it. */
  readonly bits: number;
  /** Bytes on the wire; the most it takes when `variable`. */
  readonly bytes: number;
  /** Whether the wire length is free up to `bytes` (tun_metadata). */
  readonly variable: boolean;
  /** Whether values are bigints (wider than 48 bits). */
  readonly big: boolean;
  readonly maskable: boolean;
  readonly format: FieldFormat;
  readonly prerequisite: Prerequisite;
  /** Whether set_field, load and move may write it. */
  readonly writable: boolean;
  /** All ones over `bytes`: the mask that means an exact match, and the greatest value. */
  readonly full: FieldValue;
  /** Bits that a value may have set; others are OFPBMC_BAD_VALUE. */
  readonly valid: FieldValue;
  /** Every code point, the one Nicira actions use first. */
  readonly headers: readonly FieldHeader[];
  /** The code point of Nicira's actions and of subfield text. */
  readonly nxm: FieldHeader;
  /** The code point of OpenFlow 1.3 matches and set_field. */
  readonly oxm: FieldHeader;
}

/** A row of the table before widths are known. */
export interface HeaderRow {
  readonly oxmClass: number;
  readonly number: number;
  readonly text: string;
  readonly experimenter?: number;
  readonly since15?: boolean;
}

export const nxm0 = (number: number, text: string): HeaderRow => ({ oxmClass: OxmClass.nxm0, number, text });
export const nxm1 = (number: number, text: string): HeaderRow => ({ oxmClass: OxmClass.nxm1, number, text });
export const basic = (number: number, text: string): HeaderRow => ({ oxmClass: OxmClass.basic, number, text });
export const basic15 = (number: number, text: string): HeaderRow => ({ ...basic(number, text), since15: true });
export const packetReg = (number: number, text: string): HeaderRow => ({
  oxmClass: OxmClass.packetRegs,
  number,
  text,
});
export const ericsson = (number: number, text: string): HeaderRow => ({ oxmClass: OxmClass.ericsson, number, text });
const experimental = (experimenter: number, number: number, text: string): HeaderRow => ({
  oxmClass: OxmClass.experimenter,
  experimenter,
  number,
  text,
});
export const onf = (number: number, text: string): HeaderRow => experimental(OxmExperimenter.onf, number, text);
export const nicira = (number: number, text: string): HeaderRow => experimental(OxmExperimenter.nicira, number, text);
export const nsh = (number: number, text: string): HeaderRow => experimental(OxmExperimenter.nsh, number, text);

export interface FieldRow<N extends string> {
  readonly name: N;
  readonly bits: number;
  readonly format: FieldFormat;
  readonly headers: readonly [HeaderRow, ...HeaderRow[]];
  readonly options: FieldOptions;
}

export interface FieldOptions {
  readonly aliases?: readonly string[];
  readonly prerequisite?: Prerequisite;
  /** Takes exact matches only. */
  readonly exactOnly?: boolean;
  readonly readOnly?: boolean;
  /** Wire bytes when more than the bits need. */
  readonly bytes?: number;
  readonly variable?: boolean;
  /** Bits a value may have, when these are neither all `bits` nor the whole wire width. */
  readonly valid?: number;
}

/** A field of `bits` bits; masks and writes are allowed unless the options say otherwise. */
export const row = <const N extends string>(
  name: N,
  bits: number,
  format: FieldFormat,
  headers: readonly [HeaderRow, ...HeaderRow[]],
  options: FieldOptions = {},
): FieldRow<N> => ({ name, bits, format, headers, options });

function headerOf(h: HeaderRow, bytes: number): FieldHeader {
  const id = h.experimenter === undefined ? 0 : 4;
  const word = (masked: boolean): number =>
    ((h.oxmClass << 16) | (h.number << 9) | (masked ? 0x100 : 0) | (((masked ? 2 * bytes : bytes) + id) & 0xff)) >>> 0;
  return {
    text: h.text,
    oxmClass: h.oxmClass,
    number: h.number,
    experimenter: h.experimenter,
    since15: h.since15 ?? false,
    exact: word(false),
    masked: word(true),
  };
}

/** Completes a row. All definitions have one hidden class, since decoding reads them for each field. */
export function defineField<N extends string>(r: FieldRow<N>, index: number): FieldDef<N> {
  const { bits, options } = r;
  const bytes = options.bytes ?? Math.ceil(bits / 8);
  const headers = r.headers.map((h) => headerOf(h, bytes));
  const nxm = headers[0] as FieldHeader;
  const big = bytes > 6;
  return {
    name: r.name,
    aliases: options.aliases ?? [],
    index,
    bits,
    bytes,
    variable: options.variable ?? false,
    big,
    maskable: !options.exactOnly,
    format: r.format,
    prerequisite: options.prerequisite ?? "none",
    writable: !options.readOnly,
    full: big ? (1n << BigInt(8 * bytes)) - 1n : 2 ** (8 * bytes) - 1,
    valid: options.valid ?? (big ? (1n << BigInt(bits)) - 1n : 2 ** bits - 1),
    headers,
    nxm,
    oxm: headers.findLast((h) => !h.since15) ?? nxm,
  };
}
