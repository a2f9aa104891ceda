import type { MessageOfType } from "../messages/all.ts";
import { Meter, MeterCommand, MeterFlag } from "../messages/meter.ts";
import { bitNames, duration, hex } from "./bytes.ts";
import { ParseError } from "./parse-error.ts";
import { integer, type KeyValue, oneOf, scan, unknownKey } from "./scan.ts";

type MeterConfig = MessageOfType<"meter_config_reply">["meters"][number];
type Band = MeterConfig["bands"][number];

const special = new Map<number, string>([
  [Meter.slowpath, "slowpath"],
  [Meter.controller, "controller"],
  [Meter.all, "all"],
]);

/** OFPM_MAX: above it only the special ones mean something. */
const MAX_METER = 0xffff_0000;

/** A meter number as ovs-ofctl writes it. */
const formatMeterId = (id: number): string => special.get(id) ?? (id > MAX_METER ? "unknown" : String(id));

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

const COMMANDS = ["ADD", "MOD"];
export const meterModText = (m: MessageOfType<"meter_mod">): string =>
  m.command === MeterCommand.delete
    ? ` DEL ${formatMeter(m.meterId, 0, [])}\n`
    : ` ${COMMANDS[m.command]} ${formatMeter(m.meterId, m.flags, m.bands)}\n`;

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

/** A meter as a METER_MOD names it. */
export type MeterValue = Pick<MessageOfType<"meter_mod">, "flags" | "meterId" | "bands">;

const BAND_WORDS = ["type", "rate", "burst_size", "prec_level"];

/** A meter's number or one of the names of special meters. */
function meterId({ value }: KeyValue): number {
  for (const [id, name] of special) if (name === value.text) return id;
  return integer(value, 32, "a meter");
}

function parseBand(items: readonly KeyValue[]): Band {
  let type: "drop" | "dscp_remark" | undefined;
  let rate: number | undefined;
  let burstSize = 0;
  let precLevel = 0;
  for (const item of items) {
    if (item.key === "type") type = oneOf(item.value, ["drop", "dscp_remark"] as const, "band type");
    else if (item.key === "rate") rate = integer(item.value, 32, "a rate");
    else if (item.key === "burst_size" || item.key === "burst") burstSize = integer(item.value, 32, "a burst size");
    else if (item.key === "prec_level") precLevel = integer(item.value, 8, "a precedence level");
    else throw unknownKey(item, "a band", BAND_WORDS);
  }
  const at = items[0]?.column ?? 0;
  if (type === undefined) throw new ParseError(at, "a band has a type", ["type=drop", "type=dscp_remark"]);
  if (rate === undefined) throw new ParseError(at, "a band has a rate", ["rate=…"]);
  return type === "drop" ? { kind: type, rate, burstSize } : { kind: type, rate, burstSize, precLevel };
}

/** `band=` or `bands=`, after which the words of the first band come. */
const BANDS = /(^|[\s,])bands?\s*=/;

/**
 * Reads a meter as people type it for ovs-ofctl (ovs-ofctl(8), Meter Syntax) or as `dump-meters` prints it:
 * `meter=1 pktps burst stats bands=type=drop rate=100 burst_size=10`.
 * @throws ParseError with the column in `text`
 */
export function parseMeter(text: string): MeterValue {
  const found = BANDS.exec(text);
  const head = found ? text.slice(0, found.index) : text;
  let id: number | undefined;
  let flags = 0;
  for (const item of scan({ text: head, column: 0 })) {
    const flag = flagNames.find(([name]) => name === item.key);
    if (flag) flags |= flag[1];
    else if (item.key === "meter") id = meterId(item);
    else throw unknownKey(item, "a meter", ["meter", "bands", ...flagNames.map(([name]) => name)]);
  }
  if (id === undefined) throw new ParseError(0, "a meter has a number", ["meter=…"]);
  const bands: KeyValue[][] = [];
  if (found) {
    const at = found.index + found[0].length;
    for (const item of scan({ text: text.slice(at).replace(/\bbands?=/g, (w) => " ".repeat(w.length)), column: at })) {
      // Each band begins with its type.
      if (item.key === "type" || bands.length === 0) bands.push([]);
      bands.at(-1)?.push(item);
    }
  }
  const unit = MeterFlag.kbps | MeterFlag.pktps;
  if ((flags & unit) === unit)
    throw new ParseError(0, "a meter counts kilobits or packets, not both", ["kbps", "pktps"]);
  return { flags: (flags & unit) === 0 ? flags | MeterFlag.kbps : flags, meterId: id, bands: bands.map(parseBand) };
}
