/**
 * DecodeErrors of actions and instructions that are well formed: what Open vSwitch 3.1 answers to them, first error first.
 */
import type { Action } from "./action-values.ts";
import { checkContext } from "./check-context.ts";
import { DecodeError } from "./errors.ts";
import type { FieldName } from "./fields.ts";
import type { Instruction } from "./instruction-values.ts";
import type { Match } from "./match.ts";
import type { Unknown } from "./schema/tlv.ts";

/** What the actions stand in: nothing, or an action or instruction that does not take them all. */
export type Outer = "list" | "instructions" | "ct" | "clone";

const refusal = (code: string, detail: string): DecodeError => new DecodeError(code, 0, detail);

const EXPERIMENTER = 0xffff;

function unknownAction(u: Unknown): DecodeError {
  if (u.type !== EXPERIMENTER) return refusal("OFPBAC_BAD_TYPE", `no action ${u.type}`);
  if (u.subtype === undefined) return refusal("OFPBAC_BAD_VENDOR", `no experimenter ${u.experimenter}`);
  return refusal("OFPBAC_BAD_VENDOR_TYPE", `experimenter ${u.experimenter} has no action ${u.subtype}`);
}

/** Actions of OpenFlow 1.3 that Open vSwitch does not have. */
const MISSING = new Set<Action["kind"]>(["copy_ttl_out", "copy_ttl_in", "push_pbb", "pop_pbb"]);

/** Actions that may stand in an action set (OF1.3.5 §5.10, and Open vSwitch's own). */
const IN_ACTION_SET = new Set<Action["kind"]>([
  "pop_vlan",
  "pop_mpls",
  "decap",
  "encap",
  "push_mpls",
  "push_vlan",
  "dec_ttl",
  "dec_mpls_ttl",
  "dec_nsh_ttl",
  "ct",
  "ct_clear",
  "resubmit",
  "output",
  "group",
  "set_field",
  "load",
  "move",
  "mod_dl_dst",
  "mod_dl_src",
  "mod_nw_tos",
  "mod_nw_ecn",
  "mod_nw_ttl",
  "mod_nw_dst",
  "mod_nw_src",
  "mod_tp_dst",
  "mod_tp_src",
  "set_mpls_label",
  "set_mpls_tc",
  "set_mpls_ttl",
  "set_queue",
  "set_tunnel",
  "set_tunnel64",
  "set_vlan_pcp",
  "set_vlan_vid",
]);

/** The order in which instructions run; write_metadata is an action too. */
const APPLY = 1;
const ORDER: Partial<Record<string, number>> = {
  meter: 0,
  clear_actions: 2,
  write_actions: 3,
  write_metadata: 4,
  goto_table: 5,
};
export const orderOf = (kind: string): number => ORDER[kind] ?? APPLY;

const written = (a: Action): FieldName | undefined =>
  a.kind === "set_field" ? a.field : a.kind === "load" || a.kind === "move" ? a.dst.field : undefined;
const isCtField = (f: FieldName | undefined): boolean => f === "ct_mark" || f === "ct_label";

/** Each action by itself, with what it holds. */
function checkEach(list: readonly Action[]): DecodeError | undefined {
  for (const a of list) {
    if (a.kind === "unknown") return unknownAction(a);
    if (MISSING.has(a.kind)) return refusal("OFPBAC_BAD_TYPE", `Open vSwitch has no action ${a.kind}`);
    if (a.kind === "clone") {
      const inner = checkList(a.actions, "clone");
      if (inner) return inner;
    } else if (a.kind === "ct") {
      const inner = checkList(a.actions, "ct") ?? (a.commit ? undefined : checkUncommitted(a.actions));
      if (inner) return inner;
    }
  }
  return undefined;
}

function checkUncommitted(list: readonly Action[]): DecodeError | undefined {
  for (const a of list) {
    const bare = a.kind === "nat" && !a.type && !a.persistent && !a.choice && a.address === undefined;
    if (!bare) return refusal("OFPBAC_BAD_ARGUMENT", `${a.kind} in ct wants commit, unless it is a bare nat`);
  }
  return undefined;
}

function checkPlace(a: Action, outer: Outer): DecodeError | undefined {
  const field = written(a);
  if (isCtField(field) && outer !== "ct") {
    return refusal("OFPBAC_BAD_SET_ARGUMENT", `${field} can only be written inside ct`);
  }
  if (a.kind === "nat") return outer === "ct" ? undefined : refusal("OFPBAC_BAD_SET_ARGUMENT", "nat outside ct");
  if (outer === "ct" && !isCtField(field)) return refusal("OFPBAC_BAD_ARGUMENT", `${a.kind} inside ct`);
  return undefined;
}

/** Order and place. `list` may hold instructions too, which come as their kinds in the order in which they run. */
function checkOrder(list: readonly (Action | Instruction)[], outer: Outer): DecodeError | undefined {
  let last = 0;
  for (const [i, a] of list.entries()) {
    if (a.kind === "conjunction") {
      const other = list.find((x) => x.kind !== "conjunction" && x.kind !== "note");
      return other && refusal("NXBAC_BAD_CONJUNCTION", `conjunction beside ${other.kind}`);
    }
    const place = a.kind in ORDER && a.kind !== "write_metadata" ? undefined : checkPlace(a as Action, outer);
    if (place) return place;
    const order = orderOf(a.kind);
    if (i > 0 && (last === APPLY ? order < last : order <= last)) {
      return refusal("OFPBAC_UNSUPPORTED_ORDER", `${a.kind} cannot come here`);
    }
    if (order !== APPLY && outer !== "instructions") {
      return refusal("OFPBIC_UNSUP_INST", `${a.kind} among actions`);
    }
    last = order;
  }
  return undefined;
}

export const checkList = (list: readonly Action[], outer: Outer): DecodeError | undefined =>
  checkEach(list) ?? checkOrder(list, outer);

/** Checks a list of actions as it stands in a packet-out or a bucket. */
export const checkActions = (list: readonly Action[]): DecodeError | undefined => checkList(list, "list");

/** The flow that instructions belong to. */
interface FlowContext {
  readonly match: Match;
  readonly tableId?: number;
}

/**
 * Checks the instructions of a flow; with `flow`, also whether they suit its match and table.
 * @returns the error with which Open vSwitch refuses them; its offset is not known here and 0
 */
export function checkInstructions(list: readonly Instruction[], flow?: FlowContext): DecodeError | undefined {
  const seen = new Set<string>();
  for (const i of list) {
    if (i.kind === "unknown") {
      return i.type === EXPERIMENTER
        ? refusal("OFPBIC_BAD_EXPERIMENTER", "experimenter instruction")
        : refusal("OFPBIC_UNKNOWN_INST", `no instruction ${i.type}`);
    }
    if (seen.has(i.kind)) return refusal("OFPBIC_DUP_INST", `two ${i.kind}`);
    seen.add(i.kind);
  }
  const flat: (Action | Instruction)[] = [];
  for (const i of inOrder(list)) {
    if (i.kind === "apply_actions") {
      const bad = checkEach(i.actions);
      if (bad) return bad;
      flat.push(...i.actions);
    } else if (i.kind === "write_actions") {
      const wrong = i.actions.find((a) => !IN_ACTION_SET.has(a.kind) && a.kind !== "unknown" && !MISSING.has(a.kind));
      const bad =
        checkEach(i.actions) ?? (wrong && refusal("OFPBAC_BAD_TYPE", `${wrong.kind} cannot be in an action set`));
      if (bad) return bad;
      flat.push(i);
    } else flat.push(i);
  }
  return checkOrder(flat, "instructions") ?? (flow && checkContext(inOrder(list), flow.match, flow.tableId));
}

/** Instructions in the order in which they run (OF1.3.5 §5.9), which is also the order of their text. */
export const inOrder = (list: readonly Instruction[]): readonly Instruction[] =>
  list.toSorted((a, b) => orderOf(a.kind) - orderOf(b.kind));
