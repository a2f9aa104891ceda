/** What the native API answers about single packets and about what the switch has learned. */

/** A table a packet passed. */
export interface TraceStepView {
  readonly table: number;
  readonly tableName: string;
  /** 0, and one more inside each resubmit. */
  readonly depth: number;
  /** The flow as ovs-ofctl prints it; null when none matched. */
  readonly flow: string | null;
  readonly cookie: string;
  readonly feature: string;
  readonly object: string;
  readonly why: string;
  /** What the actions did that their text does not show. */
  readonly notes: readonly string[];
  /** Registers that are not 0 behind the table, with what they mean: `{"reg0": "2 (segment p2)"}`. */
  readonly registers: Readonly<Record<string, string>>;
}

export interface TracePassView {
  /** Table it begins in. */
  readonly from: number;
  /** What conntrack found; null for the first pass. */
  readonly conntrack: string | null;
  readonly steps: readonly TraceStepView[];
  /** The packet at its end, as an exact match. */
  readonly final: string;
}

export interface TraceOutputView {
  readonly port: string;
  readonly ofport: number;
  /** The packet as it leaves, as an exact match without registers. */
  readonly packet: string;
  /** Header fields that are not as they came in: `{"ip_dst": "10.20.0.2"}`. */
  readonly changed: Readonly<Record<string, string>>;
}

export interface TracePuntView {
  /** Class of packet-ins; "other" when the packet carries none of ours. */
  readonly class: string;
  readonly purpose: string;
}

export interface TraceView {
  readonly node: string;
  /** The packet as it comes in, as an exact match. */
  readonly packet: string;
  /** The same for `ofproto/trace`, and the `--ct-next` options that go with it. */
  readonly switchArguments: readonly string[];
  readonly assumptions: readonly string[];
  readonly passes: readonly TracePassView[];
  readonly outputs: readonly TraceOutputView[];
  readonly punts: readonly TracePuntView[];
  /** Flows the switch would make or refresh. */
  readonly learned: readonly string[];
  /** Why it came to nothing; null when it left or was punted. */
  readonly dropped: string | null;
  /** Actions that are not simulated. */
  readonly unknown: readonly string[];
}

/** A MAC that the switch has learned. */
export interface FdbEntryView {
  readonly mac: string;
  readonly port: string;
  /** Addresses it was seen to send from, as far as these were learned as next hops. */
  readonly addresses: readonly string[];
  /** Since it was learned first. */
  readonly secondsKnown: number;
  /** It is forgotten when it has not sent for so long. */
  readonly secondsKept: number;
  /** Frames that were sent to it by this entry. */
  readonly packets: string;
}

/** What is learned in a segment, and what was flooded there for want of it. */
export interface FdbView {
  readonly node: string;
  readonly segment: string;
  readonly entries: readonly FdbEntryView[];
  /** Frames that went to all ports; null while the switch has no such group. */
  readonly floodedPackets: string | null;
  readonly floodedBytes: string | null;
}

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
