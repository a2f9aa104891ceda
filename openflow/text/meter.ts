import type { MessageOfType } from "../messages/all.ts";
import { Meter, MeterFlag } from "../messages/meter.ts";
import { bitNames, duration, hex } from "./bytes.ts";

type MeterConfig = MessageOfType<"meter_config_reply">["meters"][number];
type Band = MeterConfig["bands"][number];

const special = new Map<number, string>([
  [Meter.slowpath, "slowpath"],
  [Meter.controller, "controller"],
  [Meter.all, "all"],
]);

/** A meter number as ovs-ofctl writes it. */
export const formatMeterId = (id: number): string => special.get(id) ?? String(id);

const flagNames = [
  ["kbps", MeterFlag.kbps],
  ["pktps", MeterFlag.pktps],
  ["burst", MeterFlag.burst],
  ["stats", MeterFlag.stats],
] as const;
const KNOWN_FLAGS = 0x0f;

function bandText(band: Band, flags: number): string {
  if (band.kind === "unknown") return `\ntype=${band.type}`;
  const burst = (flags & MeterFlag.burst) === 0 ? "" : ` burst_size=${band.burstSize}`;
  const level = band.kind === "dscp_remark" ? ` prec_level=${band.precLevel}` : "";
  return `\ntype=${band.kind} rate=${band.rate}${burst}${level}`;
}

/** `meter=1 kbps burst bands=` and one line for each band. */
export function formatMeter(meterId: number, flags: number, bands: readonly Band[]): string {
  let out = `meter=${formatMeterId(meterId)} `;
  for (const [name, bit] of flagNames) if ((flags & bit) !== 0) out += `${name} `;
  if ((flags & ~KNOWN_FLAGS) !== 0) out += `flags:${hex(flags & ~KNOWN_FLAGS)} `;
  return `${out}bands=${bands.map((b) => bandText(b, flags)).join("")}`;
}

const COMMANDS = ["ADD", "MOD", "DEL"];
export const meterModText = (m: MessageOfType<"meter_mod">): string =>
  ` ${COMMANDS[m.command]} ${formatMeter(m.meterId, m.flags, m.bands)}\n`;

export const meterRequestText = (m: MessageOfType<"meter_stats_request" | "meter_config_request">): string =>
  ` meter=${formatMeterId(m.meterId)}`;

export const meterConfigText = (m: MessageOfType<"meter_config_reply">): string =>
  m.meters.map((c) => `\n${formatMeter(c.meterId, c.meterFlags, c.bands)}\n`).join("");

export function meterStatsText(m: MessageOfType<"meter_stats_reply">): string {
  let out = "";
  for (const s of m.meters) {
    out +=
      `\nmeter:${formatMeterId(s.meterId)} flow_count:${s.flowCount} packet_in_count:${s.packetInCount}` +
      ` byte_in_count:${s.byteInCount} duration:${duration(s.durationSec, s.durationNsec)} bands:\n`;
    s.bands.forEach((b, i) => {
      out += `${i}: packet_count:${b.packetCount} byte_count:${b.byteCount}\n`;
    });
  }
  return out;
}

const BAND_TYPES = [undefined, "drop", "dscp_remark"];
export const meterFeaturesText = (m: MessageOfType<"meter_features_reply">): string =>
  `\nmax_meter:${m.maxMeter} max_bands:${m.maxBands} max_color:${m.maxColor}\n` +
  `band_types: ${bitNames(m.bandTypes, BAND_TYPES)}\n` +
  `capabilities: ${bitNames(m.capabilities, ["kbps", "pktps", "burst", "stats"])}\n`;
