/**
 * What the native HTTP API answers: plain JSON, with addresses and names as people write them. The command line and
 * the web page show these same values, and the API's document is made from these schemas.
 */
import { Type } from "typebox";
import { EVENT_KINDS } from "../events.ts";
import { counter, integer, list, named, number, oneOf, orNull, text, type View } from "./schema.ts";

/** The states a node goes through; only in "steady" does the switch hold exactly what is wanted. */
export type NodeState = NodeStatus["state"];

export const NodeStatus = named("NodeStatus", "A node of the topology and the switch that is connected as it.", {
  name: text(),
  state: oneOf(
    ["disconnected", "observing", "converging", "steady", "refused"],
    "only in `steady` does the switch hold exactly what is wanted",
  ),
  datapathId: orNull(text(), "16 hex digits; null before the first connection"),
  peer: orNull(text(), "HOST:PORT of the switch's end; null while disconnected"),
  role: text(),
  generation: Type.Object({ desired: integer(), applied: integer() }),
  flows: integer("flows of the desired program"),
  flowModsSent: integer("flow mods sent since the daemon started"),
  driftRepaired: integer("changes made because the switch had drifted, not because something new was wanted"),
  packetIns: Type.Record(Type.String(), integer(), { description: "packets the switch sent up, by class" }),
  secondsSinceCheck: orNull(number()),
  lastError: orNull(text()),
});
export type NodeStatus = View<typeof NodeStatus>;

export const StatusView = named("Status", "The daemon and its nodes.", {
  version: text(),
  uptimeSeconds: number(),
  openflow: text("HOST:PORT where switches connect"),
  topology: text("path of the topology file"),
  reloadError: orNull(text(), "errors of the last refused reload; null when the file in force is the file on disk"),
  nodes: list(NodeStatus),
});
export type StatusView = View<typeof StatusView>;

export const PortView = named("Port", "A port of a bridge.", {
  node: text(),
  name: text(),
  ofport: orNull(integer(), "OpenFlow port number; null when the switch has no such port"),
  segment: orNull(text(), "name of its segment; null for a port no segment claims"),
  role: orNull(text()),
  state: oneOf(["up", "down", "missing"]),
  mac: orNull(text()),
  claims: orNull(integer(), "frames that claimed an address of ours; null where the switch does not count them"),
  macsNotLearned: orNull(integer(), "frames whose MAC was one more than may be learned behind the port"),
  clientsNotLearned: orNull(integer(), "packets whose address was one more than may be learned behind the port"),
});
export type PortView = View<typeof PortView>;

export const SegmentView = named("Segment", "A broadcast domain with one subnet.", {
  id: integer("value of reg0"),
  name: text(),
  kind: oneOf(["public", "private"]),
  subnet: text("ADDRESS/LENGTH"),
  gateway: text("our address in it"),
  probe: orNull(text(), "address health probes come from"),
  vips: list(
    Type.Object({ ip: text(), loadBalancer: text(), listeners: list(text(), "PROTOCOL/PORT, by listener") }),
    "addresses of load balancers in it",
  ),
});
export type SegmentView = View<typeof SegmentView>;

export const NeighbourView = named("Neighbour", "A next hop and its MAC address.", {
  node: text(),
  segment: text(),
  ip: text(),
  mac: orNull(text()),
  port: orNull(text()),
  state: text("NUD state in lower case"),
  usedBy: list(text()),
  secondsSinceConfirmed: orNull(number()),
  queued: integer("packets waiting for the address to be resolved"),
});
export type NeighbourView = View<typeof NeighbourView>;

export const FlowView = named("Flow", "A flow of a switch with what it is for.", {
  node: text(),
  table: integer(),
  tableName: text(),
  tablePurpose: text(),
  priority: integer(),
  text: text("as ovs-ofctl prints it"),
  cookie: text(),
  packets: counter(),
  bytes: counter(),
  feature: text(),
  object: text(),
  why: text(),
});
export type FlowView = View<typeof FlowView>;

const SlotMemberView = named("SlotMember", "A member's part of its pool's slots.", {
  name: text(),
  id: integer(),
  address: text(),
  eligibility: text(),
  weight: integer(),
  slots: integer(),
  share: number("0 to 1"),
  packets: counter(),
  bytes: counter(),
});
export type SlotMemberView = View<typeof SlotMemberView>;

export const SlotsView = named("Slots", "The slot layout of a pool.", {
  loadBalancer: text(),
  pool: text(),
  poolId: integer(),
  slots: integer(),
  digest: text("first 16 hex digits of the layout's SHA-256"),
  layout: list(integer(), "the member's id for each slot; empty while no member is eligible"),
  members: list(SlotMemberView),
});
export type SlotsView = View<typeof SlotsView>;

export const PlanView = named("Plan", "What a round would change on a switch.", {
  node: text(),
  operations: list(Type.Object({ sign: oneOf(["+", "-", "~"]), text: text(), reason: text() })),
  error: orNull(text(), "why no plan could be made; null when there is one"),
});
export type PlanView = View<typeof PlanView>;

export const EventView = named("Event", "Something that happened.", {
  id: text("RUN-NUMBER; numbers count from 1 within a run of the daemon"),
  at: text("ISO 8601 in UTC"),
  kind: oneOf(EVENT_KINDS),
  level: oneOf(["info", "warn"]),
  text: text("one sentence for people"),
  data: Type.Record(Type.String(), Type.Unknown(), { description: "the same for programs" }),
});
export type EventView = View<typeof EventView>;

export const ProbeView = named("Probe", "How one node's probes of a member went.", {
  node: text(),
  state: text(),
  adopted: Type.Boolean({ description: "taken over from the switch, and not decided by probes yet" }),
  probes: integer(),
  failures: integer(),
  ms: orNull(number(), "duration of the last probe; null before the first"),
  source: text("address the probes come from"),
  reason: orNull(text(), "what the last probe found; null before the first"),
  secondsInState: number(),
  history: list(Type.Object({ ok: Type.Boolean(), reason: text(), ms: number(), at: text() }), "the newest first"),
});
export type ProbeView = View<typeof ProbeView>;

export const MemberHealthView = named("MemberHealth", "A member, its health and what it serves.", {
  id: integer(),
  uuid: text(),
  name: text(),
  address: text(),
  state: text("what all nodes together say: up, down, unknown, or unmonitored"),
  admin: oneOf(["enabled", "draining", "disabled"]),
  eligibility: text("`eligible`, or what stands against it"),
  inPool: Type.Boolean(),
  slots: integer(),
  nodes: list(ProbeView),
});
export type MemberHealthView = View<typeof MemberHealthView>;

export const HealthView = named("PoolHealth", "Health of a pool's members.", {
  loadBalancer: text(),
  pool: text(),
  poolId: integer(),
  slots: integer(),
  digest: text(),
  monitor: orNull(
    Type.Object({ type: text(), interval: number(), timeout: number(), rise: integer(), fall: integer() }),
    "times in seconds; null without a monitor",
  ),
  members: list(MemberHealthView),
});
export type HealthView = View<typeof HealthView>;
