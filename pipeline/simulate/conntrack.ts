/**
 * What the connection tracker says of a packet. A simulation has no connections of its own: it assumes that every packet
 * is the first of its connection, is told a state, or is given connections that a switch has.
 */
import type { Nat } from "../../openflow/action-values-nx.ts";
import { CtState } from "../ct-state.ts";

/** Both ends of one direction; ports are 0 for protocols without. */
export interface Tuple {
  readonly src: number;
  readonly dst: number;
  readonly srcPort: number;
  readonly dstPort: number;
}

/** A `ct` action at work on a packet. */
interface CtQuery {
  readonly zone: number;
  readonly proto: number;
  readonly tuple: Tuple;
  readonly commit: boolean;
  /** Present when the action says `nat`. */
  readonly nat?: Nat;
  /** How many `ct` actions with a table the packet has passed before. */
  readonly index: number;
}

interface CtAnswer {
  /** {@link CtState} bits. */
  readonly state: number;
  /** The packet's ends after translation. */
  readonly tuple: Tuple;
  /** Why, for people. */
  readonly because: string;
}

export type Conntrack = (query: CtQuery) => CtAnswer;

/** IPv4 only, as everything here that translates. */
const addressOf = (nat: Nat): number | undefined => (typeof nat.address === "number" ? nat.address : undefined);

/** The mapping that the action asks for. A range is taken at its start, which is where a switch begins, too. */
const mapped = ({ nat, tuple }: CtQuery): Tuple => {
  if (nat?.type === "dst") return { ...tuple, dst: addressOf(nat) ?? tuple.dst, dstPort: nat.port ?? tuple.dstPort };
  if (nat?.type === "src") return { ...tuple, src: addressOf(nat) ?? tuple.src, srcPort: nat.port ?? tuple.srcPort };
  return tuple;
};

/** Every packet is the first of its connection. */
export const newConnections: Conntrack = (query) => ({
  state: CtState.tracked | CtState.new,
  tuple: mapped(query),
  because: "taken as the first packet of its connection",
});

/**
 * The n-th `ct` action gives the n-th state, those after the last are new. Translation is by what the action says and
 * not by what a connection would bring, as `ofproto/trace --ct-next` does it.
 */
export const answering =
  (states: readonly number[]): Conntrack =>
  (query) => {
    const state = states[query.index];
    return state === undefined
      ? newConnections(query)
      : { state, tuple: mapped(query), because: "in the state that was asked for" };
  };

/** A connection as a switch keeps it: what its first packet had, and what answers to it have. */
export interface Connection {
  readonly zone: number;
  readonly proto: number;
  readonly original: Tuple;
  readonly reply: Tuple;
}

/** The tuple of the other direction. */
export const reversed = (t: Tuple): Tuple => ({ src: t.dst, dst: t.src, srcPort: t.dstPort, dstPort: t.srcPort });

const keyOf = (zone: number, proto: number, t: Tuple): string =>
  `${zone} ${proto} ${t.src} ${t.dst} ${t.srcPort} ${t.dstPort}`;

/** Packets of known connections are established and translated as their connection is; all others are new. */
export const knownConnections = (connections: Iterable<Connection>): Conntrack => {
  const known = new Map<string, { readonly reply: boolean; readonly becomes: Tuple }>();
  for (const { zone, proto, original, reply } of connections) {
    known.set(keyOf(zone, proto, original), { reply: false, becomes: reversed(reply) });
    known.set(keyOf(zone, proto, reply), { reply: true, becomes: reversed(original) });
  }
  return (query) => {
    const found = known.get(keyOf(query.zone, query.proto, query.tuple));
    if (found === undefined) return newConnections(query);
    const tuple = query.nat === undefined ? query.tuple : found.becomes;
    const way = found.reply ? CtState.reply : tuple.dst === query.tuple.dst ? 0 : CtState.destinationNat;
    return {
      state: CtState.tracked | CtState.established | way,
      tuple,
      because: found.reply ? "an answer in a known connection" : "of a known connection",
    };
  };
};
