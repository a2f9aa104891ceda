/** IP addresses as text: strict, and in one spelling each, so that equal addresses are equal strings. */
import { isIPv6 } from "node:net";
import type { Ipv4, Prefix } from "../../pipeline/model.ts";

/** @returns undefined for anything but four decimal numbers without leading zeros, which some programs take for octal */
export const parseIpv4 = (text: string): Ipv4 | undefined => {
  if (!/^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})$/.test(text)) return undefined;
  const bytes = text.split(".").map(Number);
  if (bytes.some((b) => b > 255)) return undefined;
  return bytes.reduce((value, byte) => value * 256 + byte, 0);
};

export const formatIpv4 = (ip: Ipv4): string => [24, 16, 8, 0].map((shift) => (ip >>> shift) & 255).join(".");

/** The spelling of RFC 5952, or undefined. Zones and mapped IPv4 addresses are refused: neither names a host of its own. */
const canonicalIpv6 = (text: string): string | undefined => {
  if (!isIPv6(text) || text.includes("%")) return undefined;
  const canonical = new URL(`http://[${text}]`).hostname.slice(1, -1);
  return canonical.startsWith("::ffff:") ? undefined : canonical;
};

/** An address of either family in its one spelling, or undefined. */
export const canonicalAddress = (text: string): string | undefined =>
  parseIpv4(text) !== undefined ? text : canonicalIpv6(text);

export const isIpv6Text = (address: string): boolean => address.includes(":");

const maskOf = (length: number): number => (length === 0 ? 0 : (-1 << (32 - length)) >>> 0);

export const prefixContains = (prefix: Prefix, ip: Ipv4): boolean =>
  ((ip & maskOf(prefix.length)) >>> 0) === prefix.address;

/** The last address of a network: its broadcast address, where it has one. */
export const lastOf = (prefix: Prefix): Ipv4 => (prefix.address | ~maskOf(prefix.length)) >>> 0;

/** Whether the address means the network itself or all of its hosts. Networks of /31 and /32 have neither (RFC 3021). */
export const isEdgeOf = (prefix: Prefix, ip: Ipv4): boolean =>
  prefix.length < 31 && (ip === prefix.address || ip === lastOf(prefix));

/** What is wrong with an address as that of one host, or undefined. */
export const notAHost = (ip: Ipv4): string | undefined => {
  const first = ip >>> 24;
  if (first === 0) return "an address of no host";
  if (first === 127) return "a loopback address";
  if (first >= 224) return first >= 240 ? "a reserved address" : "a multicast address";
  return undefined;
};

/** `a.b.c.d/n` with the host bits cleared; a bare address is a network of one. Undefined when it is no IPv4 network. */
export const parsePrefix = (text: string): Prefix | undefined => {
  const [address, length, more] = text.split("/");
  const ip = parseIpv4(address ?? "");
  if (ip === undefined || more !== undefined) return undefined;
  if (length === undefined) return { address: ip, length: 32 };
  if (!/^(?:0|[1-9]\d?)$/.test(length) || Number(length) > 32) return undefined;
  return { address: (ip & maskOf(Number(length))) >>> 0, length: Number(length) };
};

export const formatPrefix = (prefix: Prefix): string => `${formatIpv4(prefix.address)}/${prefix.length}`;

/** Whether the text is an IPv6 network, in any spelling. */
export const isIpv6Prefix = (text: string): boolean => {
  const [address, length = "128", more] = text.split("/");
  return more === undefined && isIPv6(address ?? "") && /^\d{1,3}$/.test(length) && Number(length) <= 128;
};
