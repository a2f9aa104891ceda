import type {
  FlowView,
  NeighbourView,
  NodeStatus,
  PlanView,
  PortView,
  SlotsView,
  StatusView,
} from "../../controller/api/views.ts";
import { get } from "./client.ts";
import { CLIENT_OPTION_HELP, CLIENT_OPTIONS, type Command, type Invocation } from "./command.ts";
import { type Column, table } from "./table.ts";

/** A command that shows what one GET answers, as a table or as the JSON itself. */
export function inspector<T>(def: {
  readonly name: string;
  readonly summary: string;
  readonly usage?: string;
  readonly operands?: readonly [number, number];
  readonly examples: readonly string[];
  readonly path: (call: Invocation) => string;
  readonly show: (view: T) => string;
  readonly exitCode?: (view: T) => number;
}): Command {
  return {
    name: def.name,
    summary: def.summary,
    usage: `${def.usage ?? ""} [--json] [--server URL]`.trim(),
    options: CLIENT_OPTIONS,
    optionHelp: CLIENT_OPTION_HELP,
    examples: def.examples,
    operands: def.operands ?? [0, 0],
    run: async (call) => {
      const view = await get<T>(call, def.path(call));
      call.io.out(call.values["json"] ? JSON.stringify(view, null, 2) : def.show(view));
      return def.exitCode?.(view) ?? 0;
    },
  };
}

const age = (seconds: number | null): string => {
  if (seconds === null) return "-";
  if (seconds < 120) return `${Math.round(seconds)}s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)}m`;
  return `${Math.round(seconds / 3600)}h`;
};

const NODE_COLUMNS: readonly Column<NodeStatus>[] = [
  { title: "node", cell: (n) => n.name },
  { title: "state", cell: (n) => n.state },
  { title: "datapath", cell: (n) => n.datapathId ?? "-" },
  { title: "peer", cell: (n) => n.peer ?? "-" },
  { title: "role", cell: (n) => n.role },
  { title: "flows", right: true, cell: (n) => n.flows },
  { title: "drift", right: true, cell: (n) => n.driftRepaired },
  { title: "flow-mods", right: true, cell: (n) => n.flowModsSent },
  { title: "checked", right: true, cell: (n) => age(n.secondsSinceCheck) },
  { title: "last error", cell: (n) => n.lastError ?? "-" },
];

const PORT_COLUMNS: readonly Column<PortView>[] = [
  { title: "node", cell: (p) => p.node },
  { title: "port", cell: (p) => p.name },
  { title: "ofport", right: true, cell: (p) => p.ofport ?? "-" },
  { title: "segment", cell: (p) => p.segment ?? "unattached" },
  { title: "role", cell: (p) => p.role ?? "-" },
  { title: "state", cell: (p) => p.state },
  { title: "mac", cell: (p) => p.mac ?? "-" },
  { title: "claims", right: true, cell: (p) => p.claims ?? "-" },
  { title: "not learned", right: true, cell: (p) => notLearned(p) },
];

/** Frames from sources that are more than the port may have. */
const notLearned = (p: PortView): string =>
  p.macsNotLearned === null || p.clientsNotLearned === null ? "-" : String(p.macsNotLearned + p.clientsNotLearned);

const NEIGHBOUR_COLUMNS: readonly Column<NeighbourView>[] = [
  { title: "node", cell: (n) => n.node },
  { title: "segment", cell: (n) => n.segment },
  { title: "address", cell: (n) => n.ip },
  { title: "mac", cell: (n) => n.mac ?? "-" },
  { title: "port", cell: (n) => n.port ?? "-" },
  { title: "state", cell: (n) => n.state },
  { title: "used by", cell: (n) => n.usedBy.join(",") || "-" },
  { title: "confirmed", right: true, cell: (n) => age(n.secondsSinceConfirmed) },
  { title: "queued", right: true, cell: (n) => n.queued },
];

const showFlows = (flows: readonly FlowView[]): string => {
  const lines: string[] = [];
  let heading = "";
  for (const f of flows) {
    const title = `# node ${f.node}, table ${f.table} ${f.tableName}: ${f.tablePurpose}`;
    if (title !== heading) {
      if (heading) lines.push("");
      lines.push(title);
      heading = title;
    }
    lines.push(`${f.text}\n    packets=${f.packets} bytes=${f.bytes}  ${f.why}`);
  }
  return lines.join("\n") || "no flows";
};

const showSlots = (pools: readonly SlotsView[]): string =>
  pools
    .map((p) => {
      const head = `pool ${p.pool} (id ${p.poolId}) of ${p.loadBalancer}: ${p.slots} slots, layout digest ${p.digest}`;
      const rows = table(p.members, [
        { title: "member", cell: (m) => m.name },
        { title: "address", cell: (m) => m.address },
        { title: "eligible", cell: (m) => m.eligibility },
        { title: "weight", right: true, cell: (m) => m.weight },
        { title: "slots", right: true, cell: (m) => m.slots },
        { title: "share", right: true, cell: (m) => `${(m.share * 100).toFixed(1)}%` },
        { title: "packets", right: true, cell: (m) => m.packets },
        { title: "bytes", right: true, cell: (m) => m.bytes },
      ]);
      return `${head}\n${rows}`;
    })
    .join("\n\n") || "no pools";

const showPlan = (plans: readonly PlanView[]): string =>
  plans
    .map((p) =>
      p.error
        ? `node ${p.node}: ${p.error}`
        : p.operations.length === 0
          ? `node ${p.node}: nothing to change`
          : [
              `node ${p.node}: ${p.operations.length} changes`,
              ...p.operations.map((o) => `${o.sign} ${o.text}\n    ${o.reason}`),
            ].join("\n"),
    )
    .join("\n");

export const inspectCommands: readonly Command[] = [
  inspector<StatusView>({
    name: "status",
    summary: "the daemon and its switches",
    examples: ["lbctl status", "lbctl status --json | jq .nodes[0].state"],
    path: () => "/v1/status",
    show: (s) =>
      [
        `openflow-lb ${s.version}, up ${age(s.uptimeSeconds)}, OpenFlow on ${s.openflow}, topology ${s.topology}` +
          (s.reloadError ? `\nlast reload refused, the old topology is in force:\n${s.reloadError}` : ""),
        table(s.nodes, NODE_COLUMNS),
      ].join("\n\n"),
    exitCode: (s) => (s.nodes.every((n) => n.state === "steady") ? 0 : 1),
  }),
  inspector<readonly PortView[]>({
    name: "ports",
    summary: "ports of the bridges, and which segment each belongs to",
    examples: ["lbctl ports"],
    path: () => "/v1/ports",
    show: (ports) => table(ports, PORT_COLUMNS),
  }),
  inspector<readonly NeighbourView[]>({
    name: "neigh",
    summary: "next hops and their MAC addresses, as ARP found them",
    examples: ["lbctl neigh"],
    path: () => "/v1/neighbours",
    show: (neighbours) => table(neighbours, NEIGHBOUR_COLUMNS),
  }),
  inspector<readonly FlowView[]>({
    name: "flows",
    summary: "flows of the switch with what each is for",
    usage: "[TABLE]",
    operands: [0, 1],
    examples: ["lbctl flows", "lbctl flows 21"],
    path: (call) => {
      const [which] = call.positionals;
      return which === undefined ? "/v1/flows" : `/v1/flows?table=${encodeURIComponent(which)}`;
    },
    show: showFlows,
  }),
  inspector<readonly SlotsView[]>({
    name: "slots",
    summary: "how the slots of each pool are shared, with counters",
    usage: "[POOL]",
    operands: [0, 1],
    examples: ["lbctl slots", "lbctl slots web"],
    path: (call) => {
      const [pool] = call.positionals;
      return pool === undefined ? "/v1/slots" : `/v1/slots?pool=${encodeURIComponent(pool)}`;
    },
    show: showSlots,
  }),
  inspector<readonly PlanView[]>({
    name: "plan",
    summary: "what the next round would change on the switches; empty when all is in place",
    examples: ["lbctl plan"],
    path: () => "/v1/plan",
    show: showPlan,
    exitCode: (plans) => (plans.some((p) => p.error) ? 1 : 0),
  }),
];
