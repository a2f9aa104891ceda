/**
 * Reads what was known back out of a switch after a restart of the controller: next hops from table 21, which then stay usable
 * while they are being verified (without this, the first plan would delete them and packets would wait), and the members
 * that serve from tables 11 and 12.
 */
import type { Action } from "../openflow/action-values.ts";
import { contains } from "./addresses.ts";
import { parseCookie } from "./cookies.ts";
import type { ObservedFlow } from "./diff.ts";
import { DIRECT, ROUTED } from "./features/adjacency.ts";
import { exactValue } from "./match.ts";
import type { Ipv4, Neighbour, Topology } from "./model.ts";
import { isReservedPort } from "./ports.ts";
import { regMember } from "./registers.ts";
import { T } from "./tables.ts";

const addressOf = (flow: ObservedFlow): Ipv4 | undefined => {
  const field = flow.priority === DIRECT ? "ip_dst" : flow.priority === ROUTED ? "reg5" : undefined;
  const value = field === undefined ? undefined : exactValue(flow.match, field);
  return value === undefined ? undefined : Number(value);
};

/** MAC and port that a flow sends to; undefined when it does anything else. */
const deliveryOf = (flow: ObservedFlow): Pick<Neighbour, "mac" | "ofport"> | undefined => {
  let mac: number | undefined;
  let ofport: number | undefined;
  for (const instruction of flow.instructions) {
    if (instruction.kind !== "apply_actions") return undefined;
    for (const action of instruction.actions) {
      if (action.kind === "set_field" && action.field === "eth_dst" && action.mask === undefined)
        mac = Number(action.value);
      else if (action.kind === "output" && !isReservedPort(action.port)) ofport = action.port;
      else return undefined;
    }
  }
  return mac === undefined || ofport === undefined ? undefined : { mac, ofport };
};

/**
 * The neighbours that `flows` hold: our flows of table 21 whose address lies in a segment of `topology`. Entries the
 * operator gave are left out, since they are in the topology. Each neighbour comes once, sorted by address.
 */
export const readNeighbours = (flows: readonly ObservedFlow[], topology: Topology): readonly Neighbour[] => {
  const given = new Set(topology.staticNeighbours.map((n) => `${n.segment}/${n.ip}`));
  const found = new Map<Ipv4, Neighbour>();
  for (const flow of flows) {
    if (flow.tableId !== T.adjacency || parseCookie(flow.cookie)?.feature !== "adjacency") continue;
    const ip = addressOf(flow);
    const delivery = deliveryOf(flow);
    if (ip === undefined || delivery === undefined) continue;
    const segment = topology.segments.find((x) => contains(x.subnet, ip));
    if (segment === undefined || given.has(`${segment.id}/${ip}`)) continue;
    found.set(ip, { segment: segment.id, ip, ...delivery });
  }
  return [...found.values()].sort((a, b) => a.ip - b.ip);
};

const actionsOf = (flow: ObservedFlow): readonly Action[] =>
  flow.instructions.flatMap((i) => (i.kind === "apply_actions" ? i.actions : []));

/** The member id a slot's flow loads. */
const servingId = (flow: ObservedFlow): number | undefined => {
  for (const action of actionsOf(flow)) {
    if (action.kind === "load" && action.dst.field === regMember.field) return Number(action.value);
  }
  return undefined;
};

/** "ADDRESS:PORT", as numbers, that connections of a member are translated to. */
const translatedTo = (flow: ObservedFlow): string | undefined => {
  for (const action of actionsOf(flow)) {
    const to = action.kind === "ct" ? action.actions.find((a) => a.kind === "nat") : undefined;
    if (to?.kind === "nat" && to.address !== undefined) return `${to.address}:${to.port ?? 0}`;
  }
  return undefined;
};

/**
 * Ids of the members that serve slots on a switch. Until they have been probed they are taken to be up: without this, a
 * restart of the controller would empty every pool for as long as the first probes take. A member counts only if the
 * switch sends its connections where the topology says, since another topology may have given its id to somebody else.
 */
export const readServing = (flows: readonly ObservedFlow[], topology: Topology): ReadonlySet<number> => {
  const slots = new Set<number>();
  const places = new Map<number, string>();
  for (const flow of flows) {
    const feature = parseCookie(flow.cookie)?.feature;
    if (flow.tableId === T.slots && feature === "slot") {
      const id = servingId(flow);
      if (id !== undefined) slots.add(id);
    } else if (flow.tableId === T.members && feature === "member") {
      const id = exactValue(flow.match, regMember.field);
      const place = translatedTo(flow);
      if (id !== undefined && place !== undefined) places.set(Number(id), place);
    }
  }
  const members = topology.loadBalancers.flatMap((lb) => lb.pools).flatMap((p) => p.members);
  return new Set(members.filter((m) => slots.has(m.id) && places.get(m.id) === `${m.ip}:${m.port}`).map((m) => m.id));
};
