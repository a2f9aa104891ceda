import { type CodePoint, codePointByText, fieldByNumber } from "../fields.ts";
import { fenceOxms } from "../oxm.ts";
import { ParseError } from "./parse-error.ts";

/** Nicira's pseudo field that restricts a request to flows with a cookie. It has no field behind it. */
const COOKIE = { text: "NXM_NX_COOKIE", header: 0x0001_3c08, bytes: 8 } as const;

/**
 * TLVs as `ovs-ofctl parse-oxm` prints them: `OXM_OF_IN_PORT(00000001), OXM_OF_ETH_SRC_W(…/…)`. What has no name is
 * printed by class and number, and no TLV at all is `<any>`. The bytes decide, not a decoded match: this is the text
 * in which nothing is lost.
 * @throws DecodeError when a TLV does not fit
 */
export function formatOxms(b: Buffer): string {
  if (b.length === 0) return "<any>";
  fenceOxms(b, 0, b.length);
  const out: string[] = [];
  for (let at = 0; at < b.length; at += 4 + (b[at + 3] as number)) {
    const oxmClass = b.readUInt16BE(at);
    const number = (b[at + 2] as number) >> 1;
    const masked = ((b[at + 2] as number) & 1) === 1;
    const end = at + 4 + (b[at + 3] as number);
    const start = oxmClass === 0xffff ? at + 8 : at + 4;
    const experimenter = oxmClass === 0xffff ? b.readUInt32BE(at + 4) : undefined;
    const width = masked ? (end - start) >> 1 : end - start;
    const value = b.toString("hex", start, start + width);
    const mask = masked ? `/${b.toString("hex", start + width, start + 2 * width)}` : "";
    const name = nameOf(oxmClass, number, experimenter, width);
    out.push(`${name ?? `${oxmClass}:${number}`}${masked && name !== undefined ? "_W" : ""}(${value}${mask})`);
  }
  return out.join(", ");
}

function nameOf(oxmClass: number, number: number, experimenter: number | undefined, width: number): string | undefined {
  if (oxmClass === COOKIE.header >>> 16 && number === (COOKIE.header >> 9) % 0x80 && width === COOKIE.bytes) {
    return COOKIE.text;
  }
  const def = fieldByNumber(oxmClass, number, experimenter);
  if (!def || (def.bytes !== width && !def.variable)) return undefined;
  return def.headers.find((h) => h.oxmClass === oxmClass && h.number === number && h.experimenter === experimenter)
    ?.text;
}

interface Header {
  readonly word: number;
  readonly experimenter: number | undefined;
  readonly masked: boolean;
  readonly bytes: number;
  /** Whether the length may be what the text gives, up to `bytes`. */
  readonly variable: boolean;
}

/** Fields one after another; the name may be a code point's, with `_W` for a mask, or 8 or 16 hex digits of a header. */
const ITEM = /([^(),\s]+)\(\s*([0-9a-fA-F\s]*?)\s*(?:\/\s*([0-9a-fA-F\s]*?)\s*)?\)/y;

/**
 * The bytes of TLVs from {@link formatOxms}' text, which is also what `ovs-ofctl parse-oxm` reads.
 * @throws ParseError
 */
export function parseOxms(text: string): Buffer {
  if (text.trim() === "<any>") return Buffer.alloc(0);
  const out: Buffer[] = [];
  let at = 0;
  for (;;) {
    while (at < text.length && /[,\s]/.test(text[at] as string)) at++;
    if (at === text.length) return Buffer.concat(out);
    ITEM.lastIndex = at;
    const m = ITEM.exec(text);
    if (!m) throw new ParseError(at, "not a field with its value in parentheses", ["NAME(HEX)", "NAME_W(HEX/HEX)"]);
    out.push(tlv(m, at));
    at = ITEM.lastIndex;
  }
}

function tlv(m: RegExpExecArray, at: number): Buffer {
  const [, name = "", valueText = "", maskText] = m;
  const header = headerByText(name);
  if (!header) throw new ParseError(at, `unknown field "${name}"`, []);
  const inside = at + name.length + 1;
  if (header.masked !== (maskText !== undefined)) {
    throw new ParseError(inside, header.masked ? `${name} wants VALUE/MASK` : `${name} takes no mask`, []);
  }
  const value = hexBytes(valueText, inside);
  const mask = maskText === undefined ? Buffer.alloc(0) : hexBytes(maskText, inside);
  const fits = header.variable ? value.length <= header.bytes : value.length === header.bytes;
  if (!fits || (header.masked && mask.length !== value.length)) {
    throw new ParseError(inside, `${name} wants ${header.bytes} bytes of hexadecimal digits`, []);
  }
  const id = header.experimenter === undefined ? 0 : 4;
  const head = Buffer.alloc(4 + id);
  const length = id + value.length + mask.length;
  head.writeUInt32BE(header.variable ? ((header.word & 0xffff_ff00) | length) >>> 0 : header.word);
  if (header.experimenter !== undefined) head.writeUInt32BE(header.experimenter, 4);
  return Buffer.concat([head, value, mask]);
}

function hexBytes(text: string, at: number): Buffer {
  const digits = text.replace(/\s+/g, "");
  if (digits.length % 2 !== 0) throw new ParseError(at, `"${text}" is not whole bytes of hexadecimal digits`, []);
  return Buffer.from(digits, "hex");
}

function headerByText(name: string): Header | undefined {
  const exact = codePointByText(name);
  if (exact) return ofPoint(exact, false);
  const wild = name.endsWith("_W") ? name.slice(0, -2) : undefined;
  const masked = wild === undefined ? undefined : codePointByText(wild);
  if (masked?.field.maskable) return ofPoint(masked, true);
  if (name === COOKIE.text) return rawHeader(COOKIE.header, undefined);
  // The mask bit, and twice the length.
  if (wild === COOKIE.text) return rawHeader(COOKIE.header + 0x100 + COOKIE.bytes, undefined);
  if (/^[0-9a-fA-F]{8}$/.test(name)) return rawHeader(Number.parseInt(name, 16), undefined);
  if (/^[0-9a-fA-F]{16}$/.test(name) && /^ffff/i.test(name)) {
    return rawHeader(Number.parseInt(name.slice(0, 8), 16), Number.parseInt(name.slice(8), 16));
  }
  return undefined;
}

const ofPoint = ({ field, header }: CodePoint, masked: boolean): Header => ({
  word: masked ? header.masked : header.exact,
  experimenter: header.experimenter,
  masked,
  bytes: field.bytes,
  variable: field.variable,
});

function rawHeader(word: number, experimenter: number | undefined): Header | undefined {
  const masked = (word & 0x100) !== 0;
  const payload = (word & 0xff) - (experimenter === undefined ? 0 : 4);
  if (payload < 0) return undefined;
  const known = fieldByNumber(word >>> 16, (word >>> 9) & 0x7f, experimenter);
  return {
    word,
    experimenter,
    masked,
    bytes: known?.variable ? known.bytes : masked ? payload >> 1 : payload,
    variable: known?.variable ?? false,
  };
}
