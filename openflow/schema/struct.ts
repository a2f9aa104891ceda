import { Parser } from "binary-parser";
import { type Codec, need, type Pad, type Raw, type Span, type Take, type Writer } from "./codec.ts";

// biome-ignore lint/suspicious/noExplicitAny: a codec is invariant in its value, and a record of mixed codecs needs some upper bound
export type AnyCodec = Codec<any>;

/** Fields in wire order; padding is named too, and does not appear in the value. */
export type Fields = Readonly<Record<string, AnyCodec | Pad>>;

/** The value that `fields` describe. */
export type Shape<F extends Fields> = {
  readonly [K in keyof F as F[K] extends Pad ? never : K]: F[K] extends Codec<infer T> ? T : never;
};

const isPad = (f: AnyCodec | Pad): f is Pad => "pad" in f;

/** A layout of named fields: what a message body, a TLV body and a fixed record have in common. */
export interface Layout<T> {
  readonly size: number;
  readonly fixed: boolean;
  write(w: Writer, value: T): void;
  /** Adds the fields to `p`, into the object that is current there. */
  parser(p: Parser, span: Span): void;
  /** A new value from a parsed object; `kind`, when given, becomes its discriminant. */
  lift(raw: unknown): T;
  fence(b: Buffer, at: number, end: number): number;
  /** Reads fenced bytes `[at, end)` without a parser; absent where some field needs one. */
  readonly read?: (b: Buffer, at: number, end: number) => T;
}

/**
 * Builds a {@link Layout} from its fields. Writer and lift are generated once as straight-line functions (binary-parser
 * does the same for the reader), so that each layout's values have one hidden class.
 * @param tag name and value of a constant first property, the discriminant of a tagged union
 */
export function layout<F extends Fields>(fields: F, tag?: readonly [name: string, value: string]): Layout<Shape<F>> {
  const entries = Object.entries(fields);
  for (const [name] of entries) if (!/^[a-zA-Z]\w*$/.test(name) && !name.startsWith("_")) throw new Error(name);
  const codecs = entries.map(([, f]) => f);
  const last = codecs.length - 1;
  let size = 0;
  let fixed = true;
  codecs.forEach((f, i) => {
    if (isPad(f)) size += f.pad;
    else {
      if (f.rest && i !== last) throw new Error(`${entries[i]?.[0]}: only the last field may take the rest`);
      size += f.size;
      fixed &&= f.fixed;
    }
  });
  const zeros = codecs.map((f) => Buffer.alloc(isPad(f) ? f.pad : 0));
  const writeLines = entries.map(([name, f], i) => {
    if (isPad(f)) return writePad(f.pad, i);
    const value = `v[${JSON.stringify(name)}]`;
    return f.call ? `w.${f.call}(${value});` : `c[${i}].write(w, ${value});`;
  });
  const write = new Function("c", "z", `return (w, v) => { ${writeLines.join(" ")} };`)(codecs, zeros) as Layout<
    Shape<F>
  >["write"];
  const liftLines = entries.flatMap(([name, f], i) => {
    if (isPad(f)) return [];
    const read = `r[${JSON.stringify(name)}]`;
    return [`${JSON.stringify(name)}: ${f.lift ? `c[${i}].lift(${read})` : read}`];
  });
  if (tag) liftLines.unshift(`${JSON.stringify(tag[0])}: ${JSON.stringify(tag[1])}`);
  const lift = new Function("c", `return (r) => ({ ${liftLines.join(", ")} });`)(codecs) as Layout<Shape<F>>["lift"];

  const read = directReader<Shape<F>>(entries, tag);

  return {
    size,
    fixed,
    write,
    lift,
    ...(read ? { read } : {}),
    parser: (p, span) => {
      let before = 0;
      let known = true;
      const needsStart = span.kind === "tlv" && codecs.some((f, i) => i < last && !isPad(f) && !f.fixed);
      if (needsStart) p.saveOffset("_b");
      for (const [name, f] of entries) {
        if (isPad(f)) {
          p.seek(f.pad);
          before += f.pad;
          continue;
        }
        let take: Take = { eof: true };
        if (f.rest && span.kind === "tlv") {
          if (known) {
            const used = span.header + before;
            take = { eof: false, bytes: (self) => (self["_l"] as number) - used };
          } else {
            const { header } = span;
            p.saveOffset("_r");
            take = {
              eof: false,
              bytes: (self) => (self["_b"] as number) + (self["_l"] as number) - header - (self["_r"] as number),
            };
          }
        }
        f.parser(p, name, take);
        before += f.size;
        known &&= f.fixed;
      }
    },
    fence: (b, at, end) => {
      let here = at;
      for (const f of codecs) {
        if (isPad(f)) {
          need(here, f.pad, end);
          here += f.pad;
        } else here = f.fence(b, here, end);
      }
      return here;
    },
  };
}

/** Straight-line code that reads fields of fixed size where they are. */
function directReader<T>(
  entries: readonly (readonly [string, AnyCodec | Pad])[],
  tag: readonly [name: string, value: string] | undefined,
): Layout<T>["read"] {
  const lines = tag ? [`${JSON.stringify(tag[0])}: ${JSON.stringify(tag[1])}`] : [];
  const readers: AnyCodec["at"][] = [];
  let offset = 0;
  for (const [name, f] of entries) {
    if (isPad(f)) {
      offset += f.pad;
      continue;
    }
    if (!f.at) return undefined;
    lines.push(`${JSON.stringify(name)}: c[${readers.length}](b, at + ${offset}, end)`);
    readers.push(f.at);
    offset += f.size;
  }
  return new Function("c", `return (b, at, end) => ({ ${lines.join(", ")} });`)(readers) as Layout<T>["read"];
}

function writePad(n: number, i: number): string {
  if (n === 1) return "w.writeUInt8(0);";
  if (n === 2) return "w.writeUInt16BE(0);";
  if (n === 4) return "w.writeUInt32BE(0);";
  return `w.writeBuffer(z[${i}]);`;
}

/**
 * What a compiled parser fills in. Generated code sets and deletes two properties of its outermost object that only
 * parsers with context variables need; accessors that keep nothing spare that object V8's slow dictionary mode.
 */
class Root {
  set $parent(_: unknown) {}
  set $root(_: unknown) {}
}

/** A reader of buffers that hold exactly what the layout describes, compiled now. The bytes must have been fenced. */
export function compile<T>(l: Pick<Layout<T>, "parser" | "lift">): (b: Buffer) => T {
  const parser = new Parser().create(Root);
  l.parser(parser, { kind: "eof" });
  parser.compile();
  return (b) => l.lift(parser.parse(b));
}

/** A fixed record as one field of another layout. */
export function struct<F extends Fields>(fields: F): Codec<Shape<F>> {
  const l = layout(fields);
  if (!l.fixed) throw new Error("a nested record must have a fixed size");
  return {
    size: l.size,
    fixed: true,
    write: l.write,
    parser: (p, name) => {
      const inner = new Parser();
      l.parser(inner, { kind: "eof" });
      p.nest(name, { type: inner });
    },
    lift: l.lift,
    fence: l.fence,
  };
}

/** Fixed records one after another up to the end of the enclosing thing. */
export function listOf<T>(item: Codec<T>): Codec<readonly T[]> {
  if (!item.fixed) throw new Error("listOf wants records of one size");
  return {
    size: 0,
    fixed: false,
    rest: true,
    write: (w, v) => {
      for (const x of v) item.write(w, x);
    },
    parser: (p, name, take) => {
      const element = new Parser();
      item.parser(element, "v", { eof: true });
      arrayOf(p, name, element, take);
    },
    lift: (raw) => (raw as Raw[]).map((r) => (item.lift ? item.lift(r["v"]) : (r["v"] as T))),
    fence: (b, at, end) => {
      let here = at;
      while (here < end) here = item.fence(b, here, end);
      return here;
    },
  };
}

/** Elements of a compiled-in parser up to where `take` says. */
export function arrayOf(p: Parser, name: string, element: Parser, take: Take): void {
  if (take.eof) p.array(name, { type: element, readUntil: "eof" });
  else {
    const { bytes } = take;
    p.array(name, {
      type: element,
      lengthInBytes: function (this: Raw) {
        return bytes(this);
      },
    });
  }
}
