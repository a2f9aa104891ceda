import type { Match } from "../match.ts";
import type { MessageOfType } from "../messages/all.ts";
import { FlowCommand, FlowFlag, NO_BUFFER } from "../messages/flow.ts";
import { GROUP_ANY } from "../messages/group.ts";
import { Port } from "../messages/port.ts";
import { TABLE_ALL } from "../messages/table.ts";
import { formatInstructions } from "./actions.ts";
import { hex } from "./bytes.ts";
import { type ActionContext, parseInstructions } from "./parse-actions.ts";
import { ParseError } from "./parse-error.ts";
import { isMatchWord, parseMatch } from "./parse-match.ts";
import { parsePort } from "./ports.ts";
import { formatPriorityMatch } from "./print-flow.ts";
import { bigInteger, integer, type KeyValue, type Piece, scan } from "./scan.ts";

type FlowMod = MessageOfType<"flow_mod">;
/** What a flow's text says; the message adds the transaction id. */
export type Flow = Omit<FlowMod, "type" | "xid">;

export type FlowCommandWord = keyof typeof FlowCommand;

const DEFAULT_PRIORITY = 0x8000;
const ALL_64 = 0xffff_ffff_ffff_ffffn;

/** Words that set a flag of OpenFlow 1.3. */
const FLAG_WORDS: Readonly<Record<string, number>> = {
  send_flow_rem: FlowFlag.sendFlowRem,
  check_overlap: FlowFlag.checkOverlap,
  reset_counts: FlowFlag.resetCounts,
  no_packet_counts: FlowFlag.noPacketCounts,
  no_byte_counts: FlowFlag.noByteCounts,
};

/** Words of a dumped flow that describe its past, and one that OpenFlow 1.3 cannot carry; read and dropped. */
const DROPPED = ["duration", "n_packets", "n_bytes", "idle_age", "hard_age", "importance"];

const OWN_WORDS = [
  "table",
  "priority",
  "cookie",
  "idle_timeout",
  "hard_timeout",
  "out_port",
  "out_group",
  ...Object.keys(FLAG_WORDS),
];

type Draft = { -readonly [K in keyof Flow]: Flow[K] };

/** `value` or, where flows are selected, `value/mask`. */
function cookie(draft: Draft, { value }: KeyValue): void {
  const slash = value.text.indexOf("/");
  if (slash < 0) {
    draft.cookie = bigInteger(value, 64, "a cookie");
    if (draft.command >= FlowCommand.delete) draft.cookieMask = ALL_64;
    return;
  }
  const mask: Piece = { text: value.text.slice(slash + 1), column: value.column + slash + 1 };
  if (draft.command === FlowCommand.add) throw new ParseError(mask.column, "a new flow's cookie has no mask", []);
  draft.cookie = bigInteger({ text: value.text.slice(0, slash), column: value.column }, 64, "a cookie");
  draft.cookieMask = mask.text === "-1" ? ALL_64 : bigInteger(mask, 64, "a cookie mask");
}

function port({ value }: KeyValue): number {
  const n = parsePort(value.text);
  if (n === undefined) throw new ParseError(value.column, `"${value.text}" is not a port`, ["NUMBER", "LOCAL", "ANY"]);
  return n;
}

/** Takes a word that is the flow's own; false for one that belongs to the match. */
function ownWord(draft: Draft, item: KeyValue): boolean {
  const flag = FLAG_WORDS[item.key];
  if (flag !== undefined) draft.flags |= flag;
  else if (item.key === "table") draft.tableId = integer(item.value, 8, "a table");
  else if (item.key === "priority") draft.priority = integer(item.value, 16, "a priority");
  else if (item.key === "cookie") cookie(draft, item);
  else if (item.key === "idle_timeout") draft.idleTimeout = integer(item.value, 16, "a timeout");
  else if (item.key === "hard_timeout") draft.hardTimeout = integer(item.value, 16, "a timeout");
  else if (item.key === "out_port") draft.outPort = port(item);
  else if (item.key === "out_group") draft.outGroup = integer(item.value, 32, "a group");
  else return DROPPED.includes(item.key);
  return true;
}

/** What the words for ports and VLANs in actions mean for this match. */
function contextOf(match: Match): ActionContext {
  let ipProto: number | undefined;
  let tagged = false;
  for (const f of match) {
    if (f.field === "nw_proto") ipProto = Number(f.value);
    else if (f.field === "vlan_vid" || f.field === "vlan_tci") tagged ||= (Number(f.value) & 0x1000) !== 0;
  }
  return { tagged, ...(ipProto === undefined ? {} : { ipProto }) };
}

const ACTIONS = /(^|[\s,])actions?\s*=/;

/**
 * Reads a flow as people type it for ovs-ofctl (ovs-ofctl(8), Flow Syntax), or as `dump-flows` prints it:
 * `table=0,priority=100,tcp,nw_dst=10.0.0.1,actions=output:2`.
 * @param command what to do with the flow; without a table, commands other than `add` mean every table
 * @throws ParseError with the column in `text`
 */
export function parseFlow(text: string, command: FlowCommandWord = "add"): Flow {
  const found = ACTIONS.exec(text);
  const head = found ? text.slice(0, found.index) : text;
  const number = FlowCommand[command];
  const removes = number >= FlowCommand.delete;
  if (!found && !removes) throw new ParseError(text.length, "a flow has actions", ["actions=…"]);
  if (found && removes) throw new ParseError(found.index, "flows to delete are named without actions", []);
  const draft: Draft = {
    cookie: 0n,
    cookieMask: 0n,
    tableId: number === FlowCommand.add ? 0 : TABLE_ALL,
    command: number,
    idleTimeout: 0,
    hardTimeout: 0,
    priority: DEFAULT_PRIORITY,
    bufferId: NO_BUFFER,
    outPort: Port.any,
    outGroup: GROUP_ANY,
    flags: 0,
    match: [],
    instructions: [],
  };
  // The flow's own words are blanked, so that columns in the rest, which is the match, stay true.
  let rest = head;
  for (const item of scan({ text: head, column: 0 })) {
    if (ownWord(draft, item)) {
      const end = item.value.text === "" ? item.column + item.key.length : item.value.column + item.value.text.length;
      rest = rest.slice(0, item.column) + " ".repeat(end - item.column) + rest.slice(end);
    } else if (!isMatchWord(item.key)) {
      throw new ParseError(item.column, `a flow has no "${item.key}"`, OWN_WORDS);
    }
  }
  draft.match = parseMatch(rest);
  if (found) {
    const at = found.index + found[0].length;
    draft.instructions = parseInstructions(text.slice(at), contextOf(draft.match), at);
  }
  return draft;
}

/**
 * A flow as `dump-flows --no-stats` prints it: `cookie=0x1, table=11, priority=100,tcp actions=output:2`.
 * {@link parseFlow} reads it back.
 */
export function formatFlow(
  f: Pick<Flow, "cookie" | "tableId" | "priority" | "match" | "instructions"> & Partial<Flow>,
): string {
  const flags = Object.entries(FLAG_WORDS).filter(([, bit]) => ((f.flags ?? 0) & bit) !== 0);
  const match = formatPriorityMatch(f.match, f.priority);
  return (
    (f.cookie === 0n ? "" : `cookie=${hex(f.cookie)}, `) +
    (f.tableId === 0 ? "" : `table=${f.tableId}, `) +
    (f.idleTimeout ? `idle_timeout=${f.idleTimeout}, ` : "") +
    (f.hardTimeout ? `hard_timeout=${f.hardTimeout}, ` : "") +
    flags.map(([word]) => `${word} `).join("") +
    `${match === "" ? "" : `${match} `}actions=${formatInstructions(f.instructions)}`
  );
}
