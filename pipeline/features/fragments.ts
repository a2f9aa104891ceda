/**
 * IP fragments of what is sent to VIPs. Only the first fragment has ports, so listeners cannot be told apart by later ones: the
 * connection table takes all of a datagram, or none, before tables 8 and 9 look at it (ovs-fields(7), "nw_frag" and "ct_tp_dst").
 *
 * The two datapaths differ. Linux goes on with the whole datagram, which table 10 treats as any other. Open vSwitch in userspace
 * goes on with the fragments it had, and what it does with the one that came last is what is done to the datagram: each
 * fragment of a new connection must lead to the same member, by addresses alone.
 */
import { ct, load, nat, resubmit } from "../../openflow/build.ts";
import { type Service, services } from "../addresses.ts";
import { tracked, valid } from "../ct-state.ts";
import { type FlowSpec, flowBuilder } from "../flow.ts";
import { ipText } from "../format.ts";
import { fragment, ip, laterFragment, type MatchRecord, prefix, transport, udp, unfragmented } from "../match.ts";
import type { DesiredState, Pool } from "../model.ts";
import { CT_ZONE, regEgress, regPool } from "../registers.ts";
import { T } from "../tables.ts";
import { isCounted } from "./connections.ts";
import type { Feature } from "./feature.ts";
import { mayStayInSegment, slotByHash } from "./listener.ts";
import { servedMembers } from "./slot.ts";

const flow = flowBuilder("fragments");

/** Of a connection that leads to a member, and translated by it. */
const translated = tracked("destinationNat");
const opening = tracked("new");

/** Services in use that share a VIP and a protocol, so that later fragments to them look alike. */
const alike = (s: DesiredState): readonly (readonly [Service, ...Service[]])[] => {
  const found = new Map<string, [Service, ...Service[]]>();
  for (const service of services(s)) {
    if (!service.up) continue;
    const key = `${service.vip.ip} ${service.listener.protocol}`;
    const before = found.get(key);
    if (before === undefined) found.set(key, [service]);
    else before.push(service);
  }
  return [...found.values()];
};

/** Tables 1 and 15: fragments to a VIP, from its own segment and from others. */
function* arrive(group: readonly [Service, ...Service[]]): Generator<FlowSpec> {
  const [{ vip, segment, listener }] = group;
  const common = {
    object: { kind: "address", id: vip.ip },
    why: `Fragments of ${listener.protocol.toUpperCase()} to ${ipText(vip.ip)}.`,
  } as const;
  const match = { ...transport[listener.protocol], ...fragment, ip_dst: vip.ip };
  yield flow({
    ...common,
    table: T.classify,
    priority: group.some(mayStayInSegment) ? 140 : 130,
    match: { ...match, reg0: segment.id, eth_dst: segment.gateway.mac },
    goto: T.fragments,
  });
  yield flow({ ...common, table: T.router, priority: 140, match, actions: [resubmit({ table: T.fragments })] });
}

/** Table 8: the listener, by the ports of the connection. Its fragments never become whole if their first one is dropped. */
function* admit({ vip, listener }: Service): Generator<FlowSpec> {
  const sources = listener.allowedSources?.map((source) => ({ ct_nw_src: prefix(source) })) ?? [{}];
  const states: readonly MatchRecord[] = isCounted(listener) ? [translated, { ...opening, ...unfragmented }] : [valid];
  for (const source of sources) {
    for (const state of states) {
      yield flow({
        table: T.datagrams,
        priority: 100,
        match: {
          ...ip,
          ct_nw_proto: transport[listener.protocol].nw_proto,
          ct_nw_dst: vip.ip,
          ct_tp_dst: listener.port,
          ...source,
          ...state,
        },
        goto: T.reassembled,
        object: { kind: "listener", id: listener.id },
        why: `A datagram in fragments for listener ${listener.name} on ${ipText(vip.ip)}:${listener.port}.`,
      });
    }
  }
}

/** The pool that all of them lead to; undefined if there are several, or some have none. */
const commonPool = (group: readonly Service[]): Pool | undefined => {
  const [pool, ...others] = new Set(group.map((v) => v.pool));
  return others.length === 0 ? pool : undefined;
};

/** Table 9: the member of a new connection, which later fragments must find, too. */
function* choose(group: readonly [Service, ...Service[]]): Generator<FlowSpec> {
  const [{ vip, listener }] = group;
  const pool = commonPool(group);
  // No TCP connection opens with a packet that has to be cut.
  if (listener.protocol === "tcp" || pool === undefined) return;
  yield flow({
    table: T.reassembled,
    priority: 90,
    match: { ...udp, ...opening, ip_dst: vip.ip },
    actions: [load(pool.id, regPool), slotByHash("nw_src", pool)],
    goto: T.slots,
    object: { kind: "pool", id: pool.id },
    why: `A connection to ${ipText(vip.ip)} that opens in fragments: a slot of pool ${pool.name} by the client's address.`,
  });
}

/** Table 9: members in the client's segment are reached without a hop. */
function* neighbours(s: DesiredState): Generator<FlowSpec> {
  const seen = new Set<string>();
  for (const { member } of servedMembers(services(s))) {
    const { segment, ip: address, id, name } = member;
    const key = `${segment} ${address}`;
    if (segment === undefined || seen.has(key)) continue;
    seen.add(key);
    yield flow({
      table: T.reassembled,
      priority: 120,
      match: { ...ip, ...translated, reg0: segment, ip_dst: address },
      actions: [load(segment, regEgress)],
      goto: T.adjacency,
      object: { kind: "member", id },
      why: `To member ${name}, a neighbour of the client: no hop is counted.`,
    });
  }
}

/** Tables 7 to 9: datagrams to VIPs that come in fragments. */
export const fragments: Feature = {
  name: "fragments",
  *flows(s) {
    for (const group of alike(s)) {
      yield* arrive(group);
      yield* choose(group);
      for (const service of group) yield* admit(service);
    }
    yield* neighbours(s);
    yield flow({
      table: T.fragments,
      priority: 100,
      match: ip,
      actions: [ct({ zone: CT_ZONE, table: T.datagrams, actions: [nat()] })],
      why: "Held until the datagram is complete, and translated if its connection is known.",
    });
    yield flow({ table: T.fragments, priority: 0, why: "Only IP comes here." });
    yield flow({
      table: T.datagrams,
      priority: 90,
      match: { ...ip, ...laterFragment },
      goto: T.reassembled,
      why: "Has no ports: of no use to anybody unless the first fragment goes on, too.",
    });
    yield flow({ table: T.datagrams, priority: 0, why: "No listener takes this from fragments." });
    yield flow({
      table: T.reassembled,
      priority: 110,
      match: { ...ip, ...translated },
      goto: T.routes,
      why: "To the member of a known connection by routing.",
    });
    yield flow({
      table: T.reassembled,
      priority: 100,
      match: { ...ip, ...opening, ...unfragmented },
      goto: T.listeners,
      why: "Whole again: like any other packet to a VIP.",
    });
    yield flow({ table: T.reassembled, priority: 0, why: "A connection that cannot open in fragments." });
  },
};
