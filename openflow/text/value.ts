import type { FieldDef, FieldValue } from "../fields.ts";
import { formatIpv4, formatIpv6, formatMac } from "./address.ts";
import { formatPort } from "./port.ts";
export function formatValue(def: FieldDef, value: FieldValue, mask?: FieldValue): string {
  const hex = (n: FieldValue) => (BigInt(n) === 0n ? "0" : `0x${n.toString(16)}`);
  const f = (n: FieldValue): string => {
    switch (def.format) {
      case "decimal":
        return mask === undefined ? String(n) : hex(n);
      case "mac":
        return formatMac(Number(n));
      case "ipv4":
        return formatIpv4(Number(n));
      case "ipv6":
        return formatIpv6(BigInt(n));
      case "port":
        return formatPort(Number(n));
      default:
        return hex(n);
    }
  };
  return mask === undefined || BigInt(mask) === (1n << BigInt(def.bytes * 8)) - 1n ? f(value) : `${f(value)}/${f(mask)}`;
}
import { ParseError } from "./parse-error.ts";
import { parsePort } from "./port.ts";
export function parseValue(def: FieldDef, text: string, column: number): { value: FieldValue; mask?: FieldValue } {
  const one = (t: string, isMask = false): FieldValue => {
    if (def.format === "mac") return Number(`0x${t.replaceAll(":", "")}`);
    if (def.format === "ipv4" && t.includes(".")) return t.split(".").reduce((a, x) => a * 256 + Number(x), 0);
    if (def.format === "ipv4" && isMask) return t === "0" ? 0 : (0xffffffff << (32 - Number(t))) >>> 0;
    if (def.format === "ipv6") {
      if (isMask && !t.includes(":")) return ((1n << BigInt(t)) - 1n) << BigInt(128 - Number(t));
      const [a = "", b] = t.split("::");
      const h = a ? a.split(":") : [];
      const l = b ? b.split(":") : [];
      const words = b === undefined ? h : [...h, ...Array(8 - h.length - l.length).fill("0"), ...l];
      return words.reduce((acc, w) => (acc << 16n) | BigInt(`0x${w}`), 0n);
    }
    if (def.format === "port") return parsePort(t) ?? 0;
    if (!/^(0x)?[0-9a-f]+$/i.test(t)) throw new ParseError(column, `bad ${t}`, []);
    return def.big ? BigInt(t) : Number(t);
  };
  const [v = "", m] = text.split("/");
  return m === undefined ? { value: one(v) } : { value: one(v), mask: one(m, true) };
}
