/**
 * The packet behind a question such as "what happens to TCP from A to B": ingress port and MACs follow from what is
 * known of the network, and what has to be assumed is said.
 */
import type { Action } from "../../openflow/action-values.ts";
import { contains, egress, ownAddresses } from "../addresses.ts";
import { isLearned, parseCookie } from "../cookies.ts";
import { ipText, macText } from "../format.ts";
import { exactValue } from "../match.ts";
import type { DesiredState, Ipv4, Mac, ResolvedPort, Segment } from "../model.ts";
import type { PacketFields } from "./packet.ts";
import type { SimulatedFlow } from "./tables.ts";

/** What is asked. Names are those of the topology. */
export interface Question {
  readonly src: Ipv4;
  readonly dst: Ipv4;
  readonly proto: "tcp" | "udp" | "icmp";
  readonly srcPort: number;
  readonly dstPort: number;
  readonly ttl: number;
  /** Name of the ingress segment. */
  readonly segment?: string;
  /** Name of the ingress port. */
  readonly port?: string;
}

export interface AssumedPacket {
  readonly packet: PacketFields;
  /** What was taken to be so without being known, as sentences. */
  readonly assumptions: readonly string[];
}

/** A question that no packet answers to; the message is for the operator. */
export class QuestionError extends Error {
  override name = "QuestionError";
}

/** A host that the switch or the resolver knows. */
interface Known {
  readonly segment: number;
  readonly mac: Mac;
  readonly ofport: number | undefined;
}

/** A MAC of the locally administered range, for senders nobody has seen. */
const STRANGER: Mac = 0x0200_0000_00fe;
const BROADCAST: Mac = 0xffff_ffff_ffff;
const PROTO = { icmp: 1, tcp: 6, udp: 17 } as const;
const ECHO_REQUEST = 8;

const actionsOf = (flow: SimulatedFlow): readonly Action[] =>
  flow.instructions.flatMap((i) => (i.kind === "apply_actions" ? i.actions : []));

/** Clients that the switch has learned as next hops, by address. */
const learnedHosts = (s: DesiredState, flows: Iterable<SimulatedFlow>): ReadonlyMap<Ipv4, Known> => {
  const segmentOf = new Map(s.ports.map((p) => [p.ofport, p.segment]));
  const found = new Map<Ipv4, Known>();
  for (const flow of flows) {
    if (!isLearned(flow.cookie)) continue;
    const parts = parseCookie(flow.cookie);
    const ip = exactValue(flow.match, "ip_dst");
    if (parts?.feature !== "learned-adjacency" || typeof ip !== "number") continue;
    let mac: Mac | undefined;
    let ofport: number | undefined;
    for (const a of actionsOf(flow)) {
      if (a.kind === "load" && a.dst.field === "eth_dst") mac = Number(a.value);
      if (a.kind === "set_field" && a.field === "eth_dst") mac = Number(a.value);
      if (a.kind === "output") ofport = a.port;
    }
    const segment = ofport === undefined ? undefined : segmentOf.get(ofport);
    if (mac !== undefined && segment !== undefined) found.set(ip, { segment, mac, ofport });
  }
  return found;
};

const finder = (s: DesiredState, flows: Iterable<SimulatedFlow>): ((ip: Ipv4) => Known | undefined) => {
  const learned = learnedHosts(s, flows);
  const byName = new Map(s.ports.map((p) => [p.name, p.ofport]));
  return (ip) => {
    const given = s.staticNeighbours.find((n) => n.ip === ip);
    if (given) return { ...given, ofport: given.port === undefined ? undefined : byName.get(given.port) };
    return s.neighbours.find((n) => n.ip === ip) ?? learned.get(ip);
  };
};

const named = <T extends { readonly name: string }>(all: readonly T[], name: string, what: string): T => {
  const found = all.find((x) => x.name === name);
  if (found) return found;
  throw new QuestionError(`there is no ${what} "${name}" (${what}s: ${all.map((x) => x.name).join(", ") || "none"})`);
};

/** The segment a packet from `src` comes in by. */
const ingressSegment = (s: DesiredState, q: Question): Segment => {
  if (q.segment !== undefined) return named(s.segments, q.segment, "segment");
  const id = egress(s, q.src)?.segment;
  const found = s.segments.find((x) => x.id === id);
  if (found) return found;
  throw new QuestionError(`${ipText(q.src)} is in no subnet and behind no route: say --segment or --port`);
};

/** Where strangers of a segment come from: another switch or router if there is one. */
const likelyPort = (s: DesiredState, segment: Segment): ResolvedPort => {
  const ports = s.ports.filter((p) => p.segment === segment.id && p.up);
  const found = ports.find((p) => p.role === "uplink") ?? ports[0];
  if (found) return found;
  throw new QuestionError(`segment ${segment.name} has no port that is up`);
};

const ingress = (s: DesiredState, q: Question, known: Known | undefined) => {
  const assumptions: string[] = [];
  if (q.port !== undefined) {
    const port = named(s.ports, q.port, "port");
    const segment = s.segments.find((x) => x.id === port.segment);
    if (segment === undefined) throw new QuestionError(`port ${port.name} belongs to no segment`);
    return { port, segment, assumptions };
  }
  const segment = ingressSegment(s, q);
  const seen = known?.segment === segment.id ? s.ports.find((p) => p.ofport === known.ofport) : undefined;
  const port = seen ?? likelyPort(s, segment);
  if (!seen) {
    assumptions.push(
      `No port is known for ${ipText(q.src)}: taken to come in by ${port.name} of segment ${segment.name}.`,
    );
  }
  return { port, segment, assumptions };
};

/** Last address of the subnet. */
const broadcastOf = ({ subnet }: Segment): Ipv4 =>
  subnet.length >= 31 ? -1 : (subnet.address | (0xffff_ffff >>> subnet.length)) >>> 0;

/** The MAC a sender in `segment` would put on a packet for `dst`. */
const destinationMac = (
  s: DesiredState,
  dst: Ipv4,
  segment: Segment,
  known: Known | undefined,
): { readonly mac: Mac; readonly assumption?: string } => {
  const own = ownAddresses(s).find((a) => a.ip === dst && a.segment === segment.id);
  if (own) return { mac: own.mac };
  if (dst === 0xffff_ffff || dst === broadcastOf(segment)) return { mac: BROADCAST };
  if (!contains(segment.subnet, dst)) return { mac: segment.gateway.mac };
  if (known?.segment === segment.id) return { mac: known.mac };
  return {
    mac: STRANGER + 1,
    assumption: `The MAC of ${ipText(dst)} is not known: ${macText(STRANGER + 1)} is made up.`,
  };
};

const transport = (q: Question): PacketFields => {
  const head = { nw_proto: PROTO[q.proto] };
  switch (q.proto) {
    case "tcp":
      return { ...head, tcp_src: q.srcPort, tcp_dst: q.dstPort };
    case "udp":
      return { ...head, udp_src: q.srcPort, udp_dst: q.dstPort };
    case "icmp":
      return { ...head, icmp_type: ECHO_REQUEST, icmp_code: 0 };
  }
};

/**
 * @param flows those learned by the switch; others are passed over
 * @throws QuestionError
 */
export const assumePacket = (s: DesiredState, flows: Iterable<SimulatedFlow>, q: Question): AssumedPacket => {
  const find = finder(s, flows);
  const sender = find(q.src);
  const { port, segment, assumptions } = ingress(s, q, sender);
  const direct = contains(segment.subnet, q.src);
  const route = direct ? undefined : s.routes.find((r) => r.segment === segment.id && contains(r.prefix, q.src));
  const hop = direct ? sender : route && find(route.via);
  const mac = port.hostMac ?? (hop?.segment === segment.id ? hop.mac : undefined);
  if (mac === undefined) {
    assumptions.push(`The MAC of ${ipText(route?.via ?? q.src)} is not known: ${macText(STRANGER)} is made up.`);
  }
  const to = destinationMac(s, q.dst, segment, find(q.dst));
  if (to.assumption !== undefined) assumptions.push(to.assumption);
  const packet: PacketFields = {
    in_port: port.ofport,
    eth_src: mac ?? STRANGER,
    eth_dst: to.mac,
    eth_type: 0x0800,
    ip_src: q.src,
    ip_dst: q.dst,
    nw_ttl: q.ttl,
    ...transport(q),
  };
  return { packet, assumptions };
};
