import { FlowCommand, NO_BUFFER } from "../../openflow/messages/flow.ts";
import { GROUP_ANY, GroupCommand } from "../../openflow/messages/group.ts";
import { MeterCommand } from "../../openflow/messages/meter.ts";
import { Port } from "../../openflow/messages/port.ts";
import type { Plan, PlanOp } from "../../pipeline/diff.ts";
import type { FlowBody, FlowIdentity } from "../../pipeline/identity.ts";
import { SessionClosed, SwitchError } from "../session/requests.ts";
import type { Outgoing, Session } from "../session/session.ts";
import { type BundleItem, sendBundle } from "./bundle.ts";
import { objectOf } from "./describe.ts";

/** What became of a plan. `flowMods` are the commands of the flow mods that went out, applied or not. */
export type Applied = { readonly flowMods: readonly ("add" | "delete")[] } & (
  | { readonly kind: "applied" }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "unknown"; readonly reason: string }
);

const flowMod = (command: number, flow: FlowIdentity, body: FlowBody): Outgoing => ({
  type: "flow_mod",
  cookie: body.cookie,
  cookieMask: 0n,
  tableId: flow.tableId,
  command,
  idleTimeout: body.idleTimeout,
  hardTimeout: body.hardTimeout,
  priority: flow.priority,
  bufferId: NO_BUFFER,
  outPort: Port.any,
  outGroup: GROUP_ANY,
  flags: body.flags,
  match: flow.match,
  instructions: body.instructions,
});

const message = (op: PlanOp): Outgoing => {
  switch (op.op) {
    case "meter-add":
    case "meter-modify":
      return {
        type: "meter_mod",
        command: op.op === "meter-add" ? MeterCommand.add : MeterCommand.modify,
        flags: op.meter.flags,
        meterId: op.meter.meterId,
        bands: op.meter.bands,
      };
    case "meter-delete":
      return { type: "meter_mod", command: MeterCommand.delete, flags: 0, meterId: op.meterId, bands: [] };
    case "group-add":
    case "group-modify":
      return {
        type: "group_mod",
        command: op.op === "group-add" ? GroupCommand.add : GroupCommand.modify,
        ...op.group,
      };
    case "group-delete":
      return { type: "group_mod", command: GroupCommand.delete, groupType: 0, groupId: op.groupId, buckets: [] };
    case "flow-add":
      return flowMod(FlowCommand.add, op.flow, op.flow);
    case "flow-delete":
      return flowMod(FlowCommand.deleteStrict, op.flow, {
        ...op.flow,
        instructions: [],
        idleTimeout: 0,
        hardTimeout: 0,
        flags: 0,
      });
  }
};

const item = (op: PlanOp): BundleItem => ({ message: message(op), what: objectOf(op) });

/** Sends meter mods and waits; switches take none into a bundle. Throws what {@link Session.barrier} throws. */
async function sendMeters(session: Session, ops: readonly PlanOp[]): Promise<SwitchError | undefined> {
  if (ops.length === 0) return undefined;
  let refused: SwitchError | undefined;
  const sent = new Set<number>();
  const stopWatching = session.watchErrors((error) => {
    if (!sent.has(error.xid)) return false;
    refused ??= error;
    return true;
  });
  try {
    for (const op of ops) {
      const { message, what } = item(op);
      sent.add(session.send(message, what));
    }
    await session.barrier();
    return refused;
  } finally {
    stopWatching();
  }
}

/** Carries out a plan: meters that flows need, one atomic bundle, meters that no flow needs any more. */
export async function applyPlan(session: Session, plan: Plan): Promise<Applied> {
  let flowMods: readonly ("add" | "delete")[] = [];
  try {
    const before = await sendMeters(session, plan.before);
    if (before) return { kind: "refused", reason: before.message, flowMods };
    if (plan.bundle.length > 0) {
      flowMods = plan.bundle.flatMap((op) =>
        op.op === "flow-add" ? ["add" as const] : op.op === "flow-delete" ? ["delete" as const] : [],
      );
      const result = await sendBundle(session, plan.bundle.map(item));
      if (result.kind === "unknown") return { ...result, flowMods };
      if (result.kind === "refused") {
        const reason = result.refusals.map((r) => `${r.what}: the switch answers ${r.code}`).join("; ");
        return { kind: "refused", reason, flowMods };
      }
    }
    const after = await sendMeters(session, plan.after);
    return after ? { kind: "refused", reason: after.message, flowMods } : { kind: "applied", flowMods };
  } catch (e) {
    if (e instanceof SwitchError) return { kind: "refused", reason: e.message, flowMods };
    if (e instanceof SessionClosed) return { kind: "unknown", reason: e.message, flowMods };
    throw e;
  }
}
