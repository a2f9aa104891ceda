import type { Message, MessageOfType, MessageType } from "../messages/all.ts";
import * as meter from "./meter.ts";
import { formatPort } from "./ports.ts";
import * as ctFlush from "./print-ct-flush.ts";
import * as extension from "./print-extension.ts";
import * as flow from "./print-flow.ts";
import * as group from "./print-group.ts";
import * as handshake from "./print-handshake.ts";
import * as packet from "./print-packet.ts";
import * as port from "./print-port.ts";
import * as role from "./print-role.ts";
import * as table from "./print-table.ts";

const nothing = (): string => "";

/** Kinds whose text needs their bytes or the place they are printed in; print.ts has them. */
type FromBytes = "hello" | "error" | "echo_request" | "echo_reply" | "bundle_add_message" | "unknown";

type Printers = {
  readonly [K in Exclude<MessageType, FromBytes>]: (m: MessageOfType<K>) => string;
};

/** What follows the heading of each kind of message. */
const printers: Printers = {
  features_request: nothing,
  features_reply: handshake.featuresText,
  get_config_request: nothing,
  get_config_reply: handshake.configText,
  set_config: handshake.configText,
  barrier_request: nothing,
  barrier_reply: nothing,
  packet_in: packet.packetInMessageText,
  packet_out: packet.packetOutText,
  nxt_packet_in: packet.nxtPacketInText,
  nxt_packet_in2: packet.nxtPacketIn2Text,
  nxt_resume: packet.nxtPacketIn2Text,
  nxt_set_packet_in_format: (m) => ` format=${["standard", "nxt_packet_in", "nxt_packet_in2"][m.format]}`,
  nxt_set_controller_id: (m) => ` id=${m.controllerId}`,
  flow_mod: flow.flowModMessageText,
  flow_removed: flow.flowRemovedText,
  flow_stats_request: flow.flowRequestText,
  flow_stats_reply: flow.flowStatsText,
  aggregate_stats_request: flow.flowRequestText,
  aggregate_stats_reply: flow.aggregateText,
  nxt_flow_mod: flow.nxtFlowModText,
  nxt_flow_removed: flow.nxtFlowRemovedText,
  nxt_flow_mod_table_id: (m) => (m.enable === 0 ? " disable" : " enable"),
  nxt_flow_age: nothing,
  nxt_set_flow_format: nothing,
  group_mod: group.groupModText,
  group_stats_request: group.groupRequestText,
  group_stats_reply: group.groupStatsText,
  group_desc_request: () => " group_id=ALL",
  group_desc_reply: group.groupDescText,
  group_features_request: nothing,
  group_features_reply: group.groupFeaturesText,
  meter_mod: meter.meterModText,
  meter_stats_request: meter.meterRequestText,
  meter_stats_reply: meter.meterStatsText,
  meter_config_request: meter.meterRequestText,
  meter_config_reply: meter.meterConfigText,
  meter_features_request: nothing,
  meter_features_reply: meter.meterFeaturesText,
  port_status: port.portStatusText,
  port_mod: port.portModText,
  port_desc_request: () => " port=ANY",
  port_desc_reply: port.portDescText,
  port_stats_request: (m) => ` port_no=${formatPort(m.portNo)}`,
  port_stats_reply: port.portStatsText,
  table_mod: (m) => (m.tableId === 0xff ? " table_id: ALL_TABLES" : ` table_id=${m.tableId}`),
  table_stats_request: nothing,
  table_stats_reply: table.tableStatsText,
  table_features_request: (m) => (m.tables.length === 0 ? "" : table.tableFeaturesText(m)),
  table_features_reply: table.tableFeaturesText,
  desc_request: nothing,
  desc_reply: handshake.descText,
  queue_get_config_request: (m) => ` port=${formatPort(m.port)}`,
  queue_get_config_reply: port.queueConfigText,
  queue_stats_request: port.queueStatsRequestText,
  queue_stats_reply: port.queueStatsText,
  role_request: role.roleText,
  role_reply: role.roleText,
  nxt_role_request: role.nxtRoleText,
  nxt_role_reply: role.nxtRoleText,
  role_status: role.roleStatusText,
  get_async_request: nothing,
  get_async_reply: role.asyncMasksText,
  set_async: role.asyncMasksText,
  nxt_set_async_config: role.asyncMasksText,
  nxt_set_async_config2: role.asyncPropertiesText,
  bundle_control: handshake.bundleControlText,
  requestforward: (m) => {
    if (m.message.type === "group_mod") return ` reason=group_mod${group.groupModText(m.message)}`;
    return m.message.type === "meter_mod" ? ` reason=meter_mod${meter.meterModText(m.message)}` : "";
  },
  flow_monitor_request: extension.monitorRequestText,
  flow_monitor_reply: extension.monitorReplyText,
  flow_monitor_cancel: (m) => ` id=${m.monitorId}`,
  flow_monitor_paused: nothing,
  flow_monitor_resumed: nothing,
  nxt_tlv_table_mod: extension.tlvTableModText,
  nxt_tlv_table_request: nothing,
  nxt_tlv_table_reply: extension.tlvTableReplyText,
  nxt_ct_flush_zone: (m) => ` zone_id=${m.zoneId}`,
  nxt_ct_flush: ctFlush.ctFlushText,
  nxst_ipfix_bridge_request: nothing,
  nxst_ipfix_bridge_reply: extension.ipfixBridgeText,
  nxst_ipfix_flow_request: nothing,
  nxst_ipfix_flow_reply: extension.ipfixFlowText,
  experimenter: nothing,
  experimenter_request: nothing,
  experimenter_reply: nothing,
};

/** The text after a message's heading. */
export function bodyText(m: Exclude<Message, { readonly type: FromBytes }>): string {
  // The table's type pairs each printer with its own message; a lookup by a union of names cannot show that.
  return (printers[m.type] as (m: Message) => string)(m);
}
