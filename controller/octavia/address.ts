/** IP addresses as the API's text: strict, and in one spelling each, so that equal addresses are equal strings. */
import { isIPv6 } from "node:net";
import { formatPrefix, parseIpv4, parsePrefix, prefixNetwork } from "../../openflow/packet/address.ts";

/** The spelling of RFC 5952, or undefined. Zones and mapped IPv4 addresses are refused: neither names a host of its own. */
const canonicalIpv6 = (text: string): string | undefined => {
  if (!isIPv6(text) || text.includes("%")) return undefined;
  const canonical = new URL(`http://[${text}]`).hostname.slice(1, -1);
  return canonical.startsWith("::ffff:") ? undefined : canonical;
};

/** An address of either family in its one spelling, or undefined. */
export const canonicalAddress = (text: string): string | undefined =>
  parseIpv4(text) !== undefined ? text : canonicalIpv6(text);

/** Tells the families of canonical addresses and networks apart. */
export const isIpv6Text = (text: string): boolean => text.includes(":");

/** A network of either family, an IPv4 one with its host bits cleared; a bare address is a network of one. */
export const canonicalCidr = (text: string): string | undefined => {
  const prefix = parsePrefix(text.includes("/") ? text : `${text}/32`);
  if (prefix !== undefined) return formatPrefix({ address: prefixNetwork(prefix), length: prefix.length });
  const [address = "", length = "128", more] = text.split("/");
  const network =
    more === undefined && /^\d{1,3}$/.test(length) && Number(length) <= 128 ? canonicalIpv6(address) : undefined;
  return network === undefined ? undefined : `${network}/${Number(length)}`;
};
