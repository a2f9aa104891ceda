/** How many objects a project may have. */
import type { QuotaRow, Row, TableName } from "../store/rows.ts";
import { Fault } from "./fault.ts";
import { type Input, integer, readObject, updated } from "./fields.ts";
import type { Work } from "./work.ts";

const limit = integer(-1, 2_147_483_647);

const schema = {
  load_balancer: limit,
  loadbalancer: limit,
  listener: limit,
  pool: limit,
  member: limit,
  health_monitor: limit,
  healthmonitor: limit,
  l7policy: limit,
  l7rule: limit,
} as const;

type Counted = "load_balancer" | "listener" | "pool" | "member" | "health_monitor";

const counted: Readonly<Record<Counted, { readonly table: TableName; readonly kind: string }>> = {
  load_balancer: { table: "loadBalancers", kind: "Load Balancer" },
  listener: { table: "listeners", kind: "Listener" },
  pool: { table: "pools", kind: "Pool" },
  member: { table: "members", kind: "Member" },
  health_monitor: { table: "healthMonitors", kind: "Health Monitor" },
};

/** Limits nobody has set. */
const unlimited = (project: string): QuotaRow => ({
  id: project,
  load_balancer: null,
  listener: null,
  pool: null,
  member: null,
  health_monitor: null,
  l7policy: null,
  l7rule: null,
});

/** @throws Fault when the project may not have one more of this kind */
export const enforceQuota = (work: Work, project: string, what: Counted): void => {
  const most = work.draft.get("quotas", project)?.[what] ?? -1;
  if (most < 0) return;
  const { table, kind } = counted[what];
  let present = 0;
  for (const row of work.draft.all(table) as Iterable<Row & { readonly project_id?: string }>) {
    if (row.project_id === project) present++;
  }
  if (present >= most) throw new Fault(403, `Quota has been met for resources: ${kind}`);
};

/** GET /quotas/PROJECT */
export const quotaView = (row: QuotaRow | undefined) => ({
  load_balancer: row?.load_balancer ?? -1,
  listener: row?.listener ?? -1,
  member: row?.member ?? -1,
  pool: row?.pool ?? -1,
  health_monitor: row?.health_monitor ?? -1,
  l7policy: row?.l7policy ?? -1,
  l7rule: row?.l7rule ?? -1,
});

/** A row of GET /quotas */
export const quotaListView = (row: QuotaRow) => ({
  project_id: row.id,
  loadbalancer: row.load_balancer,
  load_balancer: row.load_balancer,
  listener: row.listener,
  member: row.member,
  pool: row.pool,
  healthmonitor: row.health_monitor,
  health_monitor: row.health_monitor,
  l7policy: row.l7policy,
  l7rule: row.l7rule,
  tenant_id: row.id,
});

/** PUT /quotas/PROJECT */
export const updateQuota = (work: Work, project: string, body: unknown): QuotaRow => {
  const input: Input<typeof schema> = readObject(schema, body, "quotas.quota");
  const before = work.draft.get("quotas", project) ?? unlimited(project);
  const after: QuotaRow = {
    ...before,
    load_balancer: updated(input.load_balancer ?? input.loadbalancer, before.load_balancer, null),
    listener: updated(input.listener, before.listener, null),
    pool: updated(input.pool, before.pool, null),
    member: updated(input.member, before.member, null),
    health_monitor: updated(input.health_monitor ?? input.healthmonitor, before.health_monitor, null),
    l7policy: updated(input.l7policy, before.l7policy, null),
    l7rule: updated(input.l7rule, before.l7rule, null),
  };
  work.draft.put("quotas", after);
  return after;
};
