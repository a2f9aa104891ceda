import type { Action } from "../../openflow/action-values.ts";
import { load, resubmit } from "../../openflow/build.ts";
import { parseCookie } from "../cookies.ts";
import { type FlowSpec, flowBuilder } from "../flow.ts";
import { ip, prefix } from "../match.ts";
import type { ResolvedPort, Segment } from "../model.ts";
import { flagClaim, flagClientLearned, flagMacLearned } from "../registers.ts";
import { T } from "../tables.ts";
import type { Feature } from "./feature.ts";

const flow = flowBuilder("guard");

/**
 * What is suspect about frames of a port. "claims": they have an address of ours as their source. "macs": their source MAC was
 * not learned since the port has as many as it may. "clients": the same for their IP address.
 */
export const SUSPICIONS = ["claims", "macs", "clients"] as const;
export type Suspicion = (typeof SUSPICIONS)[number];

const PRIORITY: Readonly<Record<Suspicion, number>> = { claims: 120, macs: 110, clients: 100 };

/** Passes a frame by the counters of table 2. */
export const lookedAt: Action = resubmit({ table: T.guard });

/** The same for a frame that claims an address of ours. */
export const claimLookedAt: readonly Action[] = [load(1, flagClaim), lookedAt];

/** Whether hosts behind the port become next hops by what they send. */
export const learnsClients = (port: ResolvedPort, segment: Segment): boolean =>
  segment.clientsLearned && port.role === "host";

function* counters(port: ResolvedPort, segment: Segment): Generator<FlowSpec> {
  const object = { kind: "port", id: port.ofport } as const;
  const from = { in_port: port.ofport };
  yield flow({
    table: T.guard,
    priority: PRIORITY.claims,
    match: { ...from, [flagClaim.field]: oneBit(flagClaim.ofs, 1) },
    object,
    why: `Counts frames from port ${port.name} that claim an address of ours.`,
  });
  yield flow({
    table: T.guard,
    priority: PRIORITY.macs,
    match: { ...from, [flagMacLearned.field]: oneBit(flagMacLearned.ofs, 0) },
    object,
    why: `Counts frames from port ${port.name} whose MAC is one more than ${segment.learnLimit}, and not learned.`,
  });
  if (!learnsClients(port, segment)) return;
  yield flow({
    table: T.guard,
    priority: PRIORITY.clients,
    match: {
      ...ip,
      ...from,
      ip_src: prefix(segment.subnet),
      [flagClientLearned.field]: oneBit(flagClientLearned.ofs, 0),
    },
    object,
    why: `Counts packets from port ${port.name} whose address is one more than ${segment.learnLimit}, and not learned.`,
  });
}

const oneBit = (ofs: number, value: 0 | 1) => ({ value: value << ofs, mask: 1 << ofs });

/** Table 2: counts what is wrong with the sources of frames, for each port; no packet ends or changes here. */
export const guard: Feature = {
  name: "guard",
  *flows(s) {
    const segments = new Map(s.segments.map((segment) => [segment.id, segment]));
    for (const port of s.ports) {
      const segment = segments.get(port.segment);
      if (port.up && segment !== undefined) yield* counters(port, segment);
    }
    yield flow({ table: T.guard, priority: 0, why: "Nothing to count." });
  },
};

/** What a flow of table 2 counts, and for which port; undefined for other flows. */
export const suspicionOf = (counted: {
  readonly tableId: number;
  readonly priority: number;
  readonly cookie: bigint;
}): { readonly ofport: number; readonly suspicion: Suspicion } | undefined => {
  if (counted.tableId !== T.guard) return undefined;
  const parts = parseCookie(counted.cookie);
  const suspicion = SUSPICIONS.find((x) => PRIORITY[x] === counted.priority);
  if (parts?.feature !== "guard" || parts.object.kind !== "port" || suspicion === undefined) return undefined;
  return { ofport: parts.object.id, suspicion };
};
