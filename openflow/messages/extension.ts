import { bytes, pad, u8, u16, u32, u64 } from "../schema/codec.ts";
import { propertyRules, propertyU8, propertyU16 } from "../schema/property.ts";
import { listOf, struct } from "../schema/struct.ts";
import { nested, tlvList, type Unknown, type ValueOf, variant } from "../schema/tlv.ts";
import {
  Experimenter,
  experimenterMessage,
  experimenterMultipart,
  MULTIPART_REPLY,
  MULTIPART_REQUEST,
} from "./define.ts";

/*
 * Nicira's messages without an OpenFlow counterpart: Geneve option mappings, connection tracking, IPFIX statistics.
 */

const { nicira } = Experimenter;

/** NXTTMC_*. */
export const TlvTableCommand = { add: 0, delete: 1, clear: 2 } as const;

/** One Geneve option (class, type, bytes of data) and the tun_metadata field it is seen in. */
const mapping = struct({ optionClass: u16, optionType: u8, optionLength: u8, index: u16, _: pad(2) });

export const nxtTlvTableMod = experimenterMessage(
  nicira,
  24,
  "nxt_tlv_table_mod",
  "NXT_TLV_TABLE_MOD",
  { command: u16, _: pad(6), mappings: listOf(mapping) },
  { unit: 8 },
);
export const nxtTlvTableRequest = experimenterMessage(nicira, 25, "nxt_tlv_table_request", "NXT_TLV_TABLE_REQUEST", {});
export const nxtTlvTableReply = experimenterMessage(
  nicira,
  26,
  "nxt_tlv_table_reply",
  "NXT_TLV_TABLE_REPLY",
  { maxSpace: u32, maxFields: u16, _: pad(10), mappings: listOf(mapping) },
  { unit: 8 },
);

/** Forgets every connection of a zone. */
export const nxtCtFlushZone = experimenterMessage(nicira, 29, "nxt_ct_flush_zone", "NXT_CT_FLUSH_ZONE", {
  _: pad(6),
  zoneId: u16,
});

const none = (): string => "";
/** Addresses have 16 bytes, IPv4 ones mapped into IPv6 (RFC 4291 §2.5.5.2). */
const tuple = [
  variant(0, "src", { address: bytes(16) }, none),
  variant(1, "dst", { address: bytes(16) }, none),
  variant(2, "src_port", { port: propertyU16 }, none),
  variant(3, "dst_port", { port: propertyU16 }, none),
  variant(4, "icmp_id", { id: propertyU16 }, none),
  variant(5, "icmp_type", { icmpType: propertyU8 }, none),
  variant(6, "icmp_code", { icmpCode: propertyU8 }, none),
] as const;
export type CtTupleProperty = ValueOf<(typeof tuple)[number]> | Unknown;
const tupleProperties = tlvList(tuple, propertyRules);
const nestedTuple = { _: pad(4), tuple: nested(() => tupleProperties) } as const;

const flush = [
  variant(0, "orig", nestedTuple, none),
  variant(1, "reply", nestedTuple, none),
  variant(2, "zone", { zoneId: propertyU16 }, none),
] as const;

/** Forgets the connections whose original and reply tuples have the given members. */
export const nxtCtFlush = experimenterMessage(
  nicira,
  32,
  "nxt_ct_flush",
  "NXT_CT_FLUSH",
  { ipProto: u8, _: pad(7), properties: tlvList(flush, propertyRules) },
  { unit: 8, zero: [17, 24] },
);

const ipfix = {
  totalFlows: u64,
  currentFlows: u64,
  packets: u64,
  ipv4Packets: u64,
  ipv6Packets: u64,
  errorPackets: u64,
  ipv4ErrorPackets: u64,
  ipv6ErrorPackets: u64,
  txPackets: u64,
  txErrors: u64,
  collectorSetId: u32,
  _: pad(4),
} as const;

export const nxstIpfixBridgeRequest = experimenterMultipart(
  MULTIPART_REQUEST,
  nicira,
  3,
  "nxst_ipfix_bridge_request",
  "NXST_IPFIX_BRIDGE request",
  {},
);
export const nxstIpfixBridgeReply = experimenterMultipart(
  MULTIPART_REPLY,
  nicira,
  3,
  "nxst_ipfix_bridge_reply",
  "NXST_IPFIX_BRIDGE reply",
  ipfix,
);
export const nxstIpfixFlowRequest = experimenterMultipart(
  MULTIPART_REQUEST,
  nicira,
  4,
  "nxst_ipfix_flow_request",
  "NXST_IPFIX_FLOW request",
  {},
);
export const nxstIpfixFlowReply = experimenterMultipart(
  MULTIPART_REPLY,
  nicira,
  4,
  "nxst_ipfix_flow_reply",
  "NXST_IPFIX_FLOW reply",
  { ids: listOf(struct(ipfix)) },
  { unit: 88 },
);
