import type { MessageOfType } from "../messages/all.ts";
import { TlvTableCommand } from "../messages/extension.ts";
import { formatInstructions } from "./actions.ts";
import { bitNames, hex, hexOrZero } from "./bytes.ts";
import { formatMatch } from "./match.ts";
import { formatPort } from "./ports.ts";
import { removedReason } from "./print-flow.ts";

const ANY = 0xffff_ffff;
const ALL_TABLES = 0xff;

const MONITOR = ["initial", "add", "delete", "modify", "actions", "own"];
export function monitorRequestText(m: MessageOfType<"flow_monitor_request">): string {
  return m.monitors
    .map((r) => {
      const port = r.outPort === ANY ? "" : ` out_port=${formatPort(r.outPort)}`;
      const table = r.tableId === ALL_TABLES ? "" : ` table=${r.tableId}`;
      const match = formatMatch(r.match);
      return `\n id=${r.monitorId} flags=${bitNames(r.flags, MONITOR, ",")}${port}${table}${match === "" ? "" : ` ${match}`}`;
    })
    .join("");
}

type Update = MessageOfType<"flow_monitor_reply">["updates"][number];

function updateText(u: Update): string {
  if (u.event === "abbrev") return `\n event=ABBREV xid=${hex(u.xid)}`;
  let out = `\n event=${u.event.toUpperCase()}`;
  if (u.event === "deleted") out += ` reason=${removedReason(u.reason)}`;
  out += ` table=${u.tableId}`;
  if (u.idleTimeout !== 0) out += ` idle_timeout=${u.idleTimeout}`;
  if (u.hardTimeout !== 0) out += ` hard_timeout=${u.hardTimeout}`;
  out += ` cookie=${hexOrZero(u.cookie)}`;
  const match = formatMatch(u.match);
  out += ` ${match}`;
  if (u.instructions.length === 0) return out;
  return `${out}${match === "" ? "" : " "}actions=${formatInstructions(u.instructions)}`;
}

export const monitorReplyText = (m: MessageOfType<"flow_monitor_reply">): string => m.updates.map(updateText).join("");

const TLV_COMMANDS = ["ADD", "DEL", "CLEAR"];

type Mapping = MessageOfType<"nxt_tlv_table_reply">["mappings"][number];

function mappingTable(mappings: readonly Mapping[]): string {
  const cell = (text: string, width: number): string => text.padStart(width);
  const rows = mappings.map(
    (r) =>
      ` ${cell(hexOrZero(r.optionClass), 6)}  ${cell(hexOrZero(r.optionType), 4)}  ${cell(String(r.optionLength), 6)}  tun_metadata${r.index}\n`,
  );
  return ` mapping table:\n  class  type  length  match field\n ------  ----  ------  --------------\n${rows.join("")}`;
}

export const tlvTableModText = (m: MessageOfType<"nxt_tlv_table_mod">): string =>
  m.command === TlvTableCommand.clear ? "\n CLEAR" : `\n ${TLV_COMMANDS[m.command]}${mappingTable(m.mappings)}`;

export function tlvTableReplyText(m: MessageOfType<"nxt_tlv_table_reply">): string {
  const used = m.mappings.reduce((sum, r) => sum + r.optionLength, 0);
  return (
    `\n max option space=${m.maxSpace} max fields=${m.maxFields}\n allocated option space=${used}\n\n` +
    mappingTable(m.mappings)
  );
}

type Ipfix = MessageOfType<"nxst_ipfix_flow_reply">["ids"][number];

function ipfixText(title: string, indent: string, s: Ipfix): string {
  return (
    `${title}flows=${s.totalFlows}, current flows=${s.currentFlows}, sampled pkts=${s.packets}, ` +
    `ipv4 ok=${s.ipv4Packets}, ipv6 ok=${s.ipv6Packets}, tx pkts=${s.txPackets}\n` +
    `${indent}pkts errs=${s.errorPackets}, ipv4 errs=${s.ipv4ErrorPackets}, ` +
    `ipv6 errs=${s.ipv6ErrorPackets}, tx errs=${s.txErrors}\n`
  );
}

export const ipfixBridgeText = (m: MessageOfType<"nxst_ipfix_bridge_reply">): string =>
  `\n${ipfixText("  bridge ipfix: ", " ".repeat(16), m)}`;

export const ipfixFlowText = (m: MessageOfType<"nxst_ipfix_flow_reply">): string =>
  ` ${m.ids.length} ids\n${m.ids.map((s) => ipfixText(`  id ${String(s.collectorSetId).padStart(3)}: `, " ".repeat(10), s)).join("")}`;
