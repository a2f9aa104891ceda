/** Ports in text: a number, or the name of a reserved one (OF1.3.5 §7.2.1, `enum ofp_port_no`; ovs-ofctl(8)). */

const reserved = new Map<string, number>([
  ["IN_PORT", 0xfffffff8],
  ["TABLE", 0xfffffff9],
  ["NORMAL", 0xfffffffa],
  ["FLOOD", 0xfffffffb],
  ["ALL", 0xfffffffc],
  ["CONTROLLER", 0xfffffffd],
  ["LOCAL", 0xfffffffe],
  ["ANY", 0xffffffff],
]);
const names = new Map([...reserved].map(([name, port]) => [port, name]));

/** Ports with numbers below this are switch ports in Open vSwitch, whose own numbers have 16 bits. */
const OFPP_MAX = 0xff00;
const CONTROLLER = 0xfffffffd;

/** A port as ovs-ofctl prints it when it knows no names. */
export const formatPort = (port: number): string => names.get(port) ?? String(port);

/** An output action. */
export function formatOutput(port: number, maxLen: number): string {
  if (port === CONTROLLER) return `CONTROLLER:${maxLen}`;
  return port < OFPP_MAX ? `output:${port}` : formatPort(port);
}

/** Whether Open vSwitch takes this as the port of an output action. */
export const isOutputPort = (port: number): boolean => port < OFPP_MAX || (port >= 0xfffffff8 && port < 0xffffffff);

/** The 32-bit number of a port that Nicira's actions give in 16 bits. */
export const widenPort = (port: number): number => (port < OFPP_MAX ? port : port + 0xffff0000);

/** The 16-bit number; undefined for a port that has none. */
export const narrowPort = (port: number): number | undefined =>
  port < OFPP_MAX ? port : port >= 0xffffff00 ? port - 0xffff0000 : undefined;

/** A port number or reserved name, in any case; undefined if it is neither. Reserved 16-bit numbers are widened. */
export function parsePort(text: string): number | undefined {
  const name = text.toUpperCase();
  const port = name === "NONE" ? 0xffffffff : reserved.get(name);
  if (port !== undefined) return port;
  if (!/^(0x[0-9a-f]+|[0-9]+)$/i.test(text)) return undefined;
  const n = Number(text);
  if (n <= 0xffff) return widenPort(n);
  return n >= 0xffffff00 && n <= 0xffffffff ? n : undefined;
}
