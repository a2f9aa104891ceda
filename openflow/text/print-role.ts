import type { MessageOfType } from "../messages/all.ts";
import { bitNames } from "./bytes.ts";

const NO_GENERATION = 0xffff_ffff_ffff_ffffn;
const ROLES = ["nochange", "equal", "primary", "secondary"];

export function roleText(m: MessageOfType<"role_request" | "role_reply">): string {
  // A request that changes nothing has no use for a generation.
  const generation = m.type === "role_request" && m.role === 0 ? NO_GENERATION : m.generationId;
  return ` role=${ROLES[m.role]}${generation === NO_GENERATION ? "" : ` generation_id=${generation}`}`;
}

export const nxtRoleText = (m: MessageOfType<"nxt_role_request" | "nxt_role_reply">): string =>
  ` role=${ROLES[m.role + 1]}`;

const REASONS = ["primary_request", "configuration_changed", "experimenter_data_changed"];
export const roleStatusText = (m: MessageOfType<"role_status">): string =>
  ` role=${ROLES[m.role]}${m.generationId === NO_GENERATION ? "" : ` generation_id=${m.generationId}`}` +
  ` reason=${REASONS[m.reason] ?? "(unknown)"}`;

const PACKET_IN = ["no_match", "action", "invalid_ttl", "action_set", "group", "packet_out"];
const PORT = ["add", "delete", "modify"];
const REMOVED = ["idle", "hard", "delete", "group_delete", "meter_delete", "eviction"];
const ROLE = ["primary_request", "configuration_changed", "experimenter_data_changed"];
const TABLE = [undefined, undefined, undefined, "vacancy_down", "vacancy_up"];
const FORWARD = ["group_mod_request", "meter_mod_request"];

/** Reasons by kind of message, each for the primary (and equal) role and for the secondary one. */
interface AsyncMasks {
  readonly packetIn: Masks;
  readonly portStatus: Masks;
  readonly flowRemoved: Masks;
  readonly roleStatus: Masks;
  readonly tableStatus: Masks;
  readonly requestforward: Masks;
}
interface Masks {
  readonly primary: number;
  readonly secondary: number;
}

const OFF: Masks = { primary: 0, secondary: 0 };

function asyncText(masks: AsyncMasks): string {
  const reasons = (bits: number, names: readonly (string | undefined)[]): string => {
    const known = names.reduce((sum, name, i) => (name === undefined ? sum : sum | (1 << i)), 0);
    return (bits & known) === 0 ? "(off)" : bitNames(bits & known, names);
  };
  const half = (title: "primary" | "secondary"): string =>
    ` ${title}:\n` +
    `       PACKET_IN: ${reasons(masks.packetIn[title], PACKET_IN)}\n` +
    `     PORT_STATUS: ${reasons(masks.portStatus[title], PORT)}\n` +
    `    FLOW_REMOVED: ${reasons(masks.flowRemoved[title], REMOVED)}\n` +
    `     ROLE_STATUS: ${reasons(masks.roleStatus[title], ROLE)}\n` +
    `    TABLE_STATUS: ${reasons(masks.tableStatus[title], TABLE)}\n` +
    `  REQUESTFORWARD: ${reasons(masks.requestforward[title], FORWARD)}\n`;
  return `\n${half("primary")}\n${half("secondary")}`;
}

/** Bits OpenFlow 1.3 has reasons for; ovs-ofctl drops the others of packet-ins. */
const PACKET_IN_13 = 0x07;

export const asyncMasksText = (m: MessageOfType<"get_async_reply" | "set_async" | "nxt_set_async_config">): string =>
  asyncText({
    packetIn: { primary: m.packetIn.primary & PACKET_IN_13, secondary: m.packetIn.secondary & PACKET_IN_13 },
    portStatus: m.portStatus,
    flowRemoved: m.flowRemoved,
    roleStatus: OFF,
    tableStatus: OFF,
    requestforward: OFF,
  });

export function asyncPropertiesText(m: MessageOfType<"nxt_set_async_config2">): string {
  const mask = (kind: string): number => {
    let bits = 0;
    for (const p of m.properties) if (p.kind === kind && "mask" in p) bits = p.mask;
    return bits;
  };
  const masks = (kind: string): Masks => ({ primary: mask(`${kind}_primary`), secondary: mask(`${kind}_secondary`) });
  return asyncText({
    packetIn: masks("packet_in"),
    portStatus: masks("port_status"),
    flowRemoved: masks("flow_removed"),
    roleStatus: masks("role_status"),
    tableStatus: masks("table_status"),
    requestforward: masks("requestforward"),
  });
}
