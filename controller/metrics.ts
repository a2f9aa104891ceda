import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** Every metric of the daemon, in one place. Names follow the Prometheus conventions; README has the list. */
export function makeMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name, help, labelNames: [...labelNames], registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge({ name, help, labelNames: [...labelNames], registers });
  const member = ["node", "load_balancer", "pool", "member", "member_id"] as const;
  return {
    registry,
    flowMods: counter("oflb_flow_mods_total", "Flow mods sent, by node and command", ["node", "command"]),
    rounds: counter("oflb_reconcile_rounds_total", "Reconcile rounds, by node and result", ["node", "result"]),
    drift: counter("oflb_drift_operations_total", "Changes made to undo what others did to the switch", ["node"]),
    refusals: counter("oflb_switch_errors_total", "OpenFlow errors by code", ["node", "code"]),
    packetIns: counter("oflb_packet_ins_total", "Packets the switch sent up, by class", ["node", "class"]),
    connected: gauge("oflb_switch_connected", "1 while the switch of the node is connected", ["node"]),
    steady: gauge("oflb_node_steady", "1 while the switch holds exactly the wanted state", ["node"]),
    secondary: gauge("oflb_node_secondary", "1 while another controller is primary and nothing is written", ["node"]),
    flows: gauge("oflb_desired_flows", "Flows of the desired program", ["node"]),
    neighbours: gauge("oflb_neighbours", "Next hops by state", ["node", "state"]),
    conflicts: counter("oflb_address_conflicts_total", "Frames that claimed an address of ours", ["node", "segment"]),
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
