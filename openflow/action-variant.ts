/** Short ways to define the variants of the action list. */
import type { Action } from "./action-values.ts";
import { type Codec, need, type Span, takeBuffer, type Writer } from "./schema/codec.ts";
import { type Fields, type Layout, layout, type Shape } from "./schema/struct.ts";
import { EXPERIMENTER_TYPE, type Variant } from "./schema/tlv.ts";

const NICIRA = 0x2320;
const ONF = 0x4f4e4600;

type Kind = Action["kind"];
/** The value of a kind, without its discriminant. */
export type Body<K extends Kind> = Omit<Valued<K>, "kind">;
/** The value of a kind. */
export type Valued<K extends Kind> = Extract<Action, { readonly kind: K }>;
/** Checks bytes `[at, end)` of a body whose lengths are proven; throws {@link DecodeError}. */
export type Check = (b: Buffer, at: number, end: number) => void;

/** Where an action's type number stands. */
type Id = number | { readonly experimenter: number; readonly subtype: number };
export const nx = (subtype: number): Id => ({ experimenter: NICIRA, subtype });
export const onf = (subtype: number): Id => ({ experimenter: ONF, subtype });
const idOf = (id: Id) => (typeof id === "number" ? { type: id } : { type: EXPERIMENTER_TYPE, ...id });

/** An action with a layout of fields. */
export function action<K extends Kind, F extends Fields>(
  id: Id,
  kind: K,
  fields: F & (Shape<F> extends Body<K> ? unknown : never),
  text: (v: Body<K>) => string,
  options: {
    readonly check?: Check;
    readonly when?: (v: Body<K>) => boolean;
    readonly writtenAs?: (v: Body<K>) => Action;
  } = {},
): Variant<K, Body<K>> {
  // The parameter's constraint has proven that the layout's value is the kind's; only unresolved generics hide it.
  const body = layout<F>(fields, ["kind", kind]) as unknown as Layout<Body<K>>;
  const { check, when, writtenAs } = options;
  return {
    kind,
    ...idOf(id),
    text,
    ...(when ? { when } : {}),
    ...(writtenAs ? { writtenAs } : {}),
    body: {
      ...body,
      fence: check
        ? (b, at, end) => {
            const next = body.fence(b, at, end);
            check(b, at, end);
            return next;
          }
        : body.fence,
    },
  };
}

/** An action whose body no fixed layout describes. `read` sees bytes that `check` has let pass. */
export function customAction<K extends Kind>(
  id: Id,
  kind: K,
  def: {
    /** Bytes that the body has at least, and at most when it must. */
    readonly min: number;
    readonly max?: number;
    readonly write: (w: Writer, v: Body<K>) => void;
    readonly read: (b: Buffer, at: number, end: number) => Valued<K>;
    readonly check: Check;
    readonly text: (v: Body<K>) => string;
    readonly when?: (v: Body<K>) => boolean;
  },
): Variant<K, Body<K>> {
  const { min, max, check, read } = def;
  return {
    kind,
    ...idOf(id),
    text: def.text,
    ...(def.when ? { when: def.when } : {}),
    body: {
      size: min,
      fixed: false,
      write: def.write,
      parser: (p, span: Span) =>
        takeBuffer(
          p,
          "_body",
          span.kind === "eof" ? { eof: true } : { eof: false, bytes: (self) => (self["_l"] as number) - span.header },
        ),
      lift: (raw) => {
        const { _body: b } = raw as { _body: Buffer };
        return read(b, 0, b.length);
      },
      read,
      fence: (b, at, end) => {
        need(at, min, end, "OFPBAC_BAD_LEN");
        if (max !== undefined) need(0, end - at, max, "OFPBAC_BAD_LEN");
        check(b, at, end);
        return end;
      },
    },
  };
}

/** A number on the wire that stands for a word. */
export function words<T extends string>(table: Readonly<Record<T, number>>) {
  const byNumber = new Map<number, T>(Object.entries<number>(table).map(([w, n]) => [n, w as T]));
  return {
    number: (word: T): number => table[word],
    word: (n: number): T | undefined => byNumber.get(n),
    all: Object.keys(table),
  };
}

/** A codec that shows another value than the one on the wire. */
export const mapped = <W, V>(codec: Codec<W>, toWire: (v: V) => W, fromWire: (w: W) => V): Codec<V> => {
  const { lift } = codec;
  const { at: direct } = codec;
  return {
    ...(direct ? { at: (b, at, end) => fromWire(direct(b, at, end)) } : {}),
    size: codec.size,
    fixed: codec.fixed,
    write: (w, v) => codec.write(w, toWire(v)),
    parser: codec.parser,
    lift: (raw) => fromWire(lift ? lift(raw) : (raw as W)),
    fence: codec.fence,
  };
};
