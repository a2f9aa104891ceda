/** Reserved ports by number (OF1.3.5 §A.2.1), with Open vSwitch's UNSET. */
const RESERVED: readonly (readonly [number, string])[] = [
  [0xffff_fff7, "UNSET"],
  [0xffff_fff8, "IN_PORT"],
  [0xffff_fff9, "TABLE"],
  [0xffff_fffa, "NORMAL"],
  [0xffff_fffb, "FLOOD"],
  [0xffff_fffc, "ALL"],
  [0xffff_fffd, "CONTROLLER"],
  [0xffff_fffe, "LOCAL"],
  [0xffff_ffff, "ANY"],
];

const names = new Map(RESERVED);
const numbers = new Map<string, number>([...RESERVED.map(([n, name]) => [name, n] as const), ["NONE", 0xffff_ffff]]);

/** Ports from here up are reserved in OpenFlow 1.1 and later; ovs-ofctl prints them as OpenFlow 1.0 numbered them. */
const MAX = 0xffff_ff00;

/** A port as ovs-ofctl prints it: `3`, `LOCAL`. */
export const formatPort = (port: number): string => names.get(port) ?? String(port >= MAX ? port & 0xffff : port);

/** What a port may be called. */
export const PORT_NAMES: readonly string[] = [...numbers.keys()];

/** A port by number (of OpenFlow 1.0 or later) or by reserved name in any case; undefined for anything else. */
export function parsePort(text: string): number | undefined {
  const named = numbers.get(text.toUpperCase());
  if (named !== undefined) return named;
  if (!/^(0x[0-9a-f]+|\d+)$/i.test(text)) return undefined;
  const port = Number(text);
  if (port < 0xff00) return port;
  if (port <= 0xffff) return port + 0xffff_0000;
  return port >= MAX && port <= 0xffff_ffff ? port : undefined;
}
