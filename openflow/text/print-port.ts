import type { MessageOfType } from "../messages/all.ts";
import { QUEUE_ALL } from "../messages/queue.ts";
import { formatMac } from "./address.ts";
import { bitNames, duration } from "./bytes.ts";
import { formatPort } from "./ports.ts";

const CONFIG = ["PORT_DOWN", undefined, "NO_RECV", undefined, undefined, "NO_FWD", "NO_PACKET_IN"];
/** Bits OpenFlow 1.1 and later define; ovs-ofctl drops the others. */
const CONFIG_BITS = 0x65;
const STATE = ["LINK_DOWN", "BLOCKED", "LIVE"];
const STATE_BITS = 0x07;
const FEATURES = [
  "10MB-HD",
  "10MB-FD",
  "100MB-HD",
  "100MB-FD",
  "1GB-HD",
  "1GB-FD",
  "10GB-FD",
  "40GB-FD",
  "100GB-FD",
  "1TB-FD",
  "OTHER",
  "COPPER",
  "FIBER",
  "AUTO_NEG",
  "AUTO_PAUSE",
  "AUTO_PAUSE_ASYM",
];
const FEATURE_BITS = 0xffff;

type PortValue = MessageOfType<"port_status">["port"];

const config = (bits: number): string => bitNames(bits & CONFIG_BITS, CONFIG);
const features = (bits: number): string => bitNames(bits & FEATURE_BITS, FEATURES);

/** A name up to its first byte that is not printable, and to 15 of them. */
function printableName(name: string): string {
  return (/^[ -~]*/.exec(name)?.[0] ?? "").slice(0, 15);
}

function formatPortDesc(p: PortValue): string {
  const optional = (label: string, bits: number): string =>
    (bits & FEATURE_BITS) === 0 ? "" : `     ${label}${features(bits)}\n`;
  return (
    ` ${formatPort(p.portNo)}(${printableName(p.name)}): addr:${formatMac(p.hwAddr)}\n` +
    `     config:     ${config(p.config)}\n` +
    `     state:      ${bitNames(p.state & STATE_BITS, STATE)}\n` +
    optional("current:    ", p.curr) +
    optional("advertised: ", p.advertised) +
    optional("supported:  ", p.supported) +
    optional("peer:       ", p.peer) +
    `     speed: ${Math.floor(p.currSpeed / 1000)} Mbps now, ${Math.floor(p.maxSpeed / 1000)} Mbps max\n`
  );
}

export const portStatusText = (m: MessageOfType<"port_status">): string =>
  ` ${["ADD", "DEL", "MOD"][m.reason]}:${formatPortDesc(m.port)}`;

export const portModText = (m: MessageOfType<"port_mod">): string =>
  ` port: ${formatPort(m.portNo)}: addr:${formatMac(m.hwAddr)}\n` +
  // Bits outside the mask mean nothing.
  `     config: ${config(m.config & m.mask)}\n` +
  `     mask:   ${config(m.mask)}\n` +
  `     advertise: ${(m.advertise & FEATURE_BITS) === 0 ? "UNCHANGED" : features(m.advertise)}\n`;

export const portDescText = (m: MessageOfType<"port_desc_reply">): string =>
  `\n${[...m.ports]
    .sort((a, b) => key(a.portNo) - key(b.portNo))
    .map(formatPortDesc)
    .join("")}`;

/** ovs-ofctl sorts by the 16-bit port number of OpenFlow 1.0. */
const key = (port: number): number => port & 0xffff;

const UNKNOWN = 0xffff_ffff_ffff_ffffn;
const counters = (list: readonly (readonly [string, bigint])[]): string =>
  list.map(([name, n]) => `${name}=${n === UNKNOWN ? "?" : n}`).join(", ");

export function portStatsText(m: MessageOfType<"port_stats_reply">): string {
  let out = ` ${m.ports.length} ports\n`;
  for (const p of m.ports) {
    const rx = counters([
      ["pkts", p.rxPackets],
      ["bytes", p.rxBytes],
      ["drop", p.rxDropped],
      ["errs", p.rxErrors],
      ["frame", p.rxFrameErr],
      ["over", p.rxOverErr],
      ["crc", p.rxCrcErr],
    ]);
    const tx = counters([
      ["pkts", p.txPackets],
      ["bytes", p.txBytes],
      ["drop", p.txDropped],
      ["errs", p.txErrors],
      ["coll", p.collisions],
    ]);
    out += `  port ${p.portNo < 10 ? " " : ""}${formatPort(p.portNo)}: rx ${rx}\n           tx ${tx}\n`;
    if (p.durationSec !== 0xffff_ffff) out += `           duration=${duration(p.durationSec, p.durationNsec)}\n`;
  }
  return out;
}

export function queueStatsText(m: MessageOfType<"queue_stats_reply">): string {
  let out = ` ${m.queues.length} queues\n`;
  for (const q of m.queues) {
    const stats = counters([
      ["bytes", q.txBytes],
      ["pkts", q.txPackets],
      ["errors", q.txErrors],
    ]);
    const age = q.durationSec === 0xffff_ffff ? "?" : duration(q.durationSec, q.durationNsec);
    out += `  port ${formatPort(q.portNo)} queue ${q.queueId}: ${stats}, duration=${age}\n`;
  }
  return out;
}

export const queueStatsRequestText = (m: MessageOfType<"queue_stats_request">): string =>
  ` port=${formatPort(m.portNo)} queue=${m.queueId === QUEUE_ALL ? "ALL" : m.queueId}`;

/** Rates are tenths of a percent; above 1000 the queue is off. */
function rate(name: string, tenths: number | undefined): string {
  if (tenths === undefined || tenths === 0xffff) return "";
  return tenths <= 1000 ? ` ${name}:${Math.floor(tenths / 10)}.${tenths % 10}%` : ` ${name}:(disabled)`;
}

export function queueConfigText(m: MessageOfType<"queue_get_config_reply">): string {
  if (m.queues.length === 0) return "";
  let out = m.port === 0 ? " " : ` port=${formatPort(m.port)}\n`;
  for (const q of [...m.queues].sort((a, b) => a.queueId - b.queueId)) {
    let min: number | undefined;
    let max: number | undefined;
    for (const p of q.properties) {
      if (p.kind === "min_rate") min = p.rate;
      else if (p.kind === "max_rate") max = p.rate;
    }
    out += `queue ${q.queueId}:${rate("min_rate", min)}${rate("max_rate", max)}\n`;
  }
  return out;
}
