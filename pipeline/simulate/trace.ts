/** What a simulation finds out. */

import type { Instruction } from "../../openflow/instruction-values.ts";
import type { Match } from "../../openflow/match.ts";
import type { Connection } from "./conntrack.ts";
import type { PacketFields } from "./packet.ts";

/** A table that the packet passed. */
export interface Step<F> {
  readonly tableId: number;
  /** 0 on the way by goto_table, one more inside each resubmit. */
  readonly depth: number;
  /** Undefined when no flow matched, which drops. */
  readonly flow: F | undefined;
  /** What the flow's actions did that their text does not show, in order. */
  readonly notes: readonly string[];
  /** Registers that are not 0 once the flow's actions have run. */
  readonly registers: PacketFields;
}

/** The way from a table on: pass 1 begins in table 0, each later one where conntrack hands the packet back. */
export interface Pass<F> {
  readonly from: number;
  /** What conntrack found; absent in the first pass. */
  readonly conntrack?: string;
  readonly steps: readonly Step<F>[];
  /** The packet at the end of this pass. */
  readonly final: PacketFields;
}

/** A copy that leaves. */
export interface Output {
  /** OpenFlow port number; the ingress port for IN_PORT. */
  readonly port: number;
  readonly fields: PacketFields;
}

/** A copy for the controller. */
export interface Punt {
  /** Empty when the action has none. */
  readonly userdata: Buffer;
  readonly meterId: number | undefined;
  readonly fields: PacketFields;
}

/** A flow that the switch makes or refreshes. */
export interface LearnedFlow {
  readonly tableId: number;
  readonly priority: number;
  readonly match: Match;
  readonly instructions: readonly Instruction[];
  readonly cookie: bigint;
  /** Seconds. */
  readonly idleTimeout: number;
  readonly hardTimeout: number;
}

export interface Trace<F> {
  readonly passes: readonly Pass<F>[];
  readonly outputs: readonly Output[];
  readonly punts: readonly Punt[];
  readonly learned: readonly LearnedFlow[];
  /** Connections that the packet brought into the connection table, or belongs to. */
  readonly connections: readonly Connection[];
  /** Why nothing left and nothing was punted; undefined when something was. */
  readonly dropped: string | undefined;
  /** Actions that are not simulated; the result is not to be trusted when there are any. */
  readonly unknown: readonly string[];
}
