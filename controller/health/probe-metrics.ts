import type { ProbeTarget } from "../../pipeline/probe-target.ts";
import type { Metrics } from "../metrics.ts";
import type { MemberHealth, ProbeResult } from "./machine.ts";

const RESULTS = ["success", "failure"] as const;

/** The metrics of one node's probes. Series live as long as their member, those of a pool as long as one of its members. */
export class ProbeMetrics {
  #metrics: Pick<Metrics, "probes" | "memberUp" | "probeSeconds">;
  #node: string;
  /** Members with series, by pool. */
  #pools = new Map<string, Set<number>>();

  constructor(metrics: Pick<Metrics, "probes" | "memberUp" | "probeSeconds">, node: string) {
    this.#metrics = metrics;
    this.#node = node;
  }

  probed(target: ProbeTarget, result: ProbeResult, health: MemberHealth): void {
    const member = this.#memberLabels(target);
    this.#metrics.probes.inc({ ...member, result: result.ok ? "success" : "failure" });
    this.#metrics.memberUp.set(member, health.state === "up" ? 1 : 0);
    const pool = this.#poolLabels(target);
    this.#metrics.probeSeconds.observe(pool, result.ms / 1000);
    const members = this.#pools.get(JSON.stringify(pool)) ?? new Set();
    this.#pools.set(JSON.stringify(pool), members.add(target.member.id));
  }

  forgotten(target: ProbeTarget): void {
    const member = this.#memberLabels(target);
    for (const result of RESULTS) this.#metrics.probes.remove({ ...member, result });
    this.#metrics.memberUp.remove(member);
    const pool = this.#poolLabels(target);
    const members = this.#pools.get(JSON.stringify(pool));
    members?.delete(target.member.id);
    if (members?.size !== 0) return;
    this.#pools.delete(JSON.stringify(pool));
    this.#metrics.probeSeconds.remove(pool);
  }

  #memberLabels({ loadBalancer, pool, member }: ProbeTarget) {
    const names = { load_balancer: loadBalancer.name, pool: pool.name, member: member.name };
    return { node: this.#node, ...names, member_id: String(member.id) };
  }

  #poolLabels({ loadBalancer, pool }: ProbeTarget) {
    return { node: this.#node, load_balancer: loadBalancer.name, pool: pool.name, pool_id: String(pool.id) };
  }
}
