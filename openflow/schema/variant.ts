/** What a list of type-length-value elements is made of; {@link tlvList} in `tlv.ts` makes it. */
import type { DecodeError } from "../errors.ts";
import { type Codec, takeBuffer } from "./codec.ts";
import { type Fields, type Layout, layout, type Shape } from "./struct.ts";

/**
 * One alternative of a TLV list: `type`, or for experimenter elements `experimenter` and `subtype`, select it;
 * `kind` names it in the value.
 */
export interface Variant<K extends string, T> {
  readonly kind: K;
  readonly type: number;
  readonly experimenter?: number;
  readonly subtype?: number;
  readonly body: Layout<T>;
  /** Printed as ovs-ofctl prints it. */
  readonly text: (v: T) => string;
  /** Where one kind has several forms: whether this one is written for `v`. The first that is, is. */
  readonly when?: (v: T) => boolean;
  /** Where another element has taken this one's place on the wire: the value that is written instead. */
  readonly writtenAs?: (v: T) => { readonly kind: string };
}

// biome-ignore lint/suspicious/noExplicitAny: variants of different bodies in one list need some upper bound
export type AnyVariant = Variant<any, any>;

/** The tagged value of a variant. */
export type ValueOf<V> = V extends Variant<infer K extends string, infer T> ? { readonly kind: K } & T : never;

/** An element this codec has no name for, kept so that it is written back byte for byte. */
export interface Unknown {
  readonly kind: "unknown";
  readonly type: number;
  readonly experimenter?: number;
  readonly subtype?: number;
  /** Bytes after the headers named above, padding included. */
  readonly body: Buffer;
}

/** Experimenter ids whose elements carry a 16-bit subtype after the id. */
export const SUBTYPED: readonly number[] = [0x2320, 0x4f4e4600];
export const EXPERIMENTER_TYPE = 0xffff;

/** Defines a variant with a standard type. */
export function variant<K extends string, F extends Fields>(
  type: number,
  kind: K,
  fields: F,
  text: (v: Shape<F>) => string,
): Variant<K, Shape<F>> {
  return { kind, type, body: layout(fields, ["kind", kind]), text };
}

export interface TlvRules {
  /** Elements begin at multiples of this; 1 when there is no alignment. */
  readonly align: 1 | 4 | 8;
  /** Whether the length field counts the padding (actions, instructions) or not (HELLO elements, properties). */
  readonly lengthCoversPadding: boolean;
  /** OVS error name for a length that cannot be. */
  readonly badLength: string;
  /** The same for the whole list, when its length is not a multiple of `align`; {@link badLength} if absent. */
  readonly badTotal?: string;
  /**
   * OVS error names for an element that is not known, when something must be refused: its type, its experimenter, or
   * its subtype of an experimenter. A list that is bad further on is refused for its first unknown element.
   */
  readonly unknown?: { readonly type: string; readonly experimenter: string; readonly subtype: string };
  /** Whether type 0xffff is followed by an experimenter id. */
  readonly experimenters: boolean;
  /** Bytes an element of type 0xffff has at least, where `experimenters` is false and it stays raw. */
  readonly rawExperimenterSize?: number;
}

/** A list of type-length-value elements: actions, instructions, HELLO elements, properties. */
export interface TlvList<V> extends Codec<readonly V[]> {
  /** Decodes a whole buffer; throws {@link DecodeError}. */
  decode(b: Buffer): V[];
  /** Reads `[at, end)`, which has been fenced. */
  read(b: Buffer, at: number, end: number): V[];
  text(v: V): string;
}

/** The OVS error name for the unknown element at `at`. */
export function unknownCode(b: Buffer, at: number, codes: NonNullable<TlvRules["unknown"]>): string {
  if (b.readUInt16BE(at) !== EXPERIMENTER_TYPE) return codes.type;
  return SUBTYPED.includes(b.readUInt32BE(at + 4)) ? codes.subtype : codes.experimenter;
}

/** Unknown elements have no text of ovs-ofctl's: it refuses them. */
export const unknownText = (u: Unknown): string => `unknown(type=${u.type},body=${u.body.toString("hex")})`;

/**
 * A list inside an element of another list (or of the same: hence the thunk). Its bytes are fenced with the enclosing
 * message, and parsed by a parser of its own only when such an element occurs.
 */
export function nested<V>(list: () => TlvList<V>): Codec<readonly V[]> {
  return {
    size: 0,
    fixed: false,
    rest: true,
    write: (w, v) => list().write(w, v),
    parser: takeBuffer,
    lift: (raw) => list().read(raw as Buffer, 0, (raw as Buffer).length),
    at: (b, at, end) => list().read(b, at, end),
    fence: (b, at, end) => list().fence(b, at, end),
  };
}
