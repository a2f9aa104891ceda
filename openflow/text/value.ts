import type { FieldDef, FieldFormat, FieldValue } from "../field-def.ts";
import {
  formatIpv4Masked,
  formatIpv6Masked,
  formatMacMasked,
  parseIpv4,
  parseIpv6,
  parseMac,
  prefixMask4,
  prefixMask6,
} from "./address.ts";
import {
  CT_STATES,
  type FlagNames,
  formatFlags,
  formatSignedFlags,
  parseFlags,
  TCP_FLAGS,
  TUNNEL_FLAGS,
} from "./flags.ts";
import { ParseError } from "./parse-error.ts";
import { formatPort, PORT_NAMES, parsePort } from "./ports.ts";

/** `0x1f`, and plain `0` for zero. */
export const hex = (n: FieldValue): string => (Number(n) === 0 ? "0" : `0x${n.toString(16)}`);

const FRAGMENTS: ReadonlyMap<string, readonly [value: number, mask: number]> = new Map([
  ["no", [0, 3]],
  ["yes", [1, 1]],
  ["first", [1, 3]],
  ["later", [3, 3]],
  ["not_later", [0, 2]],
]);

/** `no`, `yes`, `first`, `later` or `not_later`; `<error>` for a combination that no packet has. */
export function formatFragment(value: number, mask: number): string {
  const known = mask & 3;
  const name = [...FRAGMENTS].find(([, [v, m]]) => m === known && v === (value & known))?.[0];
  if (name) return name;
  // "later" without "any" is what the second bit alone says; "no" is what the first one denies.
  if (known === 2) return "later";
  return known === 1 ? "no" : "<error>";
}

interface Flags {
  readonly names: FlagNames;
  readonly known: number;
}

const FLAGS: Partial<Record<FieldFormat, Flags>> = {
  tcp_flags: { names: TCP_FLAGS, known: 0xfff },
  ct_state: { names: CT_STATES, known: 0xff },
  tun_flags: { names: TUNNEL_FLAGS, known: 0x1 },
};

/**
 * A value as set_field prints it (ovs-fields(7), "Format"): in the notation of its field, the mask after a slash.
 */
export function formatValue(def: FieldDef, value: FieldValue, mask?: FieldValue): string {
  const m = mask ?? def.full;
  const exact = m === def.full;
  switch (def.format) {
    case "mac":
      return formatMacMasked(Number(value), Number(m));
    case "ipv4":
      return formatIpv4Masked(Number(value), Number(m));
    case "ipv6":
      return formatIpv6Masked(BigInt(value), BigInt(m));
    case "port":
      return formatPort(def.bytes === 2 && Number(value) >= 0xff00 ? Number(value) + 0xffff_0000 : Number(value));
    case "frag":
      return formatFragment(Number(value), Number(m));
    case "packet_type":
      return formatPacketType(Number(value));
    case "tcp_flags":
    case "ct_state":
    case "tun_flags": {
      const { names, known } = FLAGS[def.format] as Flags;
      return (Number(m) & known) === known && def.format !== "tun_flags"
        ? formatFlags(Number(value), names)
        : formatSignedFlags(Number(value), Number(m) & known, names);
    }
    default: {
      const text = def.format === "hex" ? hex(value) : String(value);
      return exact ? text : `${text}/${hex(m)}`;
    }
  }
}

/** `(1,0x800)`: namespace and type. */
export const formatPacketType = (value: number): string => `(${short(value >>> 16)},${short(value & 0xffff)})`;
const short = (n: number): string => (n < 10 ? String(n) : `0x${n.toString(16)}`);

export interface Parsed {
  readonly value: FieldValue;
  /** Absent for an exact match; zero for `*`. */
  readonly mask?: FieldValue;
}

const WANTED: Record<FieldFormat, readonly string[]> = {
  decimal: ["NUMBER", "NUMBER/MASK"],
  hex: ["NUMBER", "NUMBER/MASK"],
  mac: ["xx:xx:xx:xx:xx:xx", "xx:xx:xx:xx:xx:xx/MASK"],
  ipv4: ["A.B.C.D", "A.B.C.D/PREFIX", "A.B.C.D/MASK"],
  ipv6: ["ADDRESS", "ADDRESS/PREFIX", "ADDRESS/MASK"],
  port: ["NUMBER", ...PORT_NAMES],
  frag: [...FRAGMENTS.keys()],
  tcp_flags: ["+FLAG-FLAG", "FLAG|FLAG", ...TCP_FLAGS.slice(0, 9).map(String)],
  ct_state: ["+STATE-STATE", "STATE|STATE", ...CT_STATES.map(String)],
  tun_flags: ["+oam", "-oam"],
  packet_type: ["(NAMESPACE,TYPE)"],
};

/**
 * Reads a value with its mask, in the notation of the field.
 * @param column where `text` begins in what the user typed
 * @throws ParseError
 */
export function parseValue(def: FieldDef, text: string, column = 0): Parsed {
  if (text === "*") return { value: def.big ? 0n : 0, mask: def.big ? 0n : 0 };
  const parsed = parseAs(def, text);
  if (parsed === undefined) throw new ParseError(column, `"${text}" is not a value of ${def.name}`, WANTED[def.format]);
  const { value, mask } = parsed;
  if (value > def.full || (mask !== undefined && mask > def.full)) {
    throw new ParseError(column, `${text} does not fit the ${def.bits} bits of ${def.name}`, []);
  }
  if (mask !== undefined && mask !== def.full && !def.maskable) {
    throw new ParseError(column + text.indexOf("/"), `${def.name} takes no mask`, []);
  }
  return parsed;
}

function parseAs(def: FieldDef, text: string): Parsed | undefined {
  const slash = text.indexOf("/");
  const head = slash < 0 ? text : text.slice(0, slash);
  const tail = slash < 0 ? undefined : text.slice(slash + 1);
  switch (def.format) {
    case "mac":
      return both(head, tail, parseMac);
    case "ipv4":
      return both(head, tail, parseIpv4, (t) => prefix(t, 32, prefixMask4));
    case "ipv6":
      return both(head, tail, parseIpv6, (t) => prefix(t, 128, prefixMask6));
    case "port":
      return def.bytes === 2
        ? both(
            head,
            tail,
            (t) => narrow(parsePort(t)),
            (t) => Number(t),
          )
        : both(head, tail, parsePort, (t) => Number(t));
    case "frag": {
      const known = FRAGMENTS.get(text.toLowerCase());
      return known && { value: known[0], mask: known[1] };
    }
    case "packet_type": {
      const m = /^\(\s*(\w+)\s*,\s*(\w+)\s*\)$/.exec(text);
      const [ns, type] = [integer(m?.[1] ?? ""), integer(m?.[2] ?? "")];
      if (ns === undefined || type === undefined || ns > 0xffffn || type > 0xffffn) return undefined;
      return { value: Number(ns) * 0x1_0000 + Number(type) };
    }
    case "tcp_flags":
    case "ct_state":
    case "tun_flags": {
      const { names, known } = FLAGS[def.format] as Flags;
      const value = integer(head);
      const mask = tail === undefined ? undefined : integer(tail);
      if (value !== undefined && (tail === undefined) === (mask === undefined)) {
        if (value > BigInt(known) || (mask ?? 0n) > BigInt(known)) return undefined;
        return mask === undefined ? { value: Number(value) } : { value: Number(value), mask: Number(mask) };
      }
      const flags = tail === undefined ? parseFlags(text, names, known) : undefined;
      if (!flags) return undefined;
      return flags.mask === undefined ? { value: flags.value } : { value: flags.value, mask: flags.mask };
    }
    default:
      return both(head, tail, (t) => sized(def, integer(t)));
  }
}

const sized = (def: FieldDef, n: bigint | undefined): FieldValue | undefined =>
  n === undefined || def.big ? n : n > BigInt(def.full) ? Number.MAX_SAFE_INTEGER : Number(n);

const narrow = (port: number | undefined): number | undefined =>
  port === undefined ? undefined : port > 0xffff ? port & 0xffff : port;

function both<T extends FieldValue>(
  head: string,
  tail: string | undefined,
  read: (text: string) => T | undefined,
  readMask: (text: string) => T | undefined = () => undefined,
): Parsed | undefined {
  const value = read(head);
  if (value === undefined) return undefined;
  if (tail === undefined) return { value };
  const mask = readMask(tail) ?? read(tail);
  return mask === undefined ? undefined : { value, mask };
}

function prefix<T>(text: string, most: number, mask: (length: number) => T): T | undefined {
  return /^\d{1,3}$/.test(text) && Number(text) <= most ? mask(Number(text)) : undefined;
}

/** A number in C's notations: decimal, 0x for hexadecimal, a leading 0 for octal. */
export function integer(text: string): bigint | undefined {
  if (/^0x[0-9a-f]+$/i.test(text)) return BigInt(text);
  if (/^0[0-7]+$/.test(text)) return BigInt(`0o${text.slice(1)}`);
  return /^(0|[1-9]\d*)$/.test(text) ? BigInt(text) : undefined;
}
