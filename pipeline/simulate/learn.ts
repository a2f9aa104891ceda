/** The flow that a `learn` action makes of a packet (ovs-actions(7), "learn"). */
import type { Action } from "../../openflow/action-values.ts";
import type { Learn, LearnSpec } from "../../openflow/action-values-nx.ts";
import { canonicalMatch } from "../../openflow/canonical.ts";
import { type FieldName, type FieldValue, fieldByName } from "../../openflow/fields.ts";
import type { OxmField } from "../../openflow/match.ts";
import type { Subfield } from "../../openflow/subfield.ts";
import { type PacketState, readBits } from "./packet.ts";
import type { LearnedFlow } from "./trace.ts";

const asValue = (field: FieldName, value: bigint): FieldValue => (fieldByName(field)?.big ? value : Number(value));

const matchField = ({ field, ofs, nBits }: Subfield, value: bigint): OxmField => {
  const whole = ofs === 0 && nBits === fieldByName(field)?.bits;
  const shifted = asValue(field, value << BigInt(ofs));
  if (whole) return { field, value: shifted };
  return { field, value: shifted, mask: asValue(field, ((1n << BigInt(nBits)) - 1n) << BigInt(ofs)) };
};

const sourceOf = (spec: LearnSpec, state: PacketState): bigint =>
  typeof spec.src === "bigint" ? spec.src : readBits(state, spec.src);

/** What is learned from the packet as it is now. */
export const learnedFrom = (learn: Learn, state: PacketState): LearnedFlow => {
  const match: OxmField[] = [];
  const actions: Action[] = [];
  for (const spec of learn.specs) {
    const value = sourceOf(spec, state);
    if (spec.kind === "match") match.push(matchField(spec.dst, value));
    else if (spec.kind === "load") actions.push({ kind: "load", dst: spec.dst, value });
    else actions.push({ kind: "output", port: Number(value), maxLen: 0 });
  }
  return {
    tableId: learn.table,
    priority: learn.priority,
    match: canonicalMatch(match),
    instructions: [{ kind: "apply_actions", actions }],
    cookie: learn.cookie,
    idleTimeout: learn.idleTimeout,
    hardTimeout: learn.hardTimeout,
  };
};
