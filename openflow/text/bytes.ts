/** A hex dump of 16 bytes a line, offsets from 0, with the printable ones on the right. */
export function hexDump(b: Buffer): string {
  let out = "";
  for (let at = 0; at < b.length; at += 16) {
    const line = b.subarray(at, at + 16);
    let hex = "";
    let text = "";
    for (let i = 0; i < 16; i++) {
      const byte = line[i];
      const gap = i === 8 ? "-" : " ";
      hex += byte === undefined ? "   " : `${gap}${byte.toString(16).padStart(2, "0")}`;
      text += byte === undefined ? " " : byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".";
    }
    // The bar between the halves is there even when the second one is empty.
    if (line.length === 8) hex = `${hex.slice(0, 24)}-${hex.slice(25)}`;
    out += `${at.toString(16).padStart(8, "0")} ${hex} |${text}|\n`;
  }
  return out;
}

/** Bytes as text, those that are not printable (and backslashes) as three octal digits. */
export function printable(b: Buffer): string {
  let out = "";
  for (const byte of b) {
    if (byte >= 0x20 && byte < 0x7f && byte !== 0x5c) out += String.fromCharCode(byte);
    else out += `\\${byte.toString(8).padStart(3, "0")}`;
  }
  return out;
}

/** Names of the bits set, then what is left in hex; `0` for none. `names[i]` is bit i's. */
export function bitNames(bits: number, names: readonly (string | undefined)[], separator = " "): string {
  if (bits === 0) return "0";
  let left = bits;
  const out: string[] = [];
  names.forEach((name, i) => {
    const bit = 2 ** i;
    if (name === undefined || Math.floor(bits / bit) % 2 === 0) return;
    out.push(name);
    left -= bit;
  });
  if (left !== 0) out.push(hex(left));
  return out.join(separator);
}

/** A number as ovs-ofctl prints it in hex. */
export const hex = (n: number | bigint): string => `0x${n.toString(16)}`;

/** The same, but zero without a prefix (C's `%#x`). */
export const hexOrZero = (n: number | bigint): string => (BigInt(n) === 0n ? "0" : hex(n));

/** Seconds with no decimals, three when that is exact, or up to nine. */
export function duration(sec: number, nsec: number): string {
  if (nsec === 0) return `${sec}s`;
  if (nsec % 1_000_000 === 0) return `${sec}.${String(nsec / 1_000_000).padStart(3, "0")}s`;
  return `${sec}.${String(nsec).padStart(9, "0").replace(/0+$/, "")}s`;
}

/** Bytes as pairs of hex digits with dots between. */
export const dotted = (b: Buffer): string => (b.toString("hex").match(/../g) ?? []).join(".");
