/** Text of addresses and masks, as ovs-ofctl writes them and people type them. */

const BITS_48 = 0xffff_ffff_ffff;

/** `52:54:00:12:34:56`. */
export const formatMac = (mac: number): string =>
  mac
    .toString(16)
    .padStart(12, "0")
    .replace(/..(?!$)/g, "$&:");

export function parseMac(text: string): number | undefined {
  if (!/^[0-9a-f]{1,2}(:[0-9a-f]{1,2}){5}$/i.test(text)) return undefined;
  return text.split(":").reduce((all, byte) => all * 256 + Number.parseInt(byte, 16), 0);
}

export const formatIpv4 = (ip: number): string => `${ip >>> 24}.${(ip >>> 16) & 255}.${(ip >>> 8) & 255}.${ip & 255}`;

export function parseIpv4(text: string): number | undefined {
  const m = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (!m) return undefined;
  const bytes = m.slice(1).map(Number);
  return bytes.some((b) => b > 255) ? undefined : bytes.reduce((all, b) => all * 256 + b, 0);
}

/** RFC 5952 text; addresses that hold an IPv4 address end in its dotted form. */
export function formatIpv6(ip: bigint): string {
  const groups = Array.from({ length: 8 }, (_, i) => Number((ip >> BigInt(112 - 16 * i)) & 0xffffn));
  let best = { at: -1, length: 0 };
  for (let i = 0; i < 8; ) {
    let j = i;
    while (j < 8 && groups[j] === 0) j++;
    if (j - i > best.length) best = { at: i, length: j - i };
    i = Math.max(j, i + 1);
  }
  if (best.length < 2) best = { at: -1, length: 0 };
  const dotted = best.at === 0 && (best.length === 6 || (best.length === 5 && groups[5] === 0xffff));
  const hex = (from: number, to: number): string =>
    groups
      .slice(from, to)
      .map((g) => g.toString(16))
      .join(":");
  if (dotted) return `::${best.length === 5 ? "ffff:" : ""}${formatIpv4(Number(ip & 0xffff_ffffn))}`;
  if (best.at < 0) return hex(0, 8);
  return `${hex(0, best.at)}::${hex(best.at + best.length, 8)}`;
}

export function parseIpv6(text: string): bigint | undefined {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  let source = text;
  if (dotted) {
    const v4 = parseIpv4(dotted[2] as string);
    if (v4 === undefined) return undefined;
    source = `${dotted[1]}${(v4 >>> 16).toString(16)}:${(v4 & 0xffff).toString(16)}`;
  }
  const halves = source.split("::");
  if (halves.length > 2) return undefined;
  const [head = [], tail = []] = halves.map((h) => (h === "" ? [] : h.split(":")));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...new Array<string>(missing).fill("0"), ...tail];
  if (groups.some((g) => !/^[0-9a-f]{1,4}$/i.test(g))) return undefined;
  return groups.reduce((all, g) => (all << 16n) | BigInt(`0x${g}`), 0n);
}

/** Leading ones of a mask of `bits` bits, or undefined when it is not a prefix. */
function prefixLength(mask: number | bigint, bits: number): number | undefined {
  const digits = mask.toString(2).padStart(bits, "0");
  const ones = digits.indexOf("0");
  if (ones < 0) return bits;
  return digits.indexOf("1", ones) < 0 ? ones : undefined;
}

/** The mask of a prefix, for 32 bits a number and for 128 a bigint. */
export const prefixMask4 = (length: number): number => (length === 0 ? 0 : (0xffff_ffff << (32 - length)) >>> 0);
export const prefixMask6 = (length: number): bigint => ((1n << BigInt(length)) - 1n) << BigInt(128 - length);

/** `addr`, `addr/24` or `addr/255.0.255.0`. */
export function formatIpv4Masked(ip: number, mask: number): string {
  const length = prefixLength(mask, 32);
  if (length === 32) return formatIpv4(ip);
  return `${formatIpv4(ip)}/${length === undefined ? formatIpv4(mask) : length}`;
}

export function formatIpv6Masked(ip: bigint, mask: bigint): string {
  const length = prefixLength(mask, 128);
  if (length === 128) return formatIpv6(ip);
  return `${formatIpv6(ip)}/${length === undefined ? formatIpv6(mask) : length}`;
}

export const formatMacMasked = (mac: number, mask: number): string =>
  mask === BITS_48 ? formatMac(mac) : `${formatMac(mac)}/${formatMac(mask)}`;
