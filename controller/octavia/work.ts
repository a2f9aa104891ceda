/** What the operations work with: a draft of the state, and what the daemon knows beside it. */
import { randomUUID } from "node:crypto";
import { idLimits } from "../../pipeline/ids.ts";
import type { Topology } from "../../pipeline/model.ts";
import type { Draft } from "../store/draft.ts";
import type { Rows, TableName } from "../store/rows.ts";
import { Fault } from "./fault.ts";
import type { OptionName } from "./provider.ts";

/** One transaction's surroundings. */
export interface Work {
  readonly draft: Draft;
  readonly topology: Topology;
  readonly options: ReadonlySet<OptionName>;
  /** The project of the one who asks. */
  readonly project: string;
  /** The time as columns hold it: UTC, ISO 8601 without a zone. Later calls give later times, to the microsecond. */
  stamp(): string;
}

type Numbered = "loadBalancers" | "listeners" | "pools" | "members";

/** Numbers have to fit where the pipeline carries them. */
const highest: Readonly<Record<Numbered, number>> = {
  loadBalancers: idLimits.loadBalancer,
  listeners: idLimits.listener,
  pools: idLimits.pool,
  members: idLimits.member,
};

/**
 * The next free number of a table. It goes round, so that a freed number comes again as late as possible: packets and counters of
 * its old owner may still be about.
 */
export const nextNumber = (draft: Draft, table: Numbered): number => {
  const most = highest[table];
  if (draft.size(table) >= most) throw new Fault(507, `There is no room for more than ${most} objects of this kind.`);
  const counter = draft.get("counters", table) ?? { id: table, last: 0, wrapped: false };
  const wrapped = counter.wrapped || counter.last >= most;
  // Until the first round is over nothing above the last number can be in use.
  const used = wrapped ? new Set([...draft.all(table)].map((row) => row.number)) : undefined;
  let last = counter.last;
  do last = (last % most) + 1;
  while (used?.has(last));
  draft.put("counters", { id: table, last, wrapped });
  return last;
};

/** The columns a new row begins with. */
export const newObject = (work: Work, project: string) => ({
  id: randomUUID(),
  project_id: project,
  created_at: work.stamp(),
  updated_at: null,
});

/** Writes the changed row, with its time of change, unless nothing in it is different. */
export const putChanged = <T extends TableName>(work: Work, table: T, before: Rows[T], after: Rows[T]): Rows[T] => {
  if (JSON.stringify(before) === JSON.stringify(after)) return before;
  const row = { ...after, updated_at: work.stamp() };
  work.draft.put(table, row);
  return row;
};
