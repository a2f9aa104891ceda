/**
 * Packets for the controller. Each belongs to a class with a meter of its own, so that a flood of one kind cannot
 * starve the others. The class travels in the packet-in's userdata (4 bytes, NXT_PACKET_IN2).
 */
import type { Controller } from "../openflow/action-values-nx.ts";
import { controller } from "../openflow/build.ts";
import { puntMeter } from "./ownership.ts";
import type { MeterSpec } from "./program.ts";

/** What a class of packet-ins is about and how many of them there may be. */
export interface PuntClass {
  /** 1…15; goes over the wire, so it never changes. */
  readonly id: number;
  readonly name: string;
  /** Packets a second in the long run. */
  readonly rate: number;
  /** Packets that may come at once. */
  readonly burst: number;
  readonly purpose: string;
}

/** All classes, by name. */
export const puntClasses = {
  arp: { id: 1, name: "arp", rate: 500, burst: 500, purpose: "answers to our ARP requests" },
  hint: { id: 2, name: "hint", rate: 50, burst: 50, purpose: "ARP of a next hop we hold: it lives, or has a new MAC" },
  miss: { id: 3, name: "adjacency-miss", rate: 200, burst: 200, purpose: "packets whose next hop has no known MAC" },
  ttl: { id: 4, name: "ttl", rate: 100, burst: 50, purpose: "packets that would expire here" },
  conflict: { id: 5, name: "conflict", rate: 5, burst: 10, purpose: "somebody else uses an address of ours" },
  probe: { id: 6, name: "probe", rate: 2000, burst: 1000, purpose: "answers to health probes" },
  reject: { id: 7, name: "reject", rate: 200, burst: 100, purpose: "connections to a pool without members, to refuse" },
} as const satisfies Record<string, PuntClass>;

export type PuntName = keyof typeof puntClasses;

/** Sends the whole packet to the controller as a member of a class; what the meter drops is only this copy. */
export const punt = (name: PuntName): Controller => {
  const { id } = puntClasses[name];
  const userdata = Buffer.alloc(4);
  userdata.writeUInt32BE(id);
  return controller({ maxLen: 0xffff, userdata, meterId: puntMeter(id) });
};

/** OFPMF_PKTPS, OFPMF_BURST and OFPMF_STATS: packets a second, with a burst, counted. */
const METER_FLAGS = 2 | 4 | 8;

/** The meters of all classes. */
export const puntMeters: readonly MeterSpec[] = Object.values(puntClasses).map(({ id, rate, burst }) => ({
  meterId: puntMeter(id),
  flags: METER_FLAGS,
  bands: [{ kind: "drop", rate, burstSize: burst }],
}));

const byId = new Map<number, PuntName>(Object.entries(puntClasses).map(([name, { id }]) => [id, name as PuntName]));

/** The class a packet-in belongs to by its userdata; undefined when it is not one of ours. */
export const puntOf = (userdata: Buffer): PuntName | undefined =>
  userdata.length === 4 ? byId.get(userdata.readUInt32BE(0)) : undefined;
