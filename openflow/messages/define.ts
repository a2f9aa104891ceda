import { DecodeError, EncodeError } from "../errors.ts";
import { type Codec, type Pad, pad, u16, u32, type Writer } from "../schema/codec.ts";
import { type AnyCodec, compile, type Fields, type Layout, layout, type Shape } from "../schema/struct.ts";

export const OFP_VERSION = 4;
export const HEADER_SIZE = 8;

/** Experimenter ids (OVS calls them vendors). */
export const Experimenter = { nicira: 0x2320, onf: 0x4f4e4600 } as const;

/** OFPT numbers that carry further types inside (OF1.3.5 §7.1). */
export const EXPERIMENTER_MESSAGE = 4;
export const MULTIPART_REQUEST = 18;
export const MULTIPART_REPLY = 19;
export const MULTIPART_EXPERIMENTER = 0xffff;

/** The flag of a multipart message that is not the last part. */
export const MULTIPART_MORE = 1;

/** What selects a message kind on the wire. `multipart` is the OFPMP type. */
interface WireId {
  readonly ofType: number;
  readonly multipart?: number;
  readonly experimenter?: number;
  readonly subtype?: number;
}

/** One message kind: everything about its bytes. */
export interface MessageDef<N extends string, T> extends WireId {
  readonly name: N;
  /** The name ovs-ofctl prints. */
  readonly ovsName: string;
  /** Fields from the transaction id at byte 4 on. */
  readonly body: Layout<T>;
  /** Bytes the message has at least, header included. */
  readonly base: number;
  /** Bytes beyond `base` come in multiples of this; 0 when there are none. */
  readonly unit: number;
  /** Whether bytes after the last field are ignored, as switches do with some kinds. */
  readonly trailing: boolean;
  /** Bytes of the message that must be zero. */
  readonly zero?: readonly [from: number, to: number];
  readonly parse: (bytes: Buffer) => unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: definitions of different bodies in one registry need some upper bound
export type AnyMessageDef = MessageDef<string, any>;

/** The value of a message definition. */
export type MessageOf<D> = D extends MessageDef<infer N extends string, infer T> ? { readonly type: N } & T : never;

/** How the bytes beyond the fixed part of a message are counted. */
export interface Sizes {
  readonly base?: number;
  readonly unit?: number;
  readonly trailing?: boolean;
  readonly zero?: readonly [from: number, to: number];
}

/** The fields every kind begins with. Padding stands where {@link writeMessage} fills in the kind's constants. */
type Xid = { readonly xid: Codec<number> };
type Experimental = Xid & { readonly _x: Pad };
type Multipart = Xid & { readonly _t: Pad; readonly flags: Codec<number>; readonly _u: Pad };
type ExperimentalMultipart = Multipart & { readonly _x: Pad };
const experimental: Experimental = { xid: u32, _x: pad(8) };
const part: Multipart = { xid: u32, _t: pad(2), flags: u16, _u: pad(4) };
const experimentalPart: ExperimentalMultipart = { ...part, _x: pad(8) };

function define<N extends string, F extends Fields>(
  name: N,
  ovsName: string,
  id: WireId,
  fields: F,
  sizes: Sizes,
): MessageDef<N, Shape<F>> {
  const body = layout(fields, ["type", name]);
  return {
    ...id,
    name,
    ovsName,
    body,
    base: sizes.base ?? 4 + fixedSize(Object.values(fields)),
    unit: sizes.unit ?? (body.fixed ? 0 : 1),
    trailing: sizes.trailing ?? false,
    ...(sizes.zero ? { zero: sizes.zero } : {}),
    parse: compile(body),
  };
}

function fixedSize(fields: readonly (AnyCodec | Pad)[]): number {
  let size = 0;
  for (const f of fields) size += "pad" in f ? f.pad : f.fixed ? f.size : 0;
  return size;
}

/** A standard message. */
export const message = <N extends string, F extends Fields>(
  ofType: number,
  name: N,
  ovsName: string,
  fields: F,
  sizes: Sizes = {},
): MessageDef<N, Shape<Xid & F>> => define(name, ovsName, { ofType }, { xid: u32, ...fields }, sizes);

/** A message of an experimenter. */
export const experimenterMessage = <N extends string, F extends Fields>(
  experimenter: number,
  subtype: number,
  name: N,
  ovsName: string,
  fields: F,
  sizes: Sizes = {},
): MessageDef<N, Shape<Experimental & F>> =>
  define(name, ovsName, { ofType: EXPERIMENTER_MESSAGE, experimenter, subtype }, { ...experimental, ...fields }, sizes);

/** A multipart request or reply. */
export const multipart = <N extends string, F extends Fields>(
  ofType: typeof MULTIPART_REQUEST | typeof MULTIPART_REPLY,
  type: number,
  name: N,
  ovsName: string,
  fields: F,
  sizes: Sizes = {},
): MessageDef<N, Shape<Multipart & F>> =>
  define(name, ovsName, { ofType, multipart: type }, { ...part, ...fields }, sizes);

/** A multipart request or reply of an experimenter. */
export const experimenterMultipart = <N extends string, F extends Fields>(
  ofType: typeof MULTIPART_REQUEST | typeof MULTIPART_REPLY,
  experimenter: number,
  subtype: number,
  name: N,
  ovsName: string,
  fields: F,
  sizes: Sizes = {},
): MessageDef<N, Shape<ExperimentalMultipart & F>> =>
  define(
    name,
    ovsName,
    { ofType, multipart: MULTIPART_EXPERIMENTER, experimenter, subtype },
    { ...experimentalPart, ...fields },
    sizes,
  );

/** Writes a whole message; throws {@link EncodeError} when it would pass 65,535 bytes. */
export function writeMessage(w: Writer, def: AnyMessageDef, value: unknown, version = OFP_VERSION): void {
  const start = w.writeOffset;
  // The length comes last.
  w.writeUInt32BE(version * 0x100_0000 + def.ofType * 0x1_0000);
  def.body.write(w, value);
  const length = w.writeOffset - start;
  if (length > 0xffff) throw new EncodeError(`${def.name}: ${length} bytes, a message has at most 65535`);
  w.writeUInt16BE(length, start + 2);
  let at = start + HEADER_SIZE;
  if (def.multipart !== undefined) {
    w.writeUInt16BE(def.multipart, at);
    at += 8;
  }
  if (def.experimenter !== undefined && def.subtype !== undefined) {
    w.writeUInt32BE(def.experimenter, at);
    w.writeUInt32BE(def.subtype, at + 4);
  }
}

/** Whether the message kind can have the length, before anything inside is looked at. */
export function lengthFits(def: AnyMessageDef, length: number): boolean {
  const beyond = length - def.base;
  return beyond >= 0 && (def.unit === 0 ? beyond === 0 : beyond % def.unit === 0);
}

/** Reads a whole message whose kind is known. Throws {@link DecodeError}. */
export function readMessage(def: AnyMessageDef, b: Buffer): unknown {
  if (!lengthFits(def, b.length)) {
    throw new DecodeError("OFPBRC_BAD_LEN", 2, `${def.name} cannot be ${b.length} bytes long`);
  }
  if (def.zero) {
    const [from, to] = def.zero;
    if (b.subarray(from, to).some((x) => x !== 0)) throw new DecodeError("NXBRC_MUST_BE_ZERO", from, "reserved bytes");
  }
  const used = def.body.fence(b, 4, b.length);
  if (used !== b.length && !def.trailing)
    throw new DecodeError("OFPBRC_BAD_LEN", used, `${b.length - used} bytes left over`);
  return def.parse(b.subarray(4));
}
