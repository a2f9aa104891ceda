import type { MessageOfType } from "../messages/all.ts";
import { GROUP_ALL, GROUP_ANY, GroupType } from "../messages/group.ts";
import { formatActions } from "./actions.ts";
import { duration, hex, hexOrZero } from "./bytes.ts";
import { formatPort } from "./ports.ts";

type GroupDesc = MessageOfType<"group_desc_reply">["groups"][number];
export type Bucket = GroupDesc["buckets"][number];

const TYPES = ["all", "select", "indirect", "ff"];
const NONE = 0xffff_ffff;

const special = new Map([
  [GROUP_ALL, "ALL"],
  [GROUP_ANY, "ANY"],
]);
const groupName = (id: number): string => special.get(id) ?? String(id);

function bucketText(b: Bucket, type: number): string {
  // A weight counts in a select group only, where 1 is the default.
  const weight = type === GroupType.select ? b.weight !== 1 : b.weight !== 0;
  return (
    ",bucket=" +
    (weight ? `weight:${b.weight},` : "") +
    (b.watchPort === NONE ? "" : `watch_port:${formatPort(b.watchPort)},`) +
    (b.watchGroup === NONE ? "" : `watch_group:${b.watchGroup},`) +
    `actions=${formatActions(b.actions)}`
  );
}

/** `group_id=9,type=all,bucket=actions=output:1`: a group in the text of ovs-ofctl. */
export const formatGroup = (groupId: number, type: number, buckets: readonly Bucket[]): string =>
  `group_id=${groupId},type=${TYPES[type] ?? "unknown"}${buckets.map((b) => bucketText(b, type)).join("")}`;

const COMMANDS = ["ADD", "MOD", "DEL"];
export const groupModText = (m: MessageOfType<"group_mod">): string =>
  `\n ${COMMANDS[m.command]} ${formatGroup(m.groupId, m.groupType, m.buckets)}`;

export const groupDescText = (m: MessageOfType<"group_desc_reply">): string =>
  `\n${m.groups.map((g) => ` ${formatGroup(g.groupId, g.groupType, g.buckets)}\n`).join("")}`;

export const groupRequestText = (m: MessageOfType<"group_stats_request">): string =>
  ` group_id=${groupName(m.groupId)}`;

export function groupStatsText(m: MessageOfType<"group_stats_reply">): string {
  let out = "";
  for (const g of m.groups) {
    const age = g.durationSec === NONE ? "" : `duration=${duration(g.durationSec, g.durationNsec)},`;
    out += `\n group_id=${g.groupId},${age}ref_count=${g.refCount},`;
    out += `packet_count=${g.packetCount},byte_count=${g.byteCount}`;
    g.buckets.forEach((b, i) => {
      out += `,bucket${i}:packet_count=${b.packetCount},byte_count=${b.byteCount}`;
    });
  }
  return out;
}

/** Names of the actions a switch supports, by the bit of their OFPAT number. */
const ACTIONS: readonly (readonly [bit: number, name: string])[] = [
  [0, "output"],
  [22, "group"],
  [25, "set_field"],
  [18, "strip_vlan"],
  [17, "push_vlan"],
  [23, "mod_nw_ttl"],
  [24, "dec_ttl"],
  [15, "set_mpls_ttl"],
  [16, "dec_mpls_ttl"],
  [19, "push_mpls"],
  [20, "pop_mpls"],
  [21, "set_queue"],
];

/** Actions of a bitmap of OFPAT numbers, in ovs-ofctl's order. */
export const actionNames = (has: (ofpat: number) => boolean): string =>
  ACTIONS.flatMap(([bit, name]) => (has(bit) ? [name] : [])).join(" ") || "<none>";

export function groupFeaturesText(m: MessageOfType<"group_features_reply">): string {
  let out = `\n Group table:\n    Types:  ${hex(m.types)}\n    Capabilities:  ${hex(m.capabilities)}\n`;
  const types = [
    ["all", m.maxGroups.all, m.actions.all],
    ["select", m.maxGroups.select, m.actions.select],
    ["indirect", m.maxGroups.indirect, m.actions.indirect],
    ["fast failover", m.maxGroups.ff, m.actions.ff],
  ] as const;
  types.forEach(([name, max, actions], type) => {
    if ((m.types & (1 << type)) === 0) return;
    const names = actionNames((bit) => ((actions >>> bit) & 1) === 1);
    out += `    ${name} group:\n       max_groups=${hexOrZero(max)}\n       actions: ${names}\n`;
  });
  return out;
}
