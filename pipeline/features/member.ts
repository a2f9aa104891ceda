import type { Action } from "../../openflow/action-values.ts";
import { ct, load, nat } from "../../openflow/build.ts";
import { type Service, services } from "../addresses.ts";
import { type FlowSpec, flowBuilder } from "../flow.ts";
import { ipText } from "../format.ts";
import { fragment, fromPort, icmp, ip, type MatchRecord, tcp, transport, udp } from "../match.ts";
import type { Member, Pool, Protocol } from "../model.ts";
import { CT_ZONE, regEgress } from "../registers.ts";
import { T } from "../tables.ts";
import { countOpen, keepOpen, opening } from "./connections.ts";
import type { Feature } from "./feature.ts";
import { servedMembers } from "./slot.ts";

const flow = flowBuilder("member");
const UNREACHABLE = 3;

/** Table 12: the destination becomes the member; conntrack remembers it for replies and for later packets. */
function* translate(member: Member, pool: Pool): Generator<FlowSpec> {
  if (pool.algorithm !== "least-connections") {
    yield* translateSome(member, 0, {}, []);
    return;
  }
  yield* translateSome(member, 2, { ...tcp, ...opening }, countOpen(member, "tcp"));
  yield* translateSome(member, 2, udp, countOpen(member, "udp"));
  yield* translateSome(member, 0, {}, [keepOpen]);
}

/** For some packets only, `above` the flows for all, and with something to be done before. */
function* translateSome(
  member: Member,
  above: number,
  some: MatchRecord,
  before: readonly Action[],
): Generator<FlowSpec> {
  const object = { kind: "member", id: member.id } as const;
  const to = (table: number) =>
    ct({
      commit: true,
      zone: CT_ZONE,
      table,
      actions: [nat({ type: "dst", address: member.ip, port: member.port })],
    });
  const place = `${ipText(member.ip)}:${member.port}`;
  if (member.segment !== undefined) {
    yield flow({
      table: T.members,
      priority: 110 + above,
      match: { ...ip, reg0: member.segment, reg2: member.id, ...some },
      actions: [...before, load(member.segment, regEgress), to(T.adjacency)],
      object,
      why: `To member ${member.name} (${place}), a neighbour of the client: no hop is counted.`,
    });
  }
  yield flow({
    table: T.members,
    priority: 100 + above,
    match: { ...ip, reg2: member.id, ...some },
    actions: [...before, to(T.routes)],
    object,
    why: `To member ${member.name} (${place}) by routing.`,
  });
}

/** What may be an answer of the member on one of its protocols: fragments do not show the port it comes from. */
export const answers = (member: Member, protocol: Protocol): readonly MatchRecord[] => [
  { ...fromPort(protocol, member.port), ip_src: member.ip },
  { ...transport[protocol], ...fragment, ip_src: member.ip },
];

/** Table 24: a member answers a client of its own segment directly; we see the frame because both are on our ports. */
const restore = (member: Member, segment: number, answer: MatchRecord): FlowSpec =>
  flow({
    table: T.replies,
    priority: 100,
    match: { ...answer, reg0: segment },
    actions: [ct({ zone: CT_ZONE, table: T.fdb, actions: [nat()] })],
    object: { kind: "member", id: member.id },
    why: `Member ${member.name} answers or refuses a neighbour: the VIP is put back as the source.`,
  });

/** How the protocols of all listeners on a pool are found. */
const protocolsOf = (all: readonly Service[]): ReadonlyMap<number, ReadonlySet<Protocol>> => {
  const found = new Map<number, Set<Protocol>>();
  for (const { up, pool, listener } of all) {
    if (!up || pool === undefined) continue;
    found.set(pool.id, (found.get(pool.id) ?? new Set()).add(listener.protocol));
  }
  return found;
};

/** The way to members and, inside a segment, back from them. */
export const member: Feature = {
  name: "member",
  *flows(s) {
    const all = services(s);
    const protocols = protocolsOf(all);
    // A server may be a member of several pools, its replies look the same for all of them.
    const seen = new Set<string>();
    const first = (key: string): boolean => !seen.has(key) && seen.add(key).has(key);
    for (const { pool, member: m } of servedMembers(all)) {
      yield* translate(m, pool);
      const { segment } = m;
      if (segment === undefined) continue;
      const replies = [...protocols.get(pool.id)!].flatMap((p) => answers(m, p));
      for (const answer of [...replies, { ...icmp, icmp_type: UNREACHABLE, ip_src: m.ip }]) {
        if (first(JSON.stringify([segment, answer]))) yield restore(m, segment, answer);
      }
    }
    yield flow({ table: T.members, priority: 0, why: "No such member." });
    yield flow({ table: T.open, priority: 0, why: "No connection that is counted." });
  },
};
