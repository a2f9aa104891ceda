/**
 * The whole program of a switch from the whole desired state. Nothing is kept between two calls: a learned MAC, a
 * failed member or an edited listener is simply another state.
 */
import { EncodeError } from "../openflow/errors.ts";
import type { Instruction } from "../openflow/instruction-values.ts";
import type { OxmField } from "../openflow/match.ts";
import { type FeatureName, parseCookie } from "./cookies.ts";
import { adjacency } from "./features/adjacency.ts";
import { arp } from "./features/arp.ts";
import { classify } from "./features/classify.ts";
import { echo } from "./features/echo.ts";
import type { Feature } from "./features/feature.ts";
import { fragments } from "./features/fragments.ts";
import { guard } from "./features/guard.ts";
import { hairpin } from "./features/hairpin.ts";
import { ingress } from "./features/ingress.ts";
import { listener } from "./features/listener.ts";
import { member } from "./features/member.ts";
import { probe } from "./features/probe.ts";
import { returnPath } from "./features/return.ts";
import { routing } from "./features/routing.ts";
import { slot } from "./features/slot.ts";
import { switching } from "./features/switching.ts";
import { ttl } from "./features/ttl.ts";
import { vip } from "./features/vip.ts";
import { type FlowSpec, jumpFault } from "./flow.ts";
import { bodyKey, canonicalFlowKey } from "./identity.ts";
import type { DesiredState } from "./model.ts";
import { ownsGroup, ownsMeter } from "./ownership.ts";
import type { CompiledFlow, GroupSpec, MeterSpec, Program } from "./program.ts";
import { puntMeters } from "./punt.ts";

/** Every feature of the product. */
const features: readonly Feature[] = [
  ingress,
  guard,
  classify,
  arp,
  echo,
  vip,
  ttl,
  probe,
  listener,
  fragments,
  slot,
  member,
  hairpin,
  returnPath,
  routing,
  adjacency,
  switching,
];

/** A program that would not do what its parts say. The message names the feature and the object. */
export class CompileError extends Error {
  constructor(detail: string) {
    super(detail);
    this.name = "CompileError";
  }
}

/** Names a flow in an error. */
const nameOf = (flow: FlowSpec): string => {
  const parts = parseCookie(flow.cookie);
  const owner =
    parts === undefined ? `cookie ${flow.cookie}` : `${parts.feature}, ${parts.object.kind} ${parts.object.id}`;
  return `table ${flow.tableId} priority ${flow.priority} (${owner}: ${flow.why})`;
};

/** Groups and meters that instructions name. */
function* references(
  instructions: readonly Instruction[],
): Generator<{ readonly group?: number; readonly meter?: number }> {
  for (const i of instructions) {
    if (i.kind === "meter") yield { meter: i.meterId };
    if (i.kind !== "apply_actions" && i.kind !== "write_actions") continue;
    for (const a of i.actions) {
      if (a.kind === "group") yield { group: a.groupId };
      if (a.kind === "controller" && a.meterId !== undefined) yield { meter: a.meterId };
    }
  }
}

/** A flow that was checked, with what compiling needs to know of it. */
interface Prepared {
  readonly flow: CompiledFlow;
  /** The feature that the cookie names. */
  readonly feature: FeatureName | undefined;
  readonly references: readonly { readonly group?: number; readonly meter?: number }[];
  readonly shape: Shape;
}

/** Features may give the very flow they gave before; what follows from it alone is then known. */
const known = new WeakMap<FlowSpec, Prepared>();

const prepare = (flow: FlowSpec): Prepared => {
  const before = known.get(flow);
  if (before !== undefined) return before;
  const fault = jumpFault(flow);
  if (fault !== undefined) throw new CompileError(`${nameOf(flow)}: ${fault}`);
  const prepared: Prepared = {
    flow: { ...flow, key: canonicalFlowKey(flow), body: encoded(flow) },
    feature: parseCookie(flow.cookie)?.feature,
    references: [...references(flow.instructions)],
    shape: shapeOf(flow),
  };
  known.set(flow, prepared);
  return prepared;
};

const checkFlow = (
  { flow, feature: named, references }: Prepared,
  feature: Feature,
  groups: ReadonlySet<number>,
  meters: ReadonlySet<number>,
): void => {
  if (named !== feature.name) {
    throw new CompileError(`${nameOf(flow)}: feature ${feature.name} made it under the name of ${named}`);
  }
  for (const { group, meter } of references) {
    if (group !== undefined && !groups.has(group)) throw new CompileError(`${nameOf(flow)}: no group ${group}`);
    if (meter !== undefined && !meters.has(meter)) throw new CompileError(`${nameOf(flow)}: no meter ${meter}`);
  }
};

const encoded = (flow: FlowSpec): string => {
  try {
    return bodyKey(flow.instructions);
  } catch (e) {
    if (!(e instanceof EncodeError)) throw e;
    throw new CompileError(`${nameOf(flow)}: ${e.message}`);
  }
};

const bitsOf = (f: OxmField): bigint => (f.mask === undefined ? -1n : BigInt(f.mask));

/** Whether some packet matches both; they match on the same fields. */
const overlap = (a: FlowSpec, b: FlowSpec): boolean =>
  a.match.every((x, i) => {
    const left = x as OxmField;
    const right = b.match[i] as OxmField;
    const both = bitsOf(left) & bitsOf(right);
    return (BigInt(left.value) & both) === (BigInt(right.value) & both);
  });

/** How a match is shaped: its fields, and those with their masks. */
interface Shape {
  readonly fields: string;
  readonly masks: string;
}

const shapeOf = (flow: FlowSpec): Shape => {
  let fields = `${flow.tableId} ${flow.priority}`;
  let masks = "";
  for (const f of flow.match as readonly OxmField[]) {
    fields += ` ${f.field}`;
    if (f.mask !== undefined) masks += ` ${f.field}/${f.mask}`;
  }
  return { fields, masks };
};

/**
 * Two flows of one priority that a packet matches both: which one wins is the switch's whim. Looked for among flows on the same
 * fields; with equal masks too, overlapping ones would be equal and have been found before.
 */
const checkOverlaps = (flows: readonly Prepared[]): void => {
  const families = new Map<string, Map<string, CompiledFlow[]>>();
  for (const { flow, shape } of flows) {
    const { fields, masks } = shape;
    const family = families.get(fields) ?? new Map<string, CompiledFlow[]>();
    families.set(fields, family);
    const alike = family.get(masks);
    if (alike === undefined) family.set(masks, [flow]);
    else alike.push(flow);
  }
  for (const family of families.values()) {
    const groups = [...family.values()];
    for (const [i, group] of groups.slice(0, -1).entries()) {
      const others = groups.slice(i + 1).flat();
      for (const a of group) {
        const b = others.find((other) => other.body !== a.body && overlap(a, other));
        if (b !== undefined) throw new CompileError(`${nameOf(a)} overlaps ${nameOf(b)}`);
      }
    }
  }
};

/** No two flows have the same key. */
const byOrder = ({ flow: a }: Prepared, { flow: b }: Prepared): number =>
  a.tableId - b.tableId || b.priority - a.priority || (a.key < b.key ? -1 : 1);

const unique = <T>(
  list: readonly T[],
  idOf: (t: T) => number,
  owns: (id: number) => boolean,
  what: string,
): readonly T[] => {
  const sorted = [...list].sort((a, b) => idOf(a) - idOf(b));
  for (const [i, item] of sorted.entries()) {
    const id = idOf(item);
    if (!owns(id)) throw new CompileError(`${what} ${id} is not in our range`);
    if (i > 0 && idOf(sorted[i - 1]!) === id) throw new CompileError(`two definitions of ${what} ${id}`);
  }
  return sorted;
};

/**
 * Compiles a state. The result does not depend on the order of anything in the state.
 *
 * @throws CompileError or FlowError when features contradict each other or a switch would refuse their flows
 */
export const compile = (state: DesiredState, parts: readonly Feature[] = features): Program => {
  const groups = unique<GroupSpec>(
    parts.flatMap((f) => [...(f.groups?.(state) ?? [])]),
    (g) => g.groupId,
    ownsGroup,
    "group",
  );
  const meters = unique<MeterSpec>(puntMeters, (m) => m.meterId, ownsMeter, "meter");
  const groupIds = new Set(groups.map((g) => g.groupId));
  const meterIds = new Set(meters.map((m) => m.meterId));
  const flows = new Map<string, Prepared>();
  for (const feature of parts) {
    for (const flow of feature.flows(state)) {
      const prepared = prepare(flow);
      checkFlow(prepared, feature, groupIds, meterIds);
      const { key } = prepared.flow;
      const other = flows.get(key);
      if (other !== undefined) throw new CompileError(`${nameOf(flow)} has the match of ${nameOf(other.flow)}`);
      flows.set(key, prepared);
    }
  }
  const sorted = [...flows.values()].sort(byOrder);
  checkOverlaps(sorted);
  return { meters, groups, flows: sorted.map((p) => p.flow) };
};
