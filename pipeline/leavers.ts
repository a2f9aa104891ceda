/**
 * Which entries of the switch's connection table must go. An entry keeps a client's packets on the member it was made for, whatever
 * the slots say meanwhile. That is what a connection wants, until its member is gone.
 */
import type { Action } from "../openflow/action-values.ts";
import { services } from "./addresses.ts";
import { parseCookie } from "./cookies.ts";
import { healthOf, servingMembers } from "./eligibility.ts";
import type { FlowSpec } from "./flow.ts";
import type { DesiredState, Ipv4, Protocol } from "./model.ts";

/** An address and a port. */
export interface Endpoint {
  readonly ip: Ipv4;
  readonly port: number;
}

/** Connections by what they have in common; what is absent may be anything. */
export interface Leaving {
  readonly protocol?: Protocol;
  /** What clients call. */
  readonly called?: Endpoint;
  /** Where the member serves. */
  readonly member?: Endpoint;
}

/** "serving": gets new connections. "kept": finishes those it has. "dead": down or disabled. */
type Standing = "serving" | "kept" | "dead";

interface Place {
  readonly protocol: Protocol;
  readonly called: Endpoint;
  readonly members: ReadonlyMap<string, { readonly endpoint: Endpoint; readonly standing: Standing }>;
}

/** Who serves each address and port that clients call, by "PROTOCOL IP:PORT". */
export type Places = ReadonlyMap<string, Place>;

const textOf = ({ ip, port }: Endpoint): string => `${ip}:${port}`;

/** Who may have connections, by the wanted state. */
export const placesOf = (s: DesiredState): Places => {
  const places = new Map<string, Place>();
  for (const { up, pool, vip, listener } of services(s)) {
    if (!up || pool === undefined) continue;
    const serving = new Set(servingMembers(pool, s.health));
    const members = pool.members.map((m) => {
      // A draining member that dies does not finish what it has.
      const isDead = !m.adminUp || healthOf(pool, m, s.health) === "down";
      const standing: Standing = serving.has(m) ? "serving" : isDead ? "dead" : "kept";
      const endpoint = { ip: m.ip, port: m.port };
      return [textOf(endpoint), { endpoint, standing }] as const;
    });
    const called = { ip: vip.ip, port: listener.port };
    const { protocol } = listener;
    places.set(`${protocol} ${textOf(called)}`, { protocol, called, members: new Map(members) });
  }
  return places;
};

/**
 * Compares what was wanted with what is. TCP connections of a member that gets nothing new end by themselves; a UDP sender with a
 * fixed port never ends, and would stay for ever, so it goes as soon as its member stops serving.
 */
export const leaving = (before: Places, after: Places): readonly Leaving[] => {
  const found: Leaving[] = [];
  for (const [key, { protocol, called, members }] of before) {
    const now = after.get(key);
    if (now === undefined) {
      found.push({ protocol, called });
      continue;
    }
    for (const [text, { endpoint, standing }] of members) {
      const then = now.members.get(text)?.standing;
      const died = then === undefined || (then === "dead" && standing !== "dead");
      const stopped = protocol === "udp" && standing === "serving" && then !== "serving";
      if (died || stopped) found.push({ protocol, called, member: endpoint });
    }
  }
  return found;
};

/** Whether what left serves again, so that its connections are good ones. */
export const isBack = ({ protocol, called, member }: Leaving, now: Places): boolean =>
  [...now.values()].some((place) => {
    if (protocol !== undefined && place.protocol !== protocol) return false;
    if (called !== undefined && textOf(place.called) !== textOf(called)) return false;
    return member === undefined || place.members.get(textOf(member))?.standing === "serving";
  });

type Flows = Iterable<Pick<FlowSpec, "cookie" | "instructions">>;

const actionsOf = (flow: Pick<FlowSpec, "instructions">): readonly Action[] =>
  flow.instructions.flatMap((i) => (i.kind === "apply_actions" ? i.actions : []));

const membersOf = (flows: Flows): ReadonlyMap<string, Endpoint> => {
  const found = new Map<string, Endpoint>();
  for (const flow of flows) {
    if (parseCookie(flow.cookie)?.feature !== "member") continue;
    for (const action of actionsOf(flow)) {
      const to = action.kind === "ct" ? action.actions.find((a) => a.kind === "nat") : undefined;
      if (to?.kind !== "nat" || typeof to.address !== "number") continue;
      const endpoint = { ip: to.address, port: to.port ?? 0 };
      found.set(textOf(endpoint), endpoint);
    }
  }
  return found;
};

/** The same from flows alone, for what was removed while no controller was there: members that are not known any more. */
export const leavingFlows = (observed: Flows, wanted: Flows): readonly Leaving[] => {
  const after = membersOf(wanted);
  return [...membersOf(observed)].flatMap(([text, member]) => (after.has(text) ? [] : [{ member }]));
};
