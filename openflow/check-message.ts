import { checkActions, checkInstructions, inOrder } from "./check.ts";
import { checkContext } from "./check-context.ts";
import { checkMatch } from "./check-match.ts";
import { readCtFlush } from "./ct-flush.ts";
import { DecodeError } from "./errors.ts";
import type { Message, MessageOfType } from "./messages/all.ts";
import { EXPERIMENTER_MESSAGE, Experimenter } from "./messages/define.ts";
import { TlvTableCommand } from "./messages/extension.ts";
import { FlowCommand } from "./messages/flow.ts";
import { GROUP_ANY, GroupCommand, GroupType } from "./messages/group.ts";
import { MeterCommand, MeterFlag } from "./messages/meter.ts";
import { Port, PortReason } from "./messages/port.ts";

type Check = DecodeError | undefined;

const refuse = (code: string, detail: string): DecodeError => new DecodeError(code, 0, detail);

/** The first refusal among `items`. */
function first<T>(items: readonly T[], check: (item: T) => Check): Check {
  for (const item of items) {
    const error = check(item);
    if (error) return error;
  }
  return undefined;
}

const FIRST_RESERVED_10 = 0xff00;
const ALL_TABLES = 0xff;

/** Port numbers between the end of OpenFlow 1.0's and the reserved ones of OpenFlow 1.1 mean nothing. */
const checkPort = (port: number): Check =>
  port < FIRST_RESERVED_10 || port >= Port.max ? undefined : refuse("OFPBAC_BAD_OUT_PORT", `port ${port}`);

const KNOWN_FLAGS = 0x1f;
const checkFlags = (flags: number): Check =>
  (flags & ~KNOWN_FLAGS) === 0 ? undefined : refuse("OFPFMFC_BAD_FLAGS", `flags ${flags}`);

function checkFlowMod(m: MessageOfType<"flow_mod">): Check {
  const command =
    m.command > FlowCommand.deleteStrict ? refuse("OFPFMFC_BAD_COMMAND", `command ${m.command}`) : undefined;
  const adds = m.command < FlowCommand.delete;
  return (
    checkMatch(m.match) ??
    checkPort(m.outPort) ??
    checkInstructions(m.instructions) ??
    checkFlags(m.flags) ??
    command ??
    (m.tableId === ALL_TABLES && adds ? refuse("OFPFMFC_BAD_TABLE_ID", "no single table named") : undefined) ??
    checkContext(inOrder(m.instructions), m.match, m.tableId === ALL_TABLES ? undefined : m.tableId)
  );
}

function checkNxtFlowMod(m: MessageOfType<"nxt_flow_mod">): Check {
  const [tableId, command] = [m.command >> 8, m.command & 0xff];
  const list = inOrder(m.instructions);
  return (
    checkMatch(m.match) ??
    checkInstructions(m.instructions) ??
    checkFlags(m.flags) ??
    (command > FlowCommand.deleteStrict ? refuse("OFPFMFC_BAD_COMMAND", `command ${command}`) : undefined) ??
    checkContext(list, m.match, tableId === ALL_TABLES ? undefined : tableId)
  );
}

function checkGroupMod(m: MessageOfType<"group_mod">): Check {
  if (m.command > GroupCommand.delete) return refuse("OFPGMFC_BAD_COMMAND", `command ${m.command}`);
  const error = checkBuckets(m.buckets);
  if (error) return error;
  if (m.groupType > GroupType.ff) return refuse("OFPGMFC_BAD_TYPE", `type ${m.groupType}`);
  if (m.groupType === GroupType.indirect && m.command !== GroupCommand.delete && m.buckets.length !== 1) {
    return refuse("OFPGMFC_INVALID_GROUP", "an indirect group has one bucket");
  }
  return first(m.buckets, (b) => {
    const watched = b.watchPort !== Port.any || b.watchGroup !== GROUP_ANY;
    if (m.groupType !== GroupType.select && b.weight !== 0) {
      return refuse("OFPGMFC_INVALID_GROUP", "only a select group's buckets have weights");
    }
    if (m.groupType === GroupType.ff && !watched) return refuse("OFPGMFC_INVALID_GROUP", "a bucket watches nothing");
    if (m.groupType !== GroupType.ff && m.groupType !== GroupType.select && watched) {
      return refuse("OFPGMFC_WATCH_UNSUPPORTED", "only fast failover and select groups watch");
    }
    return undefined;
  });
}

type Bucket = MessageOfType<"group_mod">["buckets"][number];

const checkBuckets = (buckets: readonly Bucket[]): Check =>
  first(buckets, (b) => {
    const port = b.watchPort === Port.any ? undefined : checkPort(b.watchPort);
    if (port) return refuse("OFPGMFC_BAD_WATCH", `port ${b.watchPort}`);
    return checkActions(b.actions);
  });

function checkBands(bands: MessageOfType<"meter_mod">["bands"]): Check {
  return first(bands, (b) => (b.kind === "unknown" ? refuse("OFPMMFC_BAD_BAND", `band type ${b.type}`) : undefined));
}

function checkMeterMod(m: MessageOfType<"meter_mod">): Check {
  if (m.command > MeterCommand.delete) return refuse("OFPMMFC_BAD_COMMAND", `command ${m.command}`);
  if (m.command === MeterCommand.delete) return undefined;
  const both = MeterFlag.kbps | MeterFlag.pktps;
  return (
    checkBands(m.bands) ??
    ((m.flags & both) === both ? refuse("OFPMMFC_BAD_FLAGS", "kilobits or packets, not both") : undefined)
  );
}

const NXT_FORMATS = 3;
const OFP_ROLES = 4;
const NX_ROLES = 3;
const CONFIG_FLAGS = 0x03;

/** A field of packet-ins whose match only reports: unknown fields do not matter. */
const reported = (m: { readonly match: MessageOfType<"packet_in">["match"] }): Check =>
  checkMatch(m.match, { loose: true });

function checkPacketInProperties(m: MessageOfType<"nxt_packet_in2" | "nxt_resume">): Check {
  const error = first(m.properties, (p) => (p.kind === "metadata" ? reported(p) : undefined));
  const packet = m.properties.some((p) => p.kind === "packet" && p.data.length > 0);
  return error ?? (packet ? undefined : refuse("OFPBRC_BAD_LEN", "no packet"));
}

const ASYNC_MASKS: Readonly<Record<string, number>> = {
  packet_in: 0x07,
  port_status: 0x07,
  flow_removed: 0x3f,
  role_status: 0x07,
  table_status: 0x18,
  requestforward: 0x03,
};

function checkAsyncProperties(m: MessageOfType<"nxt_set_async_config2">): Check {
  return first(m.properties, (p) => {
    if (p.kind === "unknown") {
      return p.type === 0xffff
        ? refuse("OFPBPC_BAD_EXP_TYPE", "property of an experimenter")
        : refuse("OFPACFC_UNSUPPORTED", `property ${p.type}`);
    }
    const known = ASYNC_MASKS[p.kind.replace(/_(primary|secondary)$/, "")] ?? 0;
    return (p.mask & ~known) === 0 ? undefined : refuse("OFPACFC_INVALID", `${p.kind}: mask ${p.mask}`);
  });
}

const MONITOR_FLAGS = 0x3f;
const MONITOR_EVENTS = 0x0e;

function checkMonitors(m: MessageOfType<"flow_monitor_request">): Check {
  return first(m.monitors, (r) => {
    if ((r.flags & ~MONITOR_FLAGS) !== 0 || (r.flags & MONITOR_EVENTS) === 0) {
      return refuse("OFPMOFC_BAD_FLAGS", `flags ${r.flags}`);
    }
    return checkPort(r.outPort) ?? checkMatch(r.match);
  });
}

const MAX_OPTION = 124;
const OPTION_FIELDS = 64;

type Mapping = MessageOfType<"nxt_tlv_table_mod">["mappings"][number];

const checkOption = (r: Mapping): Check =>
  r.optionLength % 4 !== 0 || r.optionLength > MAX_OPTION
    ? refuse("NXTTMFC_BAD_OPT_LEN", `${r.optionLength} bytes`)
    : undefined;

const checkMapping = (r: Mapping): Check =>
  checkOption(r) ?? (r.index >= OPTION_FIELDS ? refuse("NXTTMFC_BAD_FIELD_IDX", `index ${r.index}`) : undefined);

/** Properties that a description of a table must have. */
const REQUIRED = [
  "instructions",
  "next_tables",
  "write_actions",
  "apply_actions",
  "match",
  "wildcards",
  "write_set_field",
  "apply_set_field",
];

function checkTables(tables: MessageOfType<"table_features_reply">["tables"]): Check {
  return first(tables, (t) => {
    const kinds = t.properties.filter((p) => p.kind !== "unknown").map((p) => p.kind as string);
    if (new Set(kinds).size !== kinds.length) return refuse("OFPTFFC_BAD_FEATURES", "a property twice");
    const missing = REQUIRED.find((kind) => !kinds.includes(kind));
    return missing === undefined ? undefined : refuse("OFPTFFC_BAD_FEATURES", `no property ${missing}`);
  });
}

/** What an unknown experimenter message is refused with: his id, or the type of a known one. */
function checkExperimenter(id: number): DecodeError {
  return id === Experimenter.nicira || id === Experimenter.onf
    ? refuse("OFPBRC_BAD_SUBTYPE", `no such message of experimenter ${id}`)
    : refuse("OFPBRC_BAD_VENDOR", `experimenter ${id}`);
}

/**
 * The error with which Open vSwitch would refuse a well-formed message for what it says, or undefined. What depends on
 * the state of a switch (a full table, an unknown group) is not seen here.
 */
export function checkMessage(m: Message): DecodeError | undefined {
  switch (m.type) {
    case "unknown":
      return m.ofType === EXPERIMENTER_MESSAGE
        ? refuse("OFPBRC_BAD_LEN", "no room for an experimenter")
        : refuse(m.ofType === 18 || m.ofType === 19 ? "OFPBRC_BAD_STAT" : "OFPBRC_BAD_TYPE", `type ${m.ofType}`);
    case "experimenter":
    case "experimenter_request":
    case "experimenter_reply":
      return checkExperimenter(m.experimenter);
    case "nxt_set_flow_format":
      return refuse("OFPBRC_BAD_SUBTYPE", "OpenFlow 1.0 only");
    case "flow_mod":
      return checkFlowMod(m);
    case "nxt_flow_mod":
      return checkNxtFlowMod(m);
    case "flow_removed":
    case "nxt_flow_removed":
      return checkMatch(m.match);
    case "flow_stats_request":
    case "aggregate_stats_request":
      return checkPort(m.outPort) ?? checkMatch(m.match);
    case "flow_stats_reply":
      return first(m.flows, (f) => checkMatch(f.match) ?? checkInstructions(f.instructions) ?? checkFlags(f.flags));
    case "packet_in":
    case "nxt_packet_in":
      return reported(m);
    case "nxt_packet_in2":
    case "nxt_resume":
      return checkPacketInProperties(m);
    case "packet_out":
      return checkPacketOut(m);
    case "group_mod":
      return checkGroupMod(m);
    case "group_desc_reply":
      return first(m.groups, (g) => checkBuckets(g.buckets));
    case "meter_mod":
      return checkMeterMod(m);
    case "meter_config_reply":
      return first(m.meters, (c) => checkBands(c.bands));
    case "port_status":
      return m.reason > PortReason.modify ? refuse("NXBRC_BAD_REASON", `reason ${m.reason}`) : checkPort(m.port.portNo);
    case "port_desc_reply":
      return first(m.ports, (p) => checkPort(p.portNo));
    case "port_mod":
      return checkPort(m.portNo);
    case "port_stats_request":
      return checkPort(m.portNo);
    case "port_stats_reply":
      return first(m.ports, (p) => checkPort(p.portNo));
    case "queue_get_config_request":
    case "queue_get_config_reply":
      return checkPort(m.port);
    case "queue_stats_request":
      return checkPort(m.portNo);
    case "queue_stats_reply":
      return first(m.queues, (q) => checkPort(q.portNo));
    case "table_features_request":
    case "table_features_reply":
      return checkTables(m.tables);
    case "set_config":
      return (m.flags & ~CONFIG_FLAGS) === 0 ? undefined : refuse("OFPSCFC_BAD_FLAGS", `flags ${m.flags}`);
    case "role_request":
    case "role_reply":
      return m.role < OFP_ROLES ? undefined : refuse("OFPRRFC_BAD_ROLE", `role ${m.role}`);
    case "nxt_role_request":
    case "nxt_role_reply":
      return m.role < NX_ROLES ? undefined : refuse("OFPRRFC_BAD_ROLE", `role ${m.role}`);
    case "role_status":
      return m.role < OFP_ROLES ? undefined : refuse("OFPRRFC_BAD_ROLE", `role ${m.role}`);
    case "nxt_set_async_config2":
      return checkAsyncProperties(m);
    case "nxt_set_packet_in_format":
      return m.format < NXT_FORMATS ? undefined : refuse("OFPBRC_EPERM", `format ${m.format}`);
    case "bundle_add_message":
      return m.message.type === "unknown"
        ? refuse("OFPBFC_MSG_UNSUP", `type ${m.message.ofType} in a bundle`)
        : checkMessage(m.message);
    case "requestforward":
      return m.message.type === "unknown"
        ? refuse("OFPBFC_MSG_UNSUP", `type ${m.message.ofType} forwarded`)
        : checkMessage(m.message);
    case "flow_monitor_request":
      return checkMonitors(m);
    case "flow_monitor_reply":
      return first(m.updates, (u) =>
        u.event === "abbrev" ? undefined : (checkMatch(u.match) ?? checkInstructions(u.instructions)),
      );
    case "nxt_tlv_table_mod":
      if (m.command > TlvTableCommand.clear) return refuse("NXTTMFC_BAD_COMMAND", `command ${m.command}`);
      return m.command === TlvTableCommand.clear ? undefined : first(m.mappings, checkMapping);
    case "nxt_tlv_table_reply":
      return first(m.mappings, checkOption);
    case "nxt_ct_flush":
      return readCtFlush(m) ? undefined : refuse("OFPBPC_BAD_VALUE", "IPv4 and IPv6 mixed");
    default:
      return undefined;
  }
}

function checkPacketOut(m: MessageOfType<"packet_out">): Check {
  const reserved = m.inPort >= Port.max && m.inPort !== Port.local && m.inPort !== Port.controller;
  const error = checkPort(m.inPort);
  if (error) return error;
  if (reserved && m.inPort !== Port.any) return refuse("OFPBRC_BAD_PORT", `port ${m.inPort}`);
  return checkActions(m.actions);
}
