/**
 * Connections of a listener as flows of their own, where a listener limits how many there are or how long one may be silent. Table
 * 13 holds one learned flow for each; that a packet may go on is a bit (reg6[1]).
 */
import type { Action } from "../../openflow/action-values.ts";
import type { LearnSpec } from "../../openflow/action-values-nx.ts";
import { learn, learnLoad, learnMatch, load, resubmit } from "../../openflow/build.ts";
import type { Service } from "../addresses.ts";
import { cookie } from "../cookies.ts";
import type { MatchRecord } from "../match.ts";
import type { Listener, Member, Protocol } from "../model.ts";
import { flagCounted } from "../registers.ts";
import { T } from "../tables.ts";

/** Seconds that a learned flow can be told to wait for packets. */
const MAX_IDLE = 0xffff;
/**
 * Seconds that a place is held by a client that vanished, or that never went on after its first packet. A connection that is silent
 * for longer goes on uncounted.
 */
const FORGOTTEN = { tcp: 300, udp: 60 } as const;
/** A connection that one side has closed or reset holds its place for this long, in seconds. */
const CLOSED = 5;

const SYN = 0x02;
const ACK = 0x10;
/** The first packet of a TCP connection. */
export const opening: MatchRecord = { tcp_flags: { value: SYN, mask: SYN | ACK } };

/** Whether the listener's connections are counted at all. */
export const isCounted = (l: Listener): boolean => l.connectionLimit !== undefined || l.idleTimeoutMs !== undefined;

/** Seconds of silence after which a connection is forgotten. */
const idleSeconds = (l: Pick<Listener, "idleTimeoutMs" | "protocol">): number =>
  l.idleTimeoutMs === undefined
    ? FORGOTTEN[l.protocol]
    : Math.min(MAX_IDLE, Math.max(1, Math.ceil(l.idleTimeoutMs / 1000)));

/** What tells a connection from others, on the client's side. */
const tupleSpecs = (protocol: Protocol): readonly LearnSpec[] => [
  learnMatch("eth_type", 0x0800),
  learnMatch("nw_proto", protocol === "tcp" ? 6 : 17),
  learnMatch("ip_src"),
  learnMatch("ip_dst"),
  learnMatch(protocol === "tcp" ? "tcp_src" : "udp_src"),
  learnMatch(protocol === "tcp" ? "tcp_dst" : "udp_dst"),
];

/** The learned flows of a member's open connections carry this, so that a switch can count them. */
export const openCookie = (member: Pick<Member, "id">): bigint =>
  cookie("learned-open", { kind: "member", id: member.id });

/** Table 14: a flow for each connection of a member. Packets have to pass it, for it to know when the last one was. */
export const countOpen = (member: Member, protocol: Protocol): readonly Action[] => [
  learn({
    table: T.open,
    priority: 100,
    idleTimeout: FORGOTTEN[protocol],
    finIdleTimeout: protocol === "tcp" ? 1 : 0,
    deleteLearned: true,
    cookie: openCookie(member),
    specs: tupleSpecs(protocol),
  }),
  keepOpen,
];
export const keepOpen: Action = resubmit({ table: T.open });

const learnConnection = (l: Listener): Action =>
  learn({
    table: T.connections,
    priority: 100,
    idleTimeout: idleSeconds(l),
    finIdleTimeout: l.protocol === "tcp" ? Math.min(CLOSED, idleSeconds(l)) : 0,
    deleteLearned: true,
    cookie: cookie("learned-connection", { kind: "listener", id: l.id }),
    specs: [...tupleSpecs(l.protocol), learnLoad(1, flagCounted)],
    ...(l.connectionLimit === undefined ? {} : { limit: l.connectionLimit }),
    resultDst: flagCounted,
  });

/** Counts the connection of this packet, if there is room for it, and sets the bit. To `learn` a limit of 0 would be none at all. */
const count = (l: Listener): readonly Action[] => [
  ...(l.connectionLimit === 0 ? [] : [learnConnection(l)]),
  // Only a flow that packets pass through knows when the last one was.
  resubmit({ table: T.connections }),
];

/** A way into a counted listener: which packets, and what is done before a slot is chosen. */
interface Entry {
  readonly above: number;
  readonly match: MatchRecord;
  readonly actions: readonly Action[];
}

/**
 * How the packets of a listener are told apart. Only the first packet of a TCP connection counts it. Where silence ends a connection,
 * others need to be known; where it does not, they go on, so that a limit that is set later does not cut what is there.
 */
export const entriesOf = ({ listener }: Service): readonly Entry[] => {
  if (!isCounted(listener)) return [{ above: 0, match: {}, actions: [] }];
  if (listener.protocol === "udp") return [{ above: 0, match: {}, actions: count(listener) }];
  const known = listener.idleTimeoutMs === undefined ? [load(1, flagCounted)] : [];
  return [
    { above: 100, match: opening, actions: count(listener) },
    { above: 0, match: {}, actions: [...known, resubmit({ table: T.connections })] },
  ];
};
