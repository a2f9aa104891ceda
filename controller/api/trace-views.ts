/** What the native API answers about single packets and about what the switch has learned. */
import { Type } from "typebox";
import { counter, integer, list, named, number, orNull, text, type View } from "./schema.ts";

export const TraceStepView = named("TraceStep", "A table a packet passed.", {
  table: integer(),
  tableName: text(),
  depth: integer("0, and one more inside each resubmit"),
  flow: orNull(text(), "the flow as ovs-ofctl prints it; null when none matched"),
  cookie: text(),
  feature: text(),
  object: text(),
  why: text(),
  notes: list(text(), "what the actions did that their text does not show"),
  registers: Type.Record(Type.String(), text(), {
    description: "registers that are not 0 behind the table, with what they mean",
  }),
});
export type TraceStepView = View<typeof TraceStepView>;

const TracePassView = named("TracePass", "The way through the tables up to the end or to conntrack.", {
  from: integer("table it begins in"),
  conntrack: orNull(text(), "what conntrack found; null for the first pass"),
  steps: list(TraceStepView),
  final: text("the packet at its end, as an exact match"),
});

export const TraceOutputView = named("TraceOutput", "A packet as it leaves.", {
  port: text(),
  ofport: integer(),
  packet: text("as an exact match without registers"),
  changed: Type.Record(Type.String(), text(), { description: "header fields that are not as they came in" }),
});
export type TraceOutputView = View<typeof TraceOutputView>;

export const TracePuntView = named("TracePunt", "A packet that is handed to the controller.", {
  class: text("class of packet-ins; `other` when the packet carries none of ours"),
  purpose: text(),
});
export type TracePuntView = View<typeof TracePuntView>;

export const TraceView = named("Trace", "The way of a packet.", {
  node: text(),
  packet: text("as it comes in, as an exact match"),
  switchArguments: list(text(), "the same for `ofproto/trace`, and the `--ct-next` options that go with it"),
  assumptions: list(text()),
  passes: list(TracePassView),
  outputs: list(TraceOutputView),
  punts: list(TracePuntView),
  learned: list(text(), "flows the switch would make or refresh"),
  dropped: orNull(text(), "why it came to nothing; null when it left or was punted"),
  unknown: list(text(), "actions that are not simulated"),
});
export type TraceView = View<typeof TraceView>;

export const FdbEntryView = named("FdbEntry", "A MAC that the switch has learned.", {
  mac: text(),
  port: text(),
  addresses: list(text(), "addresses it was seen to send from, as far as these were learned as next hops"),
  secondsKnown: number("since it was learned first"),
  secondsKept: number("it is forgotten when it has not sent for so long"),
  packets: counter("frames that were sent to it by this entry"),
});
export type FdbEntryView = View<typeof FdbEntryView>;

export const FdbView = named("Fdb", "What is learned in a segment, and what was flooded there for want of it.", {
  node: text(),
  segment: text(),
  entries: list(FdbEntryView),
  floodedPackets: orNull(counter(), "frames that went to all ports; null while the switch has no such group"),
  floodedBytes: orNull(counter()),
});
export type FdbView = View<typeof FdbView>;

/** A connection that a switch tracks. */
export interface ConnectionView {
  readonly proto: string;
  /** IP:PORT; the address alone for protocols without ports. */
  readonly client: string;
  /** What the client called: a VIP, if it is balanced. */
  readonly destination: string;
  /** Who answers. */
  readonly server: string;
  /** Names of the members that this is; several when pools share a server. */
  readonly members: readonly string[];
  /** Which end was translated. */
  readonly nat: "none" | "dnat" | "snat" | "both";
  /** TCP's state in the words of the switch; null for other protocols. */
  readonly state: string | null;
  readonly zone: number;
  readonly mark: number;
  readonly secondsLeft: number | null;
}
