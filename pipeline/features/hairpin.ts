import type { Action } from "../../openflow/action-values.ts";
import { ct, move, nat, output, resubmit, setField } from "../../openflow/build.ts";
import { egress, type Service, services, vips } from "../addresses.ts";
import { tracked } from "../ct-state.ts";
import { type FlowSpec, flowBuilder } from "../flow.ts";
import { ipText } from "../format.ts";
import { fragment, ip, type MatchRecord } from "../match.ts";
import type { DesiredState, Member } from "../model.ts";
import { IN_PORT } from "../ports.ts";
import { CT_ZONE, HAIRPIN_ZONE, regCalled } from "../registers.ts";
import { T } from "../tables.ts";
import type { Feature } from "./feature.ts";
import { answers } from "./member.ts";
import { servedMembers } from "./slot.ts";

const flow = flowBuilder("hairpin");

const of = (member: Member) => ({ kind: "member", id: member.id }) as const;

/**
 * A member that calls a VIP and is chosen itself would get a packet from its own address. It gets one from the VIP instead, so that
 * its answer comes back here. Only in this case does a member not see the client's address.
 *
 * Two zones: the answer to the translated packet is, in the first zone, from the member to itself, and is only found there once
 * the second zone has put the client's address back.
 */
const call = (member: Member): FlowSpec =>
  flow({
    table: T.members,
    priority: 120,
    match: { ...ip, reg2: member.id, ip_src: member.ip },
    actions: [
      move("ip_dst", regCalled.field),
      ct({
        commit: true,
        zone: CT_ZONE,
        table: T.hairpin,
        actions: [nat({ type: "dst", address: member.ip, port: member.port })],
      }),
    ],
    object: of(member),
    why: `Member ${member.name} called and is chosen itself.`,
  });

/** Table 9: the same in fragments, where the connection is known. */
const callInFragments = (member: Member): FlowSpec =>
  flow({
    table: T.reassembled,
    priority: 130,
    match: { ...ip, ...tracked("destinationNat"), ip_src: member.ip, ip_dst: member.ip },
    actions: [move("ct_nw_dst", regCalled.field)],
    goto: T.hairpin,
    object: of(member),
    why: `Member ${member.name} called and was chosen itself.`,
  });

const segmentOf = (s: DesiredState, member: Member): number | undefined =>
  member.segment ?? egress(s, member.ip)?.segment;

/** Table 1, above the listeners: what may be the answer; the member may as well be calling from the port it serves on. */
const answer = (s: DesiredState, { vip }: Service, member: Member, from: MatchRecord): FlowSpec | undefined => {
  const segment = s.segments.find((x) => x.id === segmentOf(s, member));
  if (segment === undefined) return undefined;
  return flow({
    table: T.classify,
    priority: 192,
    match: { ...from, reg0: segment.id, eth_dst: segment.gateway.mac, ip_dst: vip.ip },
    actions: [ct({ zone: HAIRPIN_ZONE, table: T.hairpinBack, actions: [nat()] })],
    object: of(member),
    why: `Member ${member.name} may answer its own call of ${ipText(vip.ip)}.`,
  });
};

const back = (mac: number): readonly Action[] => [
  move("eth_src", "eth_dst"),
  setField("eth_src", mac),
  output(IN_PORT),
];

/** Tables 17 to 19: members that call themselves by a VIP. */
export const hairpin: Feature = {
  name: "hairpin",
  *flows(s) {
    const used = services(s).filter((v) => v.up && v.pool !== undefined);
    const called = new Set<number>();
    for (const { member } of servedMembers(used)) {
      yield call(member);
      if (!called.has(member.ip)) yield callInFragments(member);
      called.add(member.ip);
    }
    const seen = new Set<string>();
    const pairs = used.flatMap((service) => service.pool!.members.map((member) => ({ service, member })));
    for (const { service, member } of pairs.sort((a, b) => a.member.id - b.member.id)) {
      for (const from of answers(member, service.listener.protocol)) {
        const key = JSON.stringify([service.vip.ip, from]);
        const found = seen.has(key) ? undefined : answer(s, service, member, from);
        seen.add(key);
        if (found !== undefined) yield found;
      }
    }
    for (const { vip } of vips(s)) {
      yield flow({
        table: T.hairpin,
        priority: 100,
        match: { ...ip, reg8: vip.ip },
        actions: [
          ct({
            commit: true,
            zone: HAIRPIN_ZONE,
            table: T.hairpinOut,
            actions: [nat({ type: "src", address: vip.ip })],
          }),
        ],
        object: { kind: "address", id: vip.ip },
        why: `A member called itself by ${ipText(vip.ip)}: it is to see that address as the caller.`,
      });
    }
    yield flow({ table: T.hairpin, priority: 0, why: "No VIP of ours was called." });
    yield flow({
      table: T.hairpinBack,
      priority: 100,
      match: { ...ip, ...tracked("established") },
      actions: [ct({ zone: CT_ZONE, table: T.hairpinOut, actions: [nat()] })],
      why: "A member answers itself: the VIP is put back as the source.",
    });
    yield flow({
      table: T.hairpinBack,
      priority: 50,
      match: { ...ip, ...fragment },
      actions: [resubmit({ table: T.fragments })],
      why: "A member calls a VIP in fragments: like any client.",
    });
    yield flow({
      table: T.hairpinBack,
      priority: 0,
      actions: [resubmit({ table: T.listeners })],
      why: "A member calls a VIP from the port it serves on: like any client.",
    });
    for (const segment of s.segments) {
      yield flow({
        table: T.hairpinOut,
        priority: 100,
        match: { reg0: segment.id },
        actions: back(segment.gateway.mac),
        object: { kind: "segment", id: segment.id },
        why: `Back to the member in ${segment.name} that it came from.`,
      });
    }
    yield flow({ table: T.hairpinOut, priority: 0, why: "No segment." });
  },
};
