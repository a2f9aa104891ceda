/** What a flow in a dump is there for: the words behind its table number and its cookie. */
import { isOurs, type ObjectRef, parseCookie } from "./cookies.ts";
import { ipText } from "./format.ts";
import type { FlowIdentity } from "./identity.ts";
import { flowKey } from "./identity.ts";
import type { DesiredState } from "./model.ts";
import type { Program } from "./program.ts";
import { tableById } from "./tables.ts";

/** A flow in words. */
export interface Explanation {
  readonly table: string;
  /** Feature of the cookie; "foreign" when the flow is not ours. */
  readonly feature: string;
  /** "pool web" or "address 10.0.0.1"; empty when the flow is there for nothing in particular. */
  readonly object: string;
  /** One sentence. */
  readonly why: string;
}

/** A flow as far as it needs to be known here. */
export type Explainable = FlowIdentity & { readonly cookie: bigint };

/** Names of the objects that cookies number. */
const namesOf = (s: DesiredState): ((ref: ObjectRef) => string) => {
  const pools = s.loadBalancers.flatMap((lb) => lb.pools);
  const byKind = {
    segment: new Map(s.segments.map((x) => [x.id, x.name])),
    port: new Map(s.ports.map((x) => [x.ofport, x.name])),
    listener: new Map(s.loadBalancers.flatMap((lb) => lb.listeners).map((x) => [x.id, x.name])),
    pool: new Map(pools.map((x) => [x.id, x.name])),
    member: new Map(pools.flatMap((p) => p.members).map((x) => [x.id, x.name])),
  };
  return ({ kind, id }) => {
    if (kind === "none") return "";
    if (kind === "address" || kind === "prefix") return `${kind} ${ipText(id)}`;
    return `${kind} ${byKind[kind].get(id) ?? id}`;
  };
};

const LEARNED = {
  "learned-fdb": "The switch saw this MAC as a source on that port.",
  "learned-adjacency": "The switch saw this client send, so it knows its MAC and port.",
  "learned-connection": "A connection that its listener counts.",
  "learned-open": "An open connection of a member.",
} as const;

/**
 * Prepares explanations of the flows of one switch: `program` is what was compiled from `state`. A flow that is ours but not in the
 * program is one that the next reconciliation takes away.
 */
export const explainer = (state: DesiredState, program: Program): ((flow: Explainable) => Explanation) => {
  const whyByKey = new Map(program.flows.map((f) => [f.key, f.why]));
  const nameOf = namesOf(state);
  return (flow) => {
    const def = tableById(flow.tableId);
    const table = def?.name ?? `table ${flow.tableId}`;
    const parts = parseCookie(flow.cookie);
    if (parts === undefined) {
      const why = isOurs(flow.cookie) ? "Made by another version of this program." : "Made by somebody else.";
      return { table, feature: isOurs(flow.cookie) ? "unknown" : "foreign", object: "", why };
    }
    const { feature, object } = parts;
    const why =
      feature in LEARNED
        ? LEARNED[feature as keyof typeof LEARNED]
        : (whyByKey.get(flowKey(flow)) ?? `Not wanted any more; was for: ${def?.purpose ?? table}`);
    return { table, feature, object: nameOf(object), why };
  };
};
