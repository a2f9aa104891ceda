/**
 * Reads the resolver's entries back out of table 21 after a restart of the controller. Next hops then stay usable while they are
 * being verified; without this, the first plan would delete them and packets would wait.
 */
import { contains } from "./addresses.ts";
import { parseCookie } from "./cookies.ts";
import type { ObservedFlow } from "./diff.ts";
import { DIRECT, ROUTED } from "./features/adjacency.ts";
import { exactValue } from "./match.ts";
import type { Ipv4, Neighbour, Topology } from "./model.ts";
import { isReservedPort } from "./ports.ts";
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
