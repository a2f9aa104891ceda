import { BadRequest, Conflict } from "../controller/api/refusals.ts";
import type { ApiSource } from "../controller/api/server.ts";
import type { FlowView, NeighbourView, PlanView, PortView, SlotsView } from "../controller/api/views.ts";
import { flowText } from "../controller/flow-text.ts";
import type { NodeController } from "../controller/node.ts";
import { describeOp } from "../controller/reconcile/describe.ts";
import type { SourceCounts } from "../controller/source-watch.ts";
import { formatIpv4, formatMac } from "../openflow/packet/address.ts";
import { compile } from "../pipeline/compile.ts";
import { parseCookie } from "../pipeline/cookies.ts";
import { eligibility, healthOf } from "../pipeline/eligibility.ts";
import { explainer } from "../pipeline/explain.ts";
import type { Health, Member, Topology } from "../pipeline/model.ts";
import { poolLayout, shortDigest } from "../pipeline/slots.ts";
import { T, tableById, tables } from "../pipeline/tables.ts";
import { fdbViews } from "./fdb-view.ts";
import { findMember, healthViews, memberView } from "./health-views.ts";
import { segmentViews } from "./segment-views.ts";
import type { TopologyFile } from "./topology-file.ts";
import { traceView } from "./trace-view.ts";

/** What the views are made from. */
export interface ViewDeps {
  readonly version: string;
  readonly startedAt: number;
  readonly openflow: string;
  readonly file: TopologyFile;
  readonly nodes: () => readonly NodeController[];
  readonly topology: () => Topology;
  readonly health: () => ReadonlyMap<number, Health>;
  /** By member id, where open connections decide (pipeline/least-connections.ts). */
  readonly followedWeights: () => ReadonlyMap<number, number>;
  /** Drains a member, or ends that; on disk when it returns. */
  readonly drain: (member: Member, drain: boolean, who: string) => void;
  /** What a topology file with that text would be in force as. */
  readonly proposed: (text: string) => Topology;
  readonly replaceTopology: (text: string, who: string) => void;
}

/** The daemon as its HTTP API shows it. */
export function apiSource(deps: ViewDeps): ApiSource {
  return {
    ready: () => deps.nodes().every((n) => n.status().state === "steady"),
    status: () => ({
      version: deps.version,
      uptimeSeconds: (Date.now() - deps.startedAt) / 1000,
      openflow: deps.openflow,
      topology: deps.file.path,
      reloadError: deps.file.reloadError,
      nodes: deps.nodes().map((n) => ({ name: n.node.name, ...n.status() })),
    }),
    segments: () => segmentViews(deps.topology()),
    ports: () => deps.nodes().flatMap(portViews),
    neighbours: () => deps.nodes().flatMap(neighbourViews),
    flows: async (table) => {
      const wanted = table === undefined ? undefined : tableNumber(table);
      return (await Promise.all(deps.nodes().map((n) => flowViews(n, wanted)))).flat();
    },
    slots: async (pool) => await slotViews(deps, pool),
    trace: async (question) => await traceView(deps.nodes(), question),
    fdb: async (segment) => await fdbViews(deps.nodes(), segment),
    plan: async () => await Promise.all(deps.nodes().map((n) => planView(n))),
    topologyText: () => deps.file.text(),
    setTopologyText: async (text, who) => deps.replaceTopology(text, who),
    planFor: async (text) => await proposedPlans(deps, deps.proposed(text)),
    health: (pool) => healthViews(deps, pool),
    setDrain: async (text, drain, who) => {
      const member = findMember(deps.topology(), text);
      if (!drain && !member.adminUp) throw new Conflict(`member ${member.name} is disabled in the topology`);
      const before = memberView(deps, member);
      deps.drain(member, drain, who);
      return { before, after: memberView(deps, member) };
    },
  };
}

const counted = (counts: SourceCounts | undefined) => ({
  claims: counts?.claims ?? null,
  macsNotLearned: counts?.macs ?? null,
  clientsNotLearned: counts?.clients ?? null,
});

function portViews(n: NodeController): PortView[] {
  const { attached, unattached } = n.ports;
  const node = n.node.name;
  const nameOf = new Map(n.topology.segments.map((s) => [s.id, s.name]));
  const present = new Set(attached.map((p) => p.name));
  const missing = n.topology.segments.flatMap((s) =>
    s.ports
      .filter((p) => !/[*?]/.test(p.name) && !present.has(p.name))
      .map(
        (p): PortView => ({
          node,
          name: p.name,
          ofport: null,
          segment: s.name,
          role: p.role,
          state: "missing",
          mac: null,
          ...counted(undefined),
        }),
      ),
  );
  return [
    ...attached.map(
      (p): PortView => ({
        node,
        name: p.name,
        ofport: p.ofport,
        segment: nameOf.get(p.segment) ?? String(p.segment),
        role: p.role,
        state: p.up ? "up" : "down",
        mac: formatMac(p.mac),
        ...counted(n.sources.counts(p.ofport)),
      }),
    ),
    ...unattached.map(
      (p): PortView => ({
        node,
        name: p.name,
        ofport: p.portNo,
        segment: null,
        role: null,
        state: (p.config & 1) === 0 && (p.state & 1) === 0 ? "up" : "down",
        mac: formatMac(p.hwAddr),
        ...counted(undefined),
      }),
    ),
    ...missing,
  ];
}

function neighbourViews(n: NodeController): NeighbourView[] {
  const { topology } = n;
  const segmentName = new Map(topology.segments.map((s) => [s.id, s.name]));
  const portName = new Map(n.ports.attached.map((p) => [p.ofport, p.name]));
  const users = new Map<number, string[]>();
  const use = (ip: number, name: string): void => void users.set(ip, [...(users.get(ip) ?? []), name]);
  for (const lb of topology.loadBalancers) for (const p of lb.pools) for (const m of p.members) use(m.ip, m.name);
  for (const r of topology.routes) use(r.via, `route ${formatIpv4(r.prefix.address)}/${r.prefix.length}`);
  return n.resolver.views().map((v) => ({
    node: n.node.name,
    segment: segmentName.get(v.segment) ?? String(v.segment),
    ip: formatIpv4(v.ip),
    mac: v.mac === undefined ? null : formatMac(v.mac),
    port: v.ofport === undefined ? null : (portName.get(v.ofport) ?? String(v.ofport)),
    state: v.state,
    usedBy: [...new Set(users.get(v.ip) ?? [])],
    secondsSinceConfirmed: v.msSinceConfirmed === undefined ? null : v.msSinceConfirmed / 1000,
    queued: v.queued,
  }));
}

/** A table by number or name. */
function tableNumber(text: string): number {
  const found = tables.find((t) => String(t.id) === text || t.name === text);
  if (found) return found.id;
  const known = tables.map((t) => `${t.id} ${t.name}`).join(", ");
  throw new BadRequest(`table: "${text}" is no table of the pipeline (tables: ${known})`);
}

async function flowViews(n: NodeController, table: number | undefined): Promise<FlowView[]> {
  if (!n.session) return [];
  const flows = await n.dump(table);
  const state = n.desired();
  const explain = explainer(state, compile(state));
  return [...flows]
    .sort((a, b) => a.tableId - b.tableId || b.priority - a.priority)
    .map((f) => ({
      node: n.node.name,
      table: f.tableId,
      tableName: tableById(f.tableId)?.name ?? "unknown",
      tablePurpose: tableById(f.tableId)?.purpose ?? "",
      priority: f.priority,
      text: flowText(f),
      cookie: `0x${f.cookie.toString(16)}`,
      packets: String(f.packetCount),
      bytes: String(f.byteCount),
      ...pick(explain(f)),
    }));
}

const pick = ({ feature, object, why }: { feature: string; object: string; why: string }) => ({ feature, object, why });

async function slotViews(deps: ViewDeps, only: string | undefined): Promise<SlotsView[]> {
  const counters = await slotCounters(deps.nodes());
  const views = deps.topology().loadBalancers.flatMap((lb) =>
    lb.pools.map((pool): SlotsView => {
      const layout = poolLayout(pool, deps.health(), deps.followedWeights());
      return {
        loadBalancer: lb.name,
        pool: pool.name,
        poolId: pool.id,
        slots: pool.slots,
        digest: shortDigest(layout),
        layout,
        members: pool.members.map((m) => {
          const slots = layout.filter((id) => id === m.id).length;
          const counted = counters.get(`${pool.id} ${m.id}`);
          return {
            name: m.name,
            id: m.id,
            address: `${formatIpv4(m.ip)}:${m.port}`,
            eligibility: eligibility(m, healthOf(pool, m, deps.health())),
            weight: m.weight,
            slots,
            share: layout.length === 0 ? 0 : slots / layout.length,
            packets: String(counted?.packets ?? 0n),
            bytes: String(counted?.bytes ?? 0n),
          };
        }),
      };
    }),
  );
  if (only === undefined) return views;
  const found = views.filter((v) => v.pool === only || String(v.poolId) === only);
  if (found.length > 0) return found;
  throw new BadRequest(`pool: there is no pool "${only}" (pools: ${views.map((v) => v.pool).join(", ") || "none"})`);
}

/** Packets and bytes by pool and member, from the flows of the slots table. */
async function slotCounters(
  nodes: readonly NodeController[],
): Promise<Map<string, { packets: bigint; bytes: bigint }>> {
  const sums = new Map<string, { packets: bigint; bytes: bigint }>();
  for (const n of nodes) {
    if (!n.session) continue;
    for (const f of await n.dump(T.slots)) {
      const pool = parseCookie(f.cookie)?.object.id;
      const member = loadedMember(f);
      if (pool === undefined || member === undefined) continue;
      const sum = sums.get(`${pool} ${member}`) ?? { packets: 0n, bytes: 0n };
      sum.packets += f.packetCount;
      sum.bytes += f.byteCount;
      sums.set(`${pool} ${member}`, sum);
    }
  }
  return sums;
}

type Dumped = Awaited<ReturnType<NodeController["dump"]>>[number];

/** The member id that a slot's flow loads into its register. */
function loadedMember(f: Dumped): number | undefined {
  for (const i of f.instructions) {
    if (i.kind !== "apply_actions") continue;
    for (const a of i.actions) {
      if (a.kind === "load" && a.dst.field === "reg2") return Number(a.value);
      if (a.kind === "set_field" && a.field === "reg2") return Number(a.value);
    }
  }
  return undefined;
}

/** What another topology would change, node by node of both topologies. */
async function proposedPlans(deps: ViewDeps, topology: Topology): Promise<PlanView[]> {
  const nodes = deps.nodes();
  const kept = nodes.filter((n) =>
    topology.nodes.some((t) => t.name === n.node.name && t.datapathId === n.node.datapathId),
  );
  const plans = await Promise.all(kept.map((n) => planView(n, topology)));
  const without = (names: readonly string[], error: string): PlanView[] =>
    names.filter((node) => !kept.some((n) => n.node.name === node)).map((node) => ({ node, operations: [], error }));
  return [
    ...plans,
    ...without(
      topology.nodes.map((n) => n.name),
      "no switch is connected as this node yet; all of its flows would be new",
    ),
    ...without(
      nodes.map((n) => n.node.name).filter((name) => !topology.nodes.some((t) => t.name === name)),
      "the topology has this node no more; its switch would be let go of with the flows it has",
    ),
  ];
}

async function planView(n: NodeController, topology?: Topology): Promise<PlanView> {
  try {
    const plan = await n.plan(topology);
    const operations = [...plan.before, ...plan.bundle, ...plan.after].map(describeOp);
    return { node: n.node.name, operations, error: null };
  } catch (e) {
    return { node: n.node.name, operations: [], error: e instanceof Error ? e.message : String(e) };
  }
}
