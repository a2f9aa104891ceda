/** Addresses in text. */

/** `aa:bb:cc:dd:ee:ff` of a 48-bit number. */
export const formatMac = (n: number): string => (n.toString(16).padStart(12, "0").match(/../g) ?? []).join(":");

/** Dotted decimal of a 32-bit number. */
export const formatIpv4 = (n: number): string => `${n >>> 24}.${(n >>> 16) & 255}.${(n >>> 8) & 255}.${n & 255}`;

/** The text of RFC 5952, which inet_ntop prints too: the longest run of zeros, of at least two, is `::`. */
export function formatIpv6(n: bigint): string {
  const words = Array.from({ length: 8 }, (_, i) => Number((n >> BigInt(112 - 16 * i)) & 0xffffn));
  let best = { from: -1, length: 1 };
  for (let i = 0; i < 8; i++) {
    let length = 0;
    while (i + length < 8 && words[i + length] === 0) length++;
    if (length > best.length) best = { from: i, length };
  }
  // inet_ntop keeps dotted decimal for IPv4-compatible and IPv4-mapped addresses.
  const mapped = best.from === 0 && (best.length === 6 || (best.length === 5 && words[5] === 0xffff));
  const compatible = best.from === 0 && best.length === 7 && words[7] !== 1;
  const ipv4 = formatIpv4(Number(n & 0xffffffffn));
  if (mapped || compatible) return best.length === 5 ? `::ffff:${ipv4}` : `::${ipv4}`;
  const hex = words.map((w) => w.toString(16));
  if (best.from < 0) return hex.join(":");
  return `${hex.slice(0, best.from).join(":")}::${hex.slice(best.from + best.length).join(":")}`;
}
