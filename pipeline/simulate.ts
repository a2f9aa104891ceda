/**
 * Runs a packet through a program, table by table, as a switch would: what `lbctl trace` shows, and what tests ask
 * about the whole pipeline without one. It knows every action the pipeline uses; others are named in the result.
 */
import type { GroupSpec, Program } from "./program.ts";
import { type Conntrack, newConnections } from "./simulate/conntrack.ts";
import { type PacketFields, stateOf } from "./simulate/packet.ts";
import { type Journey, runPass } from "./simulate/run.ts";
import { lookupIn, type SimulatedFlow } from "./simulate/tables.ts";
import type { Pass, Trace } from "./simulate/trace.ts";

/** Times that a packet may come back from conntrack, beyond any use. */
const MAX_PASSES = 32;

/** Runs one packet; without a conntrack it is the first of its connection everywhere. */
export type Simulator<F> = (packet: PacketFields, conntrack?: Conntrack) => Trace<F>;

/**
 * Prepares simulations of one switch.
 *
 * @param flows those of a program, and those that the switch has learned
 */
export const simulator = <F extends SimulatedFlow>(flows: Iterable<F>, groups: readonly GroupSpec[]): Simulator<F> => {
  const lookup = lookupIn(flows);
  const byId = new Map(groups.map((g) => [g.groupId, g]));
  return (packet, conntrack = newConnections) => {
    const journey: Journey<F> = {
      lookup,
      groups: byId,
      conntrack,
      outputs: [],
      punts: [],
      learned: [],
      connections: [],
      unknown: [],
      ends: [],
      waiting: [],
      tracked: 0,
      tablesPassed: 0,
    };
    const passes: Pass<F>[] = [runPass(journey, 0, stateOf(packet), [])];
    for (let next = journey.waiting.shift(); next && passes.length < MAX_PASSES; next = journey.waiting.shift()) {
      passes.push(runPass(journey, next.table, next.state, next.stack, next.conntrack));
    }
    const { outputs, punts, learned, connections, unknown } = journey;
    const dropped = outputs.length + punts.length > 0 ? undefined : (journey.ends.at(-1) ?? dropOf(passes));
    return { passes, outputs, punts, learned, connections, dropped, unknown };
  };
};

/** The table in which a packet that came to nothing was last seen. */
const dropOf = <F extends SimulatedFlow>(passes: readonly Pass<F>[]): string => {
  const last = passes.at(-1)?.steps.at(-1);
  return last?.flow === undefined
    ? `No flow of table ${last?.tableId ?? 0} matches.`
    : `Dropped in table ${last.tableId}.`;
};

/** The simulator of a program alone, as if the switch had learned nothing yet. */
export const simulatorOf = ({ flows, groups }: Program): Simulator<Program["flows"][number]> =>
  simulator(flows, groups);
