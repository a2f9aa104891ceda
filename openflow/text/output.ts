/** Output ports: what can be one, their 16-bit numbers, and the text of an output action. */
import { formatPort } from "./ports.ts";

/** Ports with numbers below this are switch ports in Open vSwitch, whose own numbers have 16 bits. */
const OFPP_MAX = 0xff00;
const CONTROLLER = 0xfffffffd;

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
