import type { Match } from "../match.ts";
import type { MessageOfType } from "../messages/all.ts";
import { FlowCommand } from "../messages/flow.ts";
import { formatInstructions } from "./actions.ts";
import { duration, hex } from "./bytes.ts";
import { formatMatch } from "./match.ts";
import { widenPort } from "./output.ts";
import { formatPort } from "./ports.ts";

const DEFAULT_PRIORITY = 0x8000;
const ANY = 0xffff_ffff;
const ALL_TABLES = 0xff;

/** A match with its priority first, which is left out when it is the default. */
export function formatPriorityMatch(match: Match, priority: number): string {
  const text = formatMatch(match);
  if (priority === DEFAULT_PRIORITY) return text;
  return text === "" ? `priority=${priority}` : `priority=${priority},${text}`;
}

/** Ends in a space unless empty. */
const spaced = (text: string): string => (text === "" ? "" : `${text} `);

const FLAGS = ["send_flow_rem", "check_overlap", "reset_counts", "no_packet_counts", "no_byte_counts"];
const flags = (bits: number): string => FLAGS.map((name, i) => ((bits & (1 << i)) === 0 ? "" : `${name} `)).join("");

const COMMANDS = ["ADD", "MOD", "MOD_STRICT", "DEL", "DEL_STRICT"];

/** Fields of both FLOW_MOD formats that print alike. */
interface FlowModText {
  readonly command: number;
  readonly tableId: number;
  readonly match: string;
  /** The cookie the flow gets. */
  readonly newCookie: bigint;
  /** The cookie that selects flows to change. */
  readonly cookie: bigint;
  readonly cookieMask: bigint;
  readonly idleTimeout: number;
  readonly hardTimeout: number;
  readonly bufferId: number;
  readonly outPort: number;
  readonly flags: number;
  readonly actions: string;
}

const NO_COOKIE = 0xffff_ffff_ffff_ffffn;

function flowModText(f: FlowModText): string {
  let out = ` ${COMMANDS[f.command]}`;
  if (f.tableId !== 0) out += ` table:${f.tableId}`;
  out += ` ${spaced(f.match)}`;
  if (f.newCookie !== 0n && f.newCookie !== NO_COOKIE) out += `cookie:${hex(f.newCookie)} `;
  if (f.cookieMask !== 0n) out += `cookie:${hex(f.cookie)}/${hex(f.cookieMask)} `;
  if (f.idleTimeout !== 0) out += `idle:${f.idleTimeout} `;
  if (f.hardTimeout !== 0) out += `hard:${f.hardTimeout} `;
  if (f.bufferId !== ANY) out += `buf:${hex(f.bufferId)} `;
  if (f.outPort !== ANY) out += `out_port:${formatPort(f.outPort)} `;
  return `${out}${flags(f.flags)}actions=${f.actions}`;
}

/** A FLOW_MOD's one cookie is given by an ADD; by other commands it selects flows. */
export function flowModMessageText(m: MessageOfType<"flow_mod">): string {
  const adds = m.command === FlowCommand.add;
  return flowModText({
    ...m,
    newCookie: adds ? m.cookie : NO_COOKIE,
    cookieMask: adds ? 0n : m.cookieMask,
    match: formatPriorityMatch(m.match, m.priority),
    actions: formatInstructions(m.instructions),
  });
}

export const nxtFlowModText = (m: MessageOfType<"nxt_flow_mod">): string =>
  flowModText({
    ...m,
    command: m.command & 0xff,
    tableId: m.command >> 8,
    match: formatPriorityMatch(m.match, m.priority),
    newCookie: m.cookie,
    cookieMask: 0n,
    outPort: widenPort(m.outPort),
    actions: formatInstructions(m.instructions),
  });

const REASONS = ["idle", "hard", "delete", "group_delete", "meter_delete", "eviction"];
/** Why a flow went away. */
export const removedReason = (reason: number): string => REASONS[reason] ?? String(reason);

interface RemovedText
  extends Pick<
    MessageOfType<"flow_removed">,
    | "cookie"
    | "durationSec"
    | "durationNsec"
    | "idleTimeout"
    | "packetCount"
    | "byteCount"
    | "reason"
    | "match"
    | "priority"
  > {
  readonly hardTimeout: number;
  readonly tableId: number;
}

const removedText = (m: RemovedText): string =>
  ` ${formatPriorityMatch(m.match, m.priority)} reason=${removedReason(m.reason)}` +
  (m.tableId === ALL_TABLES ? "" : ` table_id=${m.tableId}`) +
  (m.cookie === 0n ? "" : ` cookie:${hex(m.cookie)}`) +
  ` duration${duration(m.durationSec, m.durationNsec)} idle${m.idleTimeout}` +
  (m.hardTimeout === 0 ? "" : ` hard${m.hardTimeout}`) +
  ` pkts${m.packetCount} bytes${m.byteCount}\n`;

export const flowRemovedText = (m: MessageOfType<"flow_removed">): string => removedText(m);
export const nxtFlowRemovedText = (m: MessageOfType<"nxt_flow_removed">): string =>
  removedText({ ...m, hardTimeout: 0, tableId: m.tableIdPlusOne === 0 ? ALL_TABLES : m.tableIdPlusOne - 1 });

export const flowRequestText = (m: MessageOfType<"flow_stats_request" | "aggregate_stats_request">): string =>
  (m.tableId === ALL_TABLES ? "" : ` table=${m.tableId}`) +
  (m.outPort === ANY ? "" : ` out_port=${formatPort(m.outPort)}`) +
  ` ${formatMatch(m.match)}`;

type FlowStats = MessageOfType<"flow_stats_reply">["flows"][number];

/** One flow as dump-flows prints it. */
function formatFlowStats(f: FlowStats): string {
  let out = `cookie=${hex(f.cookie)}, duration=${duration(f.durationSec, f.durationNsec)}, table=${f.tableId}, `;
  out += `n_packets=${f.packetCount}, n_bytes=${f.byteCount}, `;
  if (f.idleTimeout !== 0) out += `idle_timeout=${f.idleTimeout}, `;
  if (f.hardTimeout !== 0) out += `hard_timeout=${f.hardTimeout}, `;
  out += flags(f.flags);
  return `${out}${spaced(formatPriorityMatch(f.match, f.priority))}actions=${formatInstructions(f.instructions)}`;
}

export const flowStatsText = (m: MessageOfType<"flow_stats_reply">): string =>
  m.flows.map((f) => `\n ${formatFlowStats(f)}`).join("");

export const aggregateText = (m: MessageOfType<"aggregate_stats_reply">): string =>
  ` packet_count=${m.packetCount} byte_count=${m.byteCount} flow_count=${m.flowCount}`;
