/** Names of flag bits, least significant first; undefined where a bit has none. */
export type FlagNames = readonly (string | undefined)[];

/** TCP header flags (RFC 9293 §3.1, RFC 3540 for ns); the last three have no name but their value. */
export const TCP_FLAGS: FlagNames = [
  "fin",
  "syn",
  "rst",
  "psh",
  "ack",
  "urg",
  "ece",
  "cwr",
  "ns",
  "[200]",
  "[400]",
  "[800]",
];

/** Connection states (ovs-fields(7), "ct_state"). */
export const CT_STATES: FlagNames = ["new", "est", "rel", "rpl", "inv", "trk", "snat", "dnat"];

export const TUNNEL_FLAGS: FlagNames = ["oam"];

/** `syn|ack`, or `0`; bits without a name are added as a hexadecimal number. */
export function formatFlags(value: number, names: FlagNames): string {
  const out: string[] = [];
  let rest = value;
  names.forEach((name, i) => {
    if (name === undefined || (value & (1 << i)) === 0) return;
    out.push(name);
    rest &= ~(1 << i);
  });
  if (rest !== 0) out.push(`0x${(rest >>> 0).toString(16)}`);
  return out.length === 0 ? "0" : out.join("|");
}

/** `+syn-ack`: one sign and name for each bit of the mask. */
export function formatSignedFlags(value: number, mask: number, names: FlagNames): string {
  let out = "";
  for (let bit = 0; bit < 32; bit++) {
    const one = (1 << bit) >>> 0;
    if ((mask & one) === 0) continue;
    out += ((value & one) === 0 ? "-" : "+") + (names[bit] ?? "[Unknown]");
  }
  return out === "" ? "0/0" : out;
}

/**
 * Reads either form. `known` is the bits there are.
 * @returns undefined when a name is not one of `names` or the text has another form
 */
export function parseFlags(
  text: string,
  names: FlagNames,
  known: number,
): { readonly value: number; readonly mask: number | undefined } | undefined {
  const bit = (name: string): number | undefined => {
    const i = names.indexOf(name);
    return i < 0 ? undefined : 1 << i;
  };
  if (/^[+-]/.test(text)) {
    let value = 0;
    let mask = 0;
    for (const m of text.matchAll(/([+-])([^+-]*)/g)) {
      const one = bit(m[2] ?? "");
      if (one === undefined || (mask & one) !== 0) return undefined;
      mask |= one;
      if (m[1] === "+") value |= one;
    }
    return { value, mask };
  }
  let value = 0;
  for (const word of text.split("|")) {
    const number = /^(0x[0-9a-f]+|\d+)$/i.test(word) ? Number(word) : undefined;
    const one = number ?? bit(word);
    if (one === undefined || one > known) return undefined;
    value |= one;
  }
  return { value, mask: undefined };
}
