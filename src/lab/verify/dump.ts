import type { Lab } from "../handle.ts";
import type { HostName } from "../topology.ts";
import { addressOf, type Facts, hostSpec } from "./facts.ts";

/** A flow as the switch dumps it. */
export interface DumpedFlow {
  readonly table: number;
  readonly priority: number;
  readonly cookie: bigint;
  readonly packets: number;
  /** Seconds since it was put in; a repeated ADD begins anew. */
  readonly seconds: number;
  readonly match: string;
  readonly actions: string;
}

/** All flows, or those that `filter` selects (ovs-ofctl(8), "table=21,ip"). */
export async function dumpFlows(lab: Lab, filter = ""): Promise<readonly DumpedFlow[]> {
  const args = filter === "" ? [] : [filter];
  return parseFlows(await lab.ovs.ofctl("--no-names", "dump-flows", lab.bridge, ...args));
}

export function parseFlows(text: string): readonly DumpedFlow[] {
  return text.split("\n").flatMap((line) => {
    const [, cookie, seconds, table, packets, rest, actions] =
      /cookie=(0x[0-9a-f]+), duration=([\d.]+)s, table=(\d+), n_packets=(\d+), \S+ (.*?)actions=(.*)$/.exec(line) ?? [];
    if (cookie === undefined) return [];
    // Timeouts and flags come before the priority, the match after it; all are separated alike.
    const fields = rest!.split(/[, ]+/).filter((field) => field !== "");
    const priority = fields.find((field) => field.startsWith("priority="))?.slice("priority=".length);
    const match = fields.filter(
      (field) => !/^(priority|\w+_timeout|\w+_age)=|^(send_flow_rem|reset_counts)$/.test(field),
    );
    return [
      {
        table: Number(table),
        // ovs-ofctl leaves out the default priority.
        priority: Number(priority ?? 32768),
        cookie: BigInt(cookie),
        packets: Number(packets),
        seconds: Number(seconds),
        match: match.join(","),
        actions: actions!,
      },
    ];
  });
}

/** What distinguishes flows from each other and what they do, without counters. */
export function flowText({ table, priority, match, actions, cookie }: DumpedFlow): string {
  return `table=${table} priority=${priority} ${match} actions=${actions} cookie=${cookie.toString(16)}`;
}

const ownCookie = 0x4c42n;
const learnedFeatures = 0x20n;

/** Flows that a controller of ours put there itself, not those that the switch learned. */
export function isProgrammed({ cookie }: DumpedFlow): boolean {
  return cookie >> 48n === ownCookie && ((cookie >> 40n) & 0xffn) < learnedFeatures;
}

/** Sum of the packet counters of the flows that `pick` selects. */
export async function countPackets(lab: Lab, filter: string, pick: (flow: DumpedFlow) => boolean): Promise<number> {
  return (await dumpFlows(lab, filter)).filter(pick).reduce((sum, flow) => sum + flow.packets, 0);
}

/** Which host each slot number leads to, in the switch: table 11 gives a member, table 12 its address. */
export async function readSlots(lab: Lab, facts: Facts): Promise<ReadonlyMap<number, HostName>> {
  const [slots, members] = await Promise.all([dumpFlows(lab, "table=11"), dumpFlows(lab, "table=12")]);
  const hostOf = new Map<number, HostName>();
  for (const { match, actions } of members) {
    const member = registerMatch(match, 2);
    const address = /nat\(dst=([\d.]+)/.exec(actions)?.[1];
    const host = facts.members.find(({ ip }) => ip === address)?.host;
    if (member !== undefined && host !== undefined) hostOf.set(member, host);
  }
  const layout = new Map<number, HostName>();
  for (const { match, actions } of slots) {
    const slot = registerMatch(match, 1);
    const member = /(?:load|set_field):(0x[0-9a-f]+|\d+)->(?:NXM_NX_REG2\[\]|reg2)/.exec(actions)?.[1];
    const host = hostOf.get(Number(member));
    if (slot !== undefined && host !== undefined) layout.set(slot, host);
  }
  return layout;
}

/** "be1 256, be2 256": how many slots each host has. */
export function countSlots(layout: ReadonlyMap<number, HostName>): string {
  const counts = new Map<HostName, number>();
  for (const host of layout.values()) counts.set(host, (counts.get(host) ?? 0) + 1);
  const text = [...counts].sort(([a], [b]) => a.localeCompare(b)).map(([host, count]) => `${host} ${count}`);
  return text.join(", ") || "no slots";
}

/** Slots that lead elsewhere now. */
export function movedSlots(
  before: ReadonlyMap<number, HostName>,
  after: ReadonlyMap<number, HostName>,
): readonly { readonly from: HostName; readonly to: HostName | undefined }[] {
  return [...before]
    .filter(([slot, host]) => after.get(slot) !== host)
    .map(([slot, from]) => ({ from, to: after.get(slot) }));
}

/** MAC and port of a host's adjacency in table 21; undefined when it has none. */
export async function adjacencyOf(lab: Lab, host: HostName): Promise<{ mac: string; ofport: number } | undefined> {
  const flows = await dumpFlows(lab, `table=21,ip,nw_dst=${addressOf(hostSpec(host))}`);
  const actions = flows.find((flow) => flow.priority === 100)?.actions ?? "";
  const mac = /(?:mod_dl_dst:|set_field:)([0-9a-f:]{17})/.exec(actions)?.[1];
  const ofport = /output:(\d+)/.exec(actions)?.[1];
  return mac === undefined || ofport === undefined ? undefined : { mac, ofport: Number(ofport) };
}

function registerMatch(match: string, register: number): number | undefined {
  const value = new RegExp(`(?:^|,)reg${register}=(0x[0-9a-f]+|\\d+)(?:,|$)`).exec(match)?.[1];
  return value === undefined ? undefined : Number(value);
}
