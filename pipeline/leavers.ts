/**
 * Whose entries in the switch's connection table must go. An entry keeps a client's packets on the member it was made for, whatever
 * the slots say meanwhile. That is what a connection wants, until its member is gone.
 */
import type { Action } from "../openflow/action-values.ts";
import { services } from "./addresses.ts";
import { parseCookie } from "./cookies.ts";
import { eligibility, healthOf } from "./eligibility.ts";
import type { FlowSpec } from "./flow.ts";
import { exactValue } from "./match.ts";
import type { DesiredState, Ipv4 } from "./model.ts";
import { regMember } from "./registers.ts";
import { T } from "./tables.ts";

/** Where a member serves. */
export interface Endpoint {
  readonly ip: Ipv4;
  readonly port: number;
}

/** Members as the flows of a switch have them, by "IP:PORT" in numbers. */
export interface FlowEndpoints {
  readonly all: ReadonlyMap<string, Endpoint>;
  /** Those with slots. */
  readonly serving: ReadonlySet<string>;
}

/** What leaves. */
export interface Leavers {
  /** Members that are gone, down or disabled: nothing of theirs is worth keeping. */
  readonly entirely: readonly Endpoint[];
  /**
   * Members that get nothing new any more. TCP connections end by themselves; a UDP sender with a fixed port never ends, and would
   * stay for ever.
   */
  readonly udpOnly: readonly Endpoint[];
}

const keyOf = ({ ip, port }: Endpoint): string => `${ip}:${port}`;

const actionsOf = (flow: Pick<FlowSpec, "instructions">): readonly Action[] =>
  flow.instructions.flatMap((i) => (i.kind === "apply_actions" ? i.actions : []));

const translatedTo = (actions: readonly Action[]): Endpoint | undefined => {
  for (const action of actions) {
    const to = action.kind === "ct" ? action.actions.find((a) => a.kind === "nat") : undefined;
    if (to?.kind === "nat" && typeof to.address === "number") return { ip: to.address, port: to.port ?? 0 };
  }
  return undefined;
};

/** The members that flows of ours know, be they on a switch or in a program. */
export const endpointsOf = (
  flows: Iterable<Pick<FlowSpec, "tableId" | "cookie" | "match" | "instructions">>,
): FlowEndpoints => {
  const byMember = new Map<number, Endpoint>();
  const withSlots = new Set<number>();
  for (const flow of flows) {
    const feature = parseCookie(flow.cookie)?.feature;
    if (feature === "slot" && flow.tableId === T.slots) {
      for (const a of actionsOf(flow)) {
        if (a.kind === "load" && a.dst.field === regMember.field) withSlots.add(Number(a.value));
      }
    } else if (feature === "member") {
      const id = exactValue(flow.match, regMember.field);
      const to = id === undefined ? undefined : translatedTo(actionsOf(flow));
      if (to !== undefined) byMember.set(Number(id), to);
    }
  }
  const serving = [...byMember].flatMap(([id, to]) => (withSlots.has(id) ? [keyOf(to)] : []));
  return { all: new Map([...byMember.values()].map((to) => [keyOf(to), to])), serving: new Set(serving) };
};

/** Members in use that are down or disabled, unless the same server is better off in another pool. */
export const deadEndpoints = (s: DesiredState): ReadonlySet<string> => {
  const dead = new Set<string>();
  const alive = new Set<string>();
  for (const { up, pool } of services(s)) {
    if (!up || pool === undefined) continue;
    for (const member of pool.members) {
      const state = eligibility(member, healthOf(pool, member, s.health));
      (state === "down" || state === "disabled" ? dead : alive).add(keyOf(member));
    }
  }
  return new Set([...dead].filter((key) => !alive.has(key)));
};

/** Compares what a switch held with what it holds now, and who was dead with who is. */
export const leavers = (
  before: FlowEndpoints,
  after: FlowEndpoints,
  deadBefore: ReadonlySet<string>,
  dead: ReadonlySet<string>,
): Leavers => {
  const entirely: Endpoint[] = [];
  const udpOnly: Endpoint[] = [];
  for (const [key, endpoint] of before.all) {
    if (!after.all.has(key) || (dead.has(key) && !deadBefore.has(key))) entirely.push(endpoint);
    else if (before.serving.has(key) && !after.serving.has(key) && !dead.has(key)) udpOnly.push(endpoint);
  }
  return { entirely, udpOnly };
};
