import { formatGroup } from "../../openflow/text/print-group.ts";
import { parseCookie } from "../../pipeline/cookies.ts";
import type { PlanOp } from "../../pipeline/diff.ts";
import { tableById } from "../../pipeline/tables.ts";
import { flowText } from "../flow-text.ts";

/** One operation of a plan for people: what changes, in ovs-ofctl's words, and why. */
export interface OpDescription {
  readonly sign: "+" | "-" | "~";
  readonly text: string;
  readonly reason: string;
}

const REASONS = {
  missing: "not on the switch",
  changed: "differs on the switch",
  foreign: "a flow of somebody else is in its place",
  stale: "not wanted any more",
} as const;

export function describeOp(op: PlanOp): OpDescription {
  const reason = REASONS[op.reason];
  const sign = op.op.endsWith("delete") ? "-" : op.reason === "missing" ? "+" : "~";
  switch (op.op) {
    case "meter-add":
    case "meter-modify":
      return { sign, text: `meter ${op.meter.meterId}`, reason };
    case "meter-delete":
      return { sign, text: `meter ${op.meterId}`, reason };
    case "group-add":
    case "group-modify":
      return { sign, text: formatGroup(op.group.groupId, op.group.groupType, op.group.buckets), reason };
    case "group-delete":
      return { sign, text: `group_id=${op.groupId}`, reason };
    case "flow-add":
      return { sign, text: flowText(op.flow), reason: `${reason}: ${op.flow.why}` };
    case "flow-delete":
      return { sign, text: flowText(op.flow), reason };
  }
}

/** Which object an operation is about, short enough for a log line or an error. */
export function objectOf(op: PlanOp): string {
  if (op.op !== "flow-add" && op.op !== "flow-delete") return describeOp(op).text;
  const parts = parseCookie(op.flow.cookie);
  const table = `table ${op.flow.tableId} (${tableById(op.flow.tableId)?.name ?? "unknown"})`;
  const what = op.op === "flow-add" ? op.flow.why : "";
  const object = parts && parts.object.kind !== "none" ? `${parts.object.kind} ${parts.object.id}, ` : "";
  return `${object}feature ${parts?.feature ?? "unknown"}, ${table}, cookie 0x${op.flow.cookie.toString(16)}${what && ` (${what})`}`;
}
