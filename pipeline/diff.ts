/**
 * From what a switch holds to what it should hold: an ordered list of operations, each with its reason. Pure, so that a plan can
 * be printed, tested and thrown away.
 *
 * A changed flow is one ADD: the switch replaces the flow and keeps its counters, and flows learned through it live on.
 * Deleting and adding it would lose both.
 */
import { isLearned, isOurs } from "./cookies.ts";
import { bucketsKey, canonicalFlowKey, type FlowBody, type FlowIdentity, flowKey, sameBody } from "./identity.ts";
import { ownsGroup, ownsMeter } from "./ownership.ts";
import type { BucketSpec, CompiledFlow, DropBand, GroupSpec, MeterSpec, Program } from "./program.ts";

/** A flow as the statistics of a switch show it. */
export interface ObservedFlow extends FlowIdentity, FlowBody {}

/** A group as the switch describes it. */
interface ObservedGroup {
  readonly groupId: number;
  readonly groupType: number;
  readonly buckets: readonly BucketSpec[];
}

/** A meter as the switch describes it. */
interface ObservedMeter {
  readonly meterId: number;
  readonly flags: number;
  /** Bands of any kind. */
  readonly bands: readonly ({ readonly kind: string } | DropBand)[];
}

/** Everything a switch was seen to hold, other people's things included. */
export interface Observed {
  readonly flows: readonly ObservedFlow[];
  readonly groups: readonly ObservedGroup[];
  readonly meters: readonly ObservedMeter[];
}

/** "missing": not there. "changed": there, but different. "foreign": a flow of somebody else is in its place. "stale": not wanted. */
type Reason = "missing" | "changed" | "foreign" | "stale";

/** Adds a meter, or changes one that is there. */
interface MeterPut {
  readonly op: "meter-add" | "meter-modify";
  readonly meter: MeterSpec;
  readonly reason: Reason;
}

/** Takes a meter away. */
interface MeterDelete {
  readonly op: "meter-delete";
  readonly meterId: number;
  readonly reason: Reason;
}

/** Adds a group, or changes one that is there. */
interface GroupPut {
  readonly op: "group-add" | "group-modify";
  readonly group: GroupSpec;
  readonly reason: Reason;
}

/** Takes a group away. */
interface GroupDelete {
  readonly op: "group-delete";
  readonly groupId: number;
  readonly reason: Reason;
}

/** Adds a flow, in place of the one with its identity if there is one. */
interface FlowAdd {
  readonly op: "flow-add";
  readonly flow: CompiledFlow;
  readonly reason: Reason;
}

/** Takes away exactly this flow (OFPFC_DELETE_STRICT). */
interface FlowDelete {
  readonly op: "flow-delete";
  readonly flow: ObservedFlow;
  readonly reason: Reason;
}

export type PlanOp = MeterPut | MeterDelete | GroupPut | GroupDelete | FlowAdd | FlowDelete;

/**
 * Operations in the order they must happen in. Switches take no meters into bundles, so there are three steps: meters that flows need, one
 * bundle, meters that no flow needs any more.
 */
export interface Plan {
  readonly before: readonly MeterPut[];
  readonly bundle: readonly (GroupPut | FlowDelete | FlowAdd | GroupDelete)[];
  readonly after: readonly MeterDelete[];
}

/** Whether nothing is to be done. */
export const isEmptyPlan = (plan: Plan): boolean =>
  plan.before.length === 0 && plan.bundle.length === 0 && plan.after.length === 0;

const sameGroup = (a: ObservedGroup, b: ObservedGroup): boolean =>
  a.groupType === b.groupType && bucketsKey(a.buckets) === bucketsKey(b.buckets);

/** Bands as a string; kinds of band that are none of ours only have to look different. */
const bandsKey = (bands: readonly { readonly kind: string }[]): string =>
  bands
    .map((b) => {
      const { kind, rate, burstSize } = b as Partial<DropBand>;
      return `${kind} ${rate} ${burstSize}`;
    })
    .join(";");

const sameMeter = (a: ObservedMeter, b: ObservedMeter): boolean =>
  a.flags === b.flags && bandsKey(a.bands) === bandsKey(b.bands);

const diffFlows = (
  desired: Program,
  observed: Observed,
): { readonly adds: FlowAdd[]; readonly deletes: FlowDelete[] } => {
  const wanted = new Map(desired.flows.map((f, i) => [f.key, i]));
  /** Why each wanted flow is to be added; undefined when it is there as it should be. */
  const reasons = new Array<Reason | undefined>(desired.flows.length).fill("missing");
  const deletes: FlowDelete[] = [];
  for (const flow of observed.flows) {
    const ours = isOurs(flow.cookie);
    // A switch sends matches in canonical form, nearly always: the dear way is only for what the cheap one does not find.
    const at = wanted.get(canonicalFlowKey(flow)) ?? wanted.get(flowKey(flow));
    if (at !== undefined) {
      reasons[at] = sameBody(flow, desired.flows[at]!) ? undefined : ours ? "changed" : "foreign";
    } else if (ours && !isLearned(flow.cookie)) {
      deletes.push({ op: "flow-delete", flow, reason: "stale" });
    }
  }
  const adds = desired.flows.flatMap((flow, i): FlowAdd[] => {
    const reason = reasons[i];
    return reason === undefined ? [] : [{ op: "flow-add", flow, reason }];
  });
  return { adds, deletes: deletes.sort((a, b) => compareIdentity(a.flow, b.flow)) };
};

const compareIdentity = (a: FlowIdentity, b: FlowIdentity): number =>
  a.tableId - b.tableId || b.priority - a.priority || (flowKey(a) < flowKey(b) ? -1 : 1);

/** Things with a number: what to put, and which numbers to take away. */
const diffNumbered = <D, O>(
  desired: readonly D[],
  observed: readonly O[],
  idOf: (x: D | O) => number,
  owns: (id: number) => boolean,
  same: (d: D, o: O) => boolean,
): { readonly add: D[]; readonly modify: D[]; readonly remove: number[] } => {
  const there = new Map(observed.map((o) => [idOf(o), o]));
  const wanted = new Set(desired.map(idOf));
  const add: D[] = [];
  const modify: D[] = [];
  for (const d of desired) {
    const o = there.get(idOf(d));
    if (o === undefined) add.push(d);
    else if (!same(d, o)) modify.push(d);
  }
  const remove = [...there.keys()].filter((id) => owns(id) && !wanted.has(id)).sort((a, b) => a - b);
  return { add, modify, remove };
};

/** The plan that brings a switch that holds `observed` to `desired`. */
export const diff = (desired: Program, observed: Observed): Plan => {
  const flows = diffFlows(desired, observed);
  const groups = diffNumbered<GroupSpec, ObservedGroup>(
    desired.groups,
    observed.groups,
    (g) => g.groupId,
    ownsGroup,
    sameGroup,
  );
  const meters = diffNumbered<MeterSpec, ObservedMeter>(
    desired.meters,
    observed.meters,
    (m) => m.meterId,
    ownsMeter,
    sameMeter,
  );
  return {
    before: [
      ...meters.add.map((meter): MeterPut => ({ op: "meter-add", meter, reason: "missing" })),
      ...meters.modify.map((meter): MeterPut => ({ op: "meter-modify", meter, reason: "changed" })),
    ],
    bundle: [
      ...groups.add.map((group): GroupPut => ({ op: "group-add", group, reason: "missing" })),
      ...groups.modify.map((group): GroupPut => ({ op: "group-modify", group, reason: "changed" })),
      ...flows.deletes,
      ...flows.adds,
      ...groups.remove.map((groupId): GroupDelete => ({ op: "group-delete", groupId, reason: "stale" })),
    ],
    after: meters.remove.map((meterId): MeterDelete => ({ op: "meter-delete", meterId, reason: "stale" })),
  };
};
