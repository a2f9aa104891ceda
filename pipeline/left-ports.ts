/** Ports that what a switch has learned is no longer true of. */
import { parseCookie } from "./cookies.ts";
import type { ObservedFlow } from "./diff.ts";
import { regSegment } from "./registers.ts";
import { T } from "./tables.ts";

type Flow = Pick<ObservedFlow, "tableId" | "cookie" | "instructions">;

const segmentOf = ({ instructions }: Flow): number | undefined => {
  for (const i of instructions) {
    if (i.kind !== "apply_actions") continue;
    for (const a of i.actions) if (a.kind === "load" && a.dst.field === regSegment.field) return Number(a.value);
  }
  return undefined;
};

/** The segment that table 0 gives each port. */
const segmentsByPort = (flows: readonly Flow[]): ReadonlyMap<number, number> => {
  const found = new Map<number, number>();
  for (const flow of flows) {
    if (flow.tableId !== T.ingress) continue;
    const parts = parseCookie(flow.cookie);
    const segment = segmentOf(flow);
    if (parts?.feature === "ingress" && parts.object.kind === "port" && segment !== undefined)
      found.set(parts.object.id, segment);
  }
  return found;
};

/** Numbers of the ports that belong to a segment by the flows of a switch, and to another one or none by those that are wanted. */
export const leftPorts = (observed: readonly Flow[], wanted: readonly Flow[]): readonly number[] => {
  const now = segmentsByPort(wanted);
  return [...segmentsByPort(observed)].flatMap(([port, segment]) => (now.get(port) === segment ? [] : [port]));
};
