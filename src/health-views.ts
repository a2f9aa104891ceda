import { Conflict, NotFound } from "../controller/api/refusals.ts";
import type { HealthView, MemberHealthView, ProbeView } from "../controller/api/views.ts";
import type { NodeController } from "../controller/node.ts";
import { formatIpv4 } from "../openflow/packet/address.ts";
import { eligibility, healthOf } from "../pipeline/eligibility.ts";
import type { Health, LoadBalancer, Member, Pool, Topology } from "../pipeline/model.ts";
import { poolLayout, shortDigest } from "../pipeline/slots.ts";

/** What the views of health are made from. */
export interface HealthViewDeps {
  readonly nodes: () => readonly NodeController[];
  readonly topology: () => Topology;
  readonly health: () => ReadonlyMap<number, Health>;
  /** By member id, where open connections decide (pipeline/least-connections.ts). */
  readonly followedWeights: () => ReadonlyMap<number, number>;
}

/** All pools with their members' health, or those called `only`. */
export function healthViews(deps: HealthViewDeps, only: string | undefined): HealthView[] {
  const pools = deps.topology().loadBalancers.flatMap((lb) => lb.pools.map((pool) => ({ lb, pool })));
  const found = pools.filter(({ pool }) => only === undefined || pool.name === only || String(pool.id) === only);
  if (only !== undefined && found.length === 0) {
    throw new NotFound(`there is no pool "${only}" (pools: ${pools.map((p) => p.pool.name).join(", ") || "none"})`);
  }
  const probes = probeViews(deps.nodes());
  return found.map(({ lb, pool }) => poolView(lb, pool, deps, probes));
}

type ProbesByMember = ReadonlyMap<number, readonly ProbeView[]>;

function poolView(
  lb: LoadBalancer,
  pool: Pool,
  deps: Pick<HealthViewDeps, "health" | "followedWeights">,
  probes: ProbesByMember,
): HealthView {
  const { healthMonitor: m } = pool;
  const health = deps.health();
  const layout = poolLayout(pool, health, deps.followedWeights());
  return {
    loadBalancer: lb.name,
    pool: pool.name,
    poolId: pool.id,
    slots: pool.slots,
    digest: shortDigest(layout),
    monitor:
      m === undefined
        ? null
        : { type: m.type, interval: m.intervalMs / 1000, timeout: m.timeoutMs / 1000, rise: m.rise, fall: m.fall },
    members: pool.members.map((member) => {
      const state = healthOf(pool, member, health);
      const slots = layout.filter((id) => id === member.id).length;
      return {
        id: member.id,
        uuid: member.uuid,
        name: member.name,
        address: `${formatIpv4(member.ip)}:${member.port}`,
        state,
        admin: !member.adminUp ? "disabled" : member.drain ? "draining" : "enabled",
        eligibility: eligibility(member, state),
        inPool: slots > 0,
        slots,
        nodes: probes.get(member.id) ?? [],
      };
    }),
  };
}

function probeViews(nodes: readonly NodeController[]): ProbesByMember {
  const found = new Map<number, ProbeView[]>();
  const now = Date.now();
  for (const n of nodes) {
    for (const { target, health } of n.checker.views()) {
      const [last] = health.history;
      const views = found.get(target.member.id) ?? [];
      found.set(target.member.id, views);
      views.push({
        node: n.node.name,
        state: health.state,
        adopted: health.adopted,
        probes: health.probes,
        failures: health.failures,
        ms: last?.ms ?? null,
        source: formatIpv4(target.source),
        reason: last?.reason ?? null,
        secondsInState: (now - health.since) / 1000,
        history: health.history.map((r) => ({ ...r, at: new Date(r.at).toISOString() })),
      });
    }
  }
  return found;
}

/**
 * The member that `text` means: its uuid, its id, its name, or POOL/NAME.
 *
 * @throws NotFound, or Conflict when there are several
 */
export function findMember(topology: Topology, text: string): Member {
  const all = topology.loadBalancers.flatMap((lb) =>
    lb.pools.flatMap((pool) => pool.members.map((member) => ({ lb, pool, member }))),
  );
  const exact = all.find(({ member }) => member.uuid === text);
  if (exact) return exact.member;
  const named = all.filter(({ pool, member }) => member.name === text || `${pool.name}/${member.name}` === text);
  const [first, ...more] = named.length > 0 ? named : all.filter(({ member }) => String(member.id) === text);
  if (!first) throw new NotFound(`there is no member "${text}"`);
  if (more.length === 0) return first.member;
  const which = [first, ...more].map(({ pool, member }) => `${pool.name}/${member.name} (id ${member.id})`);
  throw new Conflict(`"${text}" may be ${which.join(" or ")}; say which, by POOL/NAME or by uuid`);
}

/** One member of {@link healthViews}. */
export function memberView(deps: HealthViewDeps, member: Member): MemberHealthView {
  for (const pool of healthViews(deps, undefined)) {
    for (const view of pool.members) if (view.uuid === member.uuid) return view;
  }
  throw new NotFound(`member ${member.name} is gone`);
}
