import type { Message } from "../../openflow/messages/all.ts";
import { GROUP_ANY } from "../../openflow/messages/group.ts";
import { Meter } from "../../openflow/messages/meter.ts";
import { learnedBit, ownerCookie, ownerMask } from "../../pipeline/cookies.ts";
import type { Observed } from "../../pipeline/diff.ts";
import type { Session } from "../session/session.ts";

type Part<N extends Message["type"]> = Extract<Message, { readonly type: N }>;
export type ObservedFlow = Part<"flow_stats_reply">["flows"][number];

/** What a switch holds of ours, with the counters of its flows. */
export interface Observation extends Observed {
  readonly flows: readonly ObservedFlow[];
}

const OFPTT_ALL = 0xff;
const OFPP_ANY = 0xffff_ffff;

/** Flows under `cookie`/`cookieMask`, of one table or of all. */
export async function dumpFlows(
  session: Session,
  filter: { readonly cookie: bigint; readonly cookieMask: bigint; readonly tableId?: number },
): Promise<readonly ObservedFlow[]> {
  const parts = await session.multipart(
    {
      type: "flow_stats_request",
      flags: 0,
      tableId: filter.tableId ?? OFPTT_ALL,
      outPort: OFPP_ANY,
      outGroup: GROUP_ANY,
      cookie: filter.cookie,
      cookieMask: filter.cookieMask,
      match: [],
    },
    "dump of flows",
  );
  return parts.flatMap((p) => (p.type === "flow_stats_reply" ? p.flows : []));
}

/** Our own flows, without those the switch has learned, and all groups and meters. */
export async function observe(session: Session): Promise<Observation> {
  const [flows, groups, meters] = await Promise.all([
    dumpFlows(session, { cookie: ownerCookie, cookieMask: ownerMask | learnedBit }),
    session.multipart({ type: "group_desc_request", flags: 0 }, "dump of groups"),
    session.multipart({ type: "meter_config_request", flags: 0, meterId: Meter.all }, "dump of meters"),
  ]);
  return {
    flows,
    groups: groups.flatMap((p) => (p.type === "group_desc_reply" ? p.groups : [])),
    meters: meters.flatMap((p) =>
      p.type === "meter_config_reply" ? p.meters.map((m) => ({ ...m, flags: m.meterFlags })) : [],
    ),
  };
}
