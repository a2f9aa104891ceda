import { Parser } from "binary-parser";
import { DecodeError, EncodeError } from "../errors.ts";
import { type Raw, type Take, takeBuffer, type Writer } from "./codec.ts";
import { arrayOf } from "./struct.ts";
import {
  type AnyVariant,
  EXPERIMENTER_TYPE,
  SUBTYPED,
  type TlvList,
  type TlvRules,
  type Unknown,
  unknownCode,
  unknownText,
  type ValueOf,
} from "./variant.ts";

export {
  EXPERIMENTER_TYPE,
  nested,
  type TlvList,
  type TlvRules,
  type Unknown,
  type ValueOf,
  type Variant,
  variant,
} from "./variant.ts";

/** Lists may hold lists (ct, clone). OVS stops long before; this keeps hostile nesting from our own stack. */
const MAX_DEPTH = 32;
let depth = 0;
/** The first element, of the lists being fenced, that its list cannot name: where it is and what OVS calls that. */
let firstUnknown: { readonly at: number; readonly code: string } | undefined;

const headerSize = (v: AnyVariant): number => (v.experimenter === undefined ? 4 : 10);
const padded = (n: number, align: number): number => Math.ceil(n / align) * align;
const keyOf = (experimenter: number, subtype: number): number => experimenter * 0x10000 + subtype;

export function tlvList<const A extends readonly AnyVariant[]>(
  variants: A,
  rules: TlvRules,
): TlvList<ValueOf<A[number]> | Unknown> {
  type V = ValueOf<A[number]> | Unknown;
  const { align, lengthCoversPadding, badLength } = rules;
  const standard = new Map<number, AnyVariant>();
  const experimental = new Map<number, AnyVariant>();
  const byKind = new Map<string, AnyVariant[]>();
  for (const v of variants) {
    const forms = byKind.get(v.kind);
    if (forms?.some((f) => !f.when)) throw new Error(`two variants called ${v.kind}`);
    byKind.set(v.kind, [...(forms ?? []), v]);
    if (v.experimenter === undefined) standard.set(v.type, v);
    else experimental.set(keyOf(v.experimenter, v.subtype as number), v);
  }

  const formOf = (kind: string, value: unknown): AnyVariant | undefined => {
    const forms = byKind.get(kind);
    if (!forms) return undefined;
    for (const f of forms) if (!f.when || f.when(value)) return f;
    return undefined;
  };

  const find = (type: number, experimenter: number | undefined, subtype: number | undefined): AnyVariant | undefined =>
    experimenter === undefined
      ? standard.get(type)
      : subtype === undefined
        ? undefined
        : experimental.get(keyOf(experimenter, subtype));

  const write = (w: Writer, list: readonly V[]): void => {
    for (const given of list) {
      const start = w.writeOffset;
      let value: { readonly kind: string } = given as { kind: string };
      let form = formOf(value.kind, value);
      if (form?.writtenAs) {
        value = form.writtenAs(value);
        form = formOf(value.kind, value);
      }
      const { kind } = value;
      if (kind === "unknown") {
        const u = given as Unknown;
        w.writeUInt16BE(u.type);
        w.writeUInt16BE(0);
        if (u.experimenter !== undefined) w.writeUInt32BE(u.experimenter);
        if (u.subtype !== undefined) w.writeUInt16BE(u.subtype);
        w.writeBuffer(u.body);
      } else {
        const v = form;
        if (!v) throw new EncodeError(`no element of kind ${kind} can stand here`);
        // The length comes last.
        w.writeUInt32BE(v.type * 0x1_0000);
        if (v.experimenter !== undefined) {
          w.writeUInt32BE(v.experimenter);
          w.writeUInt16BE(v.subtype as number);
        }
        v.body.write(w, value);
      }
      const end = w.writeOffset;
      const stop = start + padded(end - start, align);
      for (let i = end; i < stop; i++) w.writeUInt8(0);
      const length = (lengthCoversPadding ? stop : end) - start;
      if (length > 0xffff) throw new EncodeError(`${kind}: ${length} bytes do not fit a 16-bit length`);
      w.writeUInt16BE(length, start + 2);
    }
  };

  const element = (): Parser => {
    const body = (v: AnyVariant): Parser => {
      const p = new Parser();
      v.body.parser(p, { kind: "tlv", header: headerSize(v) });
      return p;
    };
    const tail = (header: number): Parser => {
      const p = new Parser();
      takeBuffer(p, "_raw", { eof: false, bytes: (self) => (self["_l"] as number) - header });
      return p;
    };
    const choices: Record<number, Parser> = {};
    for (const [type, v] of standard) choices[type] = body(v);
    if (rules.experimenters) {
      const perVendor: Record<number, Parser> = {};
      for (const vendor of SUBTYPED) {
        const subs: Record<number, Parser> = {};
        for (const v of experimental.values()) if (v.experimenter === vendor) subs[v.subtype as number] = body(v);
        perVendor[vendor] = new Parser().uint16be("_s").choice({ tag: "_s", choices: subs, defaultChoice: tail(10) });
      }
      choices[EXPERIMENTER_TYPE] = new Parser()
        .uint32be("_v")
        .choice({ tag: "_v", choices: perVendor, defaultChoice: tail(8) });
    }
    // Lengths and padding were proven by the fence; an element always ends where its length says.
    const p = new Parser()
      .uint16be("_t")
      .uint16be("_l")
      .saveOffset("_e")
      .choice({ tag: "_t", choices, defaultChoice: tail(4) });
    p.saveOffset("_p").seek(function (this: Raw) {
      const length = this["_l"] as number;
      const stop = (this["_e"] as number) - 4 + (lengthCoversPadding ? length : padded(length, align));
      return stop - (this["_p"] as number);
    });
    return p;
  };

  const liftOne = (raw: Raw): V => {
    const type = raw["_t"] as number;
    const experimenter = raw["_v"] as number | undefined;
    const subtype = raw["_s"] as number | undefined;
    const body = raw["_raw"] as Buffer | undefined;
    if (body !== undefined) {
      return {
        kind: "unknown",
        type,
        ...(experimenter === undefined ? {} : { experimenter }),
        ...(subtype === undefined ? {} : { subtype }),
        body,
      };
    }
    return (find(type, experimenter, subtype) as AnyVariant).body.lift(raw) as V;
  };

  /** Whether a list can name the element at `here`, so far as its header is there at all. */
  const isKnown = (b: Buffer, here: number, end: number): boolean => {
    const type = b.readUInt16BE(here);
    if (!rules.experimenters || type !== EXPERIMENTER_TYPE) return standard.has(type);
    if (end - here < 8) return true;
    const vendor = b.readUInt32BE(here + 4);
    if (!SUBTYPED.includes(vendor)) return false;
    return end - here < 16 || experimental.has(keyOf(vendor, b.readUInt16BE(here + 8)));
  };

  const noteUnknown = (b: Buffer, here: number): void => {
    if (rules.unknown) firstUnknown ??= { at: here, code: unknownCode(b, here, rules.unknown) };
  };

  const fence = (b: Buffer, at: number, end: number): number => {
    if (depth >= MAX_DEPTH) throw new DecodeError(badLength, at, `lists nested deeper than ${MAX_DEPTH}`);
    if (lengthCoversPadding && (end - at) % align !== 0) {
      throw new DecodeError(rules.badTotal ?? badLength, at, `${end - at} bytes are no multiple of ${align}`);
    }
    if (depth === 0) firstUnknown = undefined;
    depth++;
    let here = at;
    try {
      while (here < end) {
        if (end - here < 4) throw new DecodeError(badLength, here, "an element's header is cut off");
        const type = b.readUInt16BE(here);
        const length = b.readUInt16BE(here + 2);
        const stop = lengthCoversPadding ? length : padded(length, align);
        if (length < 4 || (lengthCoversPadding && length % align !== 0) || here + stop > end) {
          if (!isKnown(b, here, end)) noteUnknown(b, here);
          throw new DecodeError(badLength, here, `element length ${length}, ${end - here} bytes left`);
        }
        let header = 4;
        let v = standard.get(type);
        if (rules.experimenters && type === EXPERIMENTER_TYPE) {
          if (length < 8) throw new DecodeError(badLength, here, "an experimenter element has at least 8 bytes");
          const vendor = b.readUInt32BE(here + 4);
          header = 8;
          if (SUBTYPED.includes(vendor)) {
            if (length < 10) throw new DecodeError(badLength, here, "no room for the subtype");
            header = 10;
            v = experimental.get(keyOf(vendor, b.readUInt16BE(here + 8)));
          }
        }
        if (!v && type === EXPERIMENTER_TYPE && length < (rules.rawExperimenterSize ?? 0)) {
          throw new DecodeError(badLength, here, `an experimenter element of ${length} bytes`);
        }
        if (v) {
          const bodyLength = length - header;
          // Padding to the alignment may follow a body that is not a multiple of it; nothing else may.
          const most = v.body.fixed ? padded(header + v.body.size, lengthCoversPadding ? align : 1) : length;
          if (bodyLength < v.body.size || length > most) {
            throw new DecodeError(badLength, here, `${v.kind} cannot be ${length} bytes long`);
          }
          v.body.fence(b, here + header, here + length);
        } else noteUnknown(b, here);
        here += stop;
      }
      return here;
    } catch (e) {
      if (depth > 1 || !firstUnknown || !(e instanceof DecodeError)) throw e;
      throw new DecodeError(firstUnknown.code, firstUnknown.at, "an unknown element, and more is wrong behind it");
    } finally {
      depth--;
    }
  };

  const variantAt = (b: Buffer, here: number, type: number): AnyVariant | undefined => {
    if (type !== EXPERIMENTER_TYPE || !rules.experimenters) return standard.get(type);
    const vendor = b.readUInt32BE(here + 4);
    return SUBTYPED.includes(vendor) ? experimental.get(keyOf(vendor, b.readUInt16BE(here + 8))) : undefined;
  };

  const readUnknown = (b: Buffer, here: number, type: number, stop: number): Unknown => {
    if (type !== EXPERIMENTER_TYPE || !rules.experimenters) {
      return { kind: "unknown", type, body: b.subarray(here + 4, stop) };
    }
    const experimenter = b.readUInt32BE(here + 4);
    if (!SUBTYPED.includes(experimenter)) {
      return { kind: "unknown", type, experimenter, body: b.subarray(here + 8, stop) };
    }
    return {
      kind: "unknown",
      type,
      experimenter,
      subtype: b.readUInt16BE(here + 8),
      body: b.subarray(here + 10, stop),
    };
  };

  const readDirect = (b: Buffer, at: number, end: number): V[] => {
    const out: V[] = [];
    for (let here = at; here < end; ) {
      const type = b.readUInt16BE(here);
      const length = b.readUInt16BE(here + 2);
      const v = variantAt(b, here, type);
      const read = v?.body.read;
      out.push(
        v && read ? (read(b, here + headerSize(v), here + length) as V) : readUnknown(b, here, type, here + length),
      );
      here += lengthCoversPadding ? length : padded(length, align);
    }
    return out;
  };

  // Compiled on first use: lists refer to each other, so none can be compiled while they are being defined.
  let whole: Parser | undefined;
  const parse = (b: Buffer): V[] => {
    if (b.length === 0) return [];
    whole ??= new Parser().array("v", { type: element(), readUntil: "eof" });
    return (whole.parse(b) as { v: Raw[] }).v.map(liftOne);
  };
  const direct = variants.every((v) => v.body.read);
  const read = direct ? readDirect : (b: Buffer, at: number, end: number): V[] => parse(b.subarray(at, end));

  return {
    size: 0,
    fixed: false,
    rest: true,
    write,
    parser: direct ? takeBuffer : (p: Parser, name: string, take: Take) => arrayOf(p, name, element(), take),
    lift: direct ? (raw) => readDirect(raw as Buffer, 0, (raw as Buffer).length) : (raw) => (raw as Raw[]).map(liftOne),
    at: read,
    fence,
    read,
    decode: (b) => {
      fence(b, 0, b.length);
      return read(b, 0, b.length);
    },
    text: (v) => {
      const { kind } = v as { kind: string };
      return kind === "unknown" ? unknownText(v as Unknown) : (byKind.get(kind) as AnyVariant[])[0]!.text(v);
    },
  };
}
