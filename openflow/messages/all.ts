import { bundleAddMessage, bundleControl, requestforward } from "./bundle.ts";
import type { AnyMessageDef, MessageOf } from "./define.ts";
import {
  nxstIpfixBridgeReply,
  nxstIpfixBridgeRequest,
  nxstIpfixFlowReply,
  nxstIpfixFlowRequest,
  nxtCtFlush,
  nxtCtFlushZone,
  nxtTlvTableMod,
  nxtTlvTableReply,
  nxtTlvTableRequest,
} from "./extension.ts";
import {
  aggregateStatsReply,
  aggregateStatsRequest,
  flowMod,
  flowRemoved,
  flowStatsReply,
  flowStatsRequest,
  nxtFlowAge,
  nxtFlowMod,
  nxtFlowModTableId,
  nxtFlowRemoved,
  nxtSetFlowFormat,
} from "./flow.ts";
import {
  groupDescReply,
  groupDescRequest,
  groupFeaturesReply,
  groupFeaturesRequest,
  groupMod,
  groupStatsReply,
  groupStatsRequest,
} from "./group.ts";
import {
  barrierReply,
  barrierRequest,
  echoReply,
  echoRequest,
  error,
  featuresReply,
  featuresRequest,
  getConfigReply,
  getConfigRequest,
  hello,
  setConfig,
} from "./handshake.ts";
import {
  meterConfigReply,
  meterConfigRequest,
  meterFeaturesReply,
  meterFeaturesRequest,
  meterMod,
  meterStatsReply,
  meterStatsRequest,
} from "./meter.ts";
import {
  flowMonitorCancel,
  flowMonitorPaused,
  flowMonitorReply,
  flowMonitorRequest,
  flowMonitorResumed,
} from "./monitor.ts";
import {
  nxtPacketIn,
  nxtPacketIn2,
  nxtResume,
  nxtSetControllerId,
  nxtSetPacketInFormat,
  packetIn,
  packetOut,
} from "./packet.ts";
import { portDescReply, portDescRequest, portMod, portStatsReply, portStatsRequest, portStatus } from "./port.ts";
import { queueGetConfigReply, queueGetConfigRequest, queueStatsReply, queueStatsRequest } from "./queue.ts";
import { registryOf } from "./registry.ts";
import {
  getAsyncReply,
  getAsyncRequest,
  nxtRoleReply,
  nxtRoleRequest,
  nxtSetAsyncConfig,
  nxtSetAsyncConfig2,
  roleReply,
  roleRequest,
  roleStatus,
  setAsync,
} from "./role.ts";
import {
  descReply,
  descRequest,
  tableFeaturesReply,
  tableFeaturesRequest,
  tableMod,
  tableStatsReply,
  tableStatsRequest,
} from "./table.ts";
import { experimenter, experimenterReply, experimenterRequest, type UnknownMessage } from "./unknown.ts";

/**
 * Every message kind this codec knows. The `type` of a value is the OFPT, OFPMP (with _request or _reply), ONFT or NXT
 * name in lower case; statistics are called so, and the names of Nicira's keep their nxt_ or nxst_.
 */
const definitions = [
  hello,
  error,
  echoRequest,
  echoReply,
  featuresRequest,
  featuresReply,
  getConfigRequest,
  getConfigReply,
  setConfig,
  barrierRequest,
  barrierReply,
  packetIn,
  packetOut,
  nxtPacketIn,
  nxtPacketIn2,
  nxtResume,
  nxtSetPacketInFormat,
  nxtSetControllerId,
  flowMod,
  flowRemoved,
  flowStatsRequest,
  flowStatsReply,
  aggregateStatsRequest,
  aggregateStatsReply,
  nxtFlowMod,
  nxtFlowRemoved,
  nxtFlowModTableId,
  nxtFlowAge,
  nxtSetFlowFormat,
  groupMod,
  groupStatsRequest,
  groupStatsReply,
  groupDescRequest,
  groupDescReply,
  groupFeaturesRequest,
  groupFeaturesReply,
  meterMod,
  meterStatsRequest,
  meterStatsReply,
  meterConfigRequest,
  meterConfigReply,
  meterFeaturesRequest,
  meterFeaturesReply,
  portStatus,
  portMod,
  portDescRequest,
  portDescReply,
  portStatsRequest,
  portStatsReply,
  tableMod,
  tableStatsRequest,
  tableStatsReply,
  tableFeaturesRequest,
  tableFeaturesReply,
  descRequest,
  descReply,
  queueGetConfigRequest,
  queueGetConfigReply,
  queueStatsRequest,
  queueStatsReply,
  roleRequest,
  roleReply,
  nxtRoleRequest,
  nxtRoleReply,
  roleStatus,
  getAsyncRequest,
  getAsyncReply,
  setAsync,
  nxtSetAsyncConfig,
  nxtSetAsyncConfig2,
  bundleControl,
  bundleAddMessage,
  requestforward,
  flowMonitorRequest,
  flowMonitorReply,
  flowMonitorCancel,
  flowMonitorPaused,
  flowMonitorResumed,
  nxtTlvTableMod,
  nxtTlvTableRequest,
  nxtTlvTableReply,
  nxtCtFlushZone,
  nxtCtFlush,
  nxstIpfixBridgeRequest,
  nxstIpfixBridgeReply,
  nxstIpfixFlowRequest,
  nxstIpfixFlowReply,
  experimenter,
  experimenterRequest,
  experimenterReply,
] as const satisfies readonly AnyMessageDef[];

type Known = MessageOf<(typeof definitions)[number]>;
type Hello = Extract<Known, { readonly type: "hello" }>;

/** A message as a value; u64 fields are bigint. Only a HELLO may have a version other than 4. */
export type Message =
  | Exclude<Known, { readonly type: "hello" }>
  | (Hello & { readonly version?: number })
  | UnknownMessage;
export type MessageType = Message["type"];

/** The message of one type. */
export type MessageOfType<T extends MessageType> = Extract<Message, { readonly type: T }>;

export const messages = registryOf(definitions);
