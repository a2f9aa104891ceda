import { BadRequest } from "../controller/api/refusals.ts";
import type { FdbEntryView, FdbView } from "../controller/api/trace-views.ts";
import type { NodeController } from "../controller/node.ts";
import type { ObservedFlow } from "../controller/reconcile/observe.ts";
import type { Action } from "../openflow/action-values.ts";
import { GROUP_ALL } from "../openflow/messages/group.ts";
import { formatIpv4, formatMac } from "../openflow/packet/address.ts";
import { parseCookie } from "../pipeline/cookies.ts";
import { exactValue } from "../pipeline/match.ts";
import { floodGroup } from "../pipeline/ownership.ts";
import { regSegment } from "../pipeline/registers.ts";
import { T } from "../pipeline/tables.ts";

/** What the switches have learned, by node and segment; nothing of those that are away. */
export async function fdbViews(nodes: readonly NodeController[], only: string | undefined): Promise<FdbView[]> {
  const known = new Set(nodes.flatMap((n) => n.topology.segments.map((s) => s.name)));
  if (only !== undefined && !known.has(only)) {
    throw new BadRequest(`segment: there is no segment "${only}" (segments: ${[...known].join(", ") || "none"})`);
  }
  const views = (await Promise.all(nodes.map(nodeViews))).flat();
  return only === undefined ? views : views.filter((v) => v.segment === only);
}

async function nodeViews(n: NodeController): Promise<FdbView[]> {
  if (!n.session) return [];
  const [fdb, adjacency, floods] = await Promise.all([n.dump(T.fdb), n.dump(T.adjacency), floodCounters(n)]);
  const { attached } = n.ports;
  const addresses = addressesByMac(adjacency, new Map(attached.map((p) => [p.ofport, p.segment])));
  const portName = new Map(attached.map((p) => [p.ofport, p.name]));
  return n.topology.segments.map((segment): FdbView => {
    const flood = floods.get(floodGroup(segment.id));
    const entries = fdb.flatMap((f): FdbEntryView[] => {
      const mac = exactValue(f.match, "eth_dst");
      const port = actionsOf(f).find((a) => a.kind === "output")?.port;
      if (!isLearnedMac(f, segment.id) || typeof mac !== "number" || port === undefined) return [];
      return [
        {
          mac: formatMac(mac),
          port: portName.get(port) ?? String(port),
          addresses: (addresses.get(`${segment.id} ${mac}`) ?? []).sort((a, b) => a - b).map(formatIpv4),
          secondsKnown: f.durationSec,
          secondsKept: f.hardTimeout,
          packets: String(f.packetCount),
        },
      ];
    });
    return {
      node: n.node.name,
      segment: segment.name,
      entries: entries.sort((a, b) => a.mac.localeCompare(b.mac)),
      floodedPackets: flood === undefined ? null : String(flood.packetCount),
      floodedBytes: flood === undefined ? null : String(flood.byteCount),
    };
  });
}

const actionsOf = (f: ObservedFlow): readonly Action[] =>
  f.instructions.flatMap((i) => (i.kind === "apply_actions" ? i.actions : []));

const isLearnedMac = (f: ObservedFlow, segment: number): boolean =>
  parseCookie(f.cookie)?.feature === "learned-fdb" && exactValue(f.match, regSegment.field) === segment;

/** Addresses of learned clients by "SEGMENT MAC". */
function addressesByMac(
  flows: readonly ObservedFlow[],
  segmentOf: ReadonlyMap<number, number>,
): ReadonlyMap<string, number[]> {
  const found = new Map<string, number[]>();
  for (const f of flows) {
    const parts = parseCookie(f.cookie);
    const ip = exactValue(f.match, "ip_dst");
    if (parts?.feature !== "learned-adjacency" || typeof ip !== "number") continue;
    const segment = segmentOf.get(actionsOf(f).find((a) => a.kind === "output")?.port ?? -1);
    if (segment === undefined) continue;
    for (const a of actionsOf(f)) {
      const mac =
        a.kind === "load" && a.dst.field === "eth_dst"
          ? Number(a.value)
          : a.kind === "set_field" && a.field === "eth_dst"
            ? Number(a.value)
            : undefined;
      if (mac === undefined) continue;
      const key = `${segment} ${mac}`;
      found.set(key, [...(found.get(key) ?? []), ip]);
    }
  }
  return found;
}

async function floodCounters(
  n: NodeController,
): Promise<ReadonlyMap<number, { readonly packetCount: bigint; readonly byteCount: bigint }>> {
  const parts = await n.session?.multipart(
    { type: "group_stats_request", flags: 0, groupId: GROUP_ALL },
    "counters of groups",
  );
  return new Map(
    parts?.flatMap((p) => (p.type === "group_stats_reply" ? p.groups.map((g) => [g.groupId, g] as const) : [])),
  );
}
