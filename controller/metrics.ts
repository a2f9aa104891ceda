import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { NudState } from "./neighbour/machine.ts";
import type { SourceCounts } from "./source-watch.ts";

const NUD_STATES = [
  "none",
  "incomplete",
  "reachable",
  "stale",
  "probe",
  "failed",
  "permanent",
] as const satisfies readonly NudState[];

/** What the switch has counted of a port, under the names it goes by. */
export interface PortSources {
  readonly segment: string;
  readonly port: string;
  readonly counts: SourceCounts;
}

/** Every metric of the daemon, in one place. Names follow the Prometheus conventions; docker/metrics.md has the list. */
export function makeMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name, help, labelNames: [...labelNames], registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge({ name, help, labelNames: [...labelNames], registers });
  const member = ["node", "load_balancer", "pool", "member", "member_id"] as const;
  const neighbourStates = new Map<string, () => readonly NudState[]>();
  new Gauge({
    name: "oflb_neighbours",
    help: "Next hops by state",
    labelNames: ["node", "state"],
    registers,
    collect() {
      this.reset();
      for (const [node, states] of neighbourStates) {
        for (const state of NUD_STATES) this.set({ node, state }, 0);
        for (const state of states()) this.inc({ node, state });
      }
    },
  });
  const sources = new Map<string, () => readonly PortSources[]>();
  /** A counter of frames by port; `labelNames` are those beside the port's own. */
  const portCounter = (
    name: string,
    help: string,
    labelNames: readonly string[],
    countsOf: (counts: SourceCounts) => readonly (readonly [labels: Record<string, string>, frames: number])[],
  ): void => {
    new Counter({
      name,
      help,
      labelNames: ["node", "segment", "port", ...labelNames],
      registers,
      collect() {
        this.reset();
        for (const [node, ports] of sources) {
          for (const { segment, port, counts } of ports()) {
            for (const [labels, frames] of countsOf(counts)) this.inc({ node, segment, port, ...labels }, frames);
          }
        }
      },
    });
  };
  portCounter("oflb_address_conflicts_total", "Frames that claimed an address of ours", [], ({ claims }) => [
    [{}, claims],
  ]);
  portCounter(
    "oflb_sources_not_learned_total",
    "Frames whose source was one more than may be learned behind the port",
    ["kind"],
    ({ macs, clients }) => [
      [{ kind: "mac" }, macs],
      [{ kind: "client" }, clients],
    ],
  );
  return {
    registry,
    /** Gives the states of all next hops of a node; asked at each scrape. */
    neighbourStates,
    /** Gives what the switch of a node has counted of its ports; asked at each scrape. */
    sources,
    flowMods: counter("oflb_flow_mods_total", "Flow mods sent, by node and command", ["node", "command"]),
    rounds: counter("oflb_reconcile_rounds_total", "Reconcile rounds, by node and result", ["node", "result"]),
    drift: counter("oflb_drift_operations_total", "Changes made to undo what others did to the switch", ["node"]),
    refusals: counter("oflb_switch_errors_total", "OpenFlow errors by code", ["node", "code"]),
    packetIns: counter("oflb_packet_ins_total", "Packets the switch sent up, by class", ["node", "class"]),
    connected: gauge("oflb_switch_connected", "1 while the switch of the node is connected", ["node"]),
    steady: gauge("oflb_node_steady", "1 while the switch holds exactly the wanted state", ["node"]),
    secondary: gauge("oflb_node_secondary", "1 while another controller is primary and nothing is written", ["node"]),
    flows: gauge("oflb_desired_flows", "Flows of the desired program", ["node"]),
    neighbourConflicts: counter("oflb_neighbour_conflicts_total", "Times that two MACs claimed one next hop", [
      "node",
      "segment",
    ]),
    queueDrops: counter("oflb_neighbour_queue_drops_total", "Packets dropped while their next hop was asked for", [
      "node",
    ]),
    probes: counter("oflb_probes_total", "Health probes of a member, by result", [...member, "result"]),
    memberUp: gauge("oflb_member_up", "1 while this node's probes find the member up, else 0", member),
    probeSeconds: new Histogram({
      name: "oflb_probe_duration_seconds",
      help: "Time from the first packet of a probe to its verdict",
      labelNames: ["node", "load_balancer", "pool", "pool_id"],
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    }),
  };
}

export type Metrics = ReturnType<typeof makeMetrics>;
