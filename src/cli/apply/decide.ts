/** What must be done so that the server has what the file says: pure, from both to changes in the order they can be made. */
import { bodyOf, type Kind } from "./bodies.ts";
import { ambiguous, byName, type Difference, differences, fixedDifferences, members, same } from "./match.ts";
import type { Balancer, Existing, Pool, Thing } from "./objects.ts";
import { lbaas } from "./server.ts";

export interface Change {
  readonly action: "create" | "update" | "delete";
  readonly kind: Kind;
  /** As it is shown: members and monitors with their pool's name, listeners and pools with their load balancer's. */
  readonly name: string;
  /** Of an update: what differs. Of a deletion: why it cannot be changed instead. */
  readonly differences: readonly Difference[];
  readonly request: {
    readonly method: "POST" | "PUT" | "DELETE";
    /** Here and in the body, `{NAME}` stands for the id of what was created as NAME. */
    readonly path: string;
    readonly body?: Readonly<Record<string, unknown>>;
  };
  /** By what name the id of what is created is known to later changes. */
  readonly provides?: string;
}

export type Decision =
  | { readonly ok: true; readonly changes: readonly Change[] }
  | { readonly ok: false; readonly refusals: readonly string[] };

/** Changes by when they are made; each list can rely on those before it. */
interface Steps {
  /** Listeners that go first: others may want their ports. */
  readonly clear: Change[];
  readonly build: Change[];
  readonly listen: Change[];
  /** Pools that go last, when no listener uses them any more. */
  readonly prune: Change[];
}

const deletion = (kind: Kind, name: string, path: string, why: readonly Difference[] = [], query = ""): Change => ({
  action: "delete",
  kind,
  name,
  differences: why,
  request: { method: "DELETE", path: path + query },
});

/** DELETE of a load balancer with all that is in it. */
export const deleteBalancer = (self: Existing): Change =>
  deletion("load balancer", self.name, `${lbaas}/loadbalancers/${self.id}`, [], "?cascade=true");

const vipText = (balancer: Balancer): readonly string[] => balancer.vips.map((v) => `${v.ip} in ${v.segment}`).sort();

/** Changes inside one load balancer, and to it. */
const decideBalancer = (
  wanted: Balancer,
  existing: Balancer<Existing> | undefined,
  prune: boolean,
  steps: Steps,
  refuse: (why: string) => void,
): void => {
  const lb = wanted.self.name;
  const path = (name: string): string => `${lb}/${name}`;
  const ownPools = existing?.pools ?? [];
  const poolIds = new Map(ownPools.map((p) => [p.self.name, p.self.id]));
  const lbId = existing?.self.id ?? `{load balancer ${lb}}`;

  for (const why of [
    ...ambiguous(`listener of ${lb}`, wanted.listeners, existing?.listeners ?? []),
    ...ambiguous(
      `pool of ${lb}`,
      wanted.pools.map((p) => p.self),
      ownPools.map((p) => p.self),
    ),
  ]) {
    refuse(why);
  }

  if (existing === undefined) {
    const [first, ...others] = wanted.vips;
    const loadbalancer = {
      name: lb,
      vip_subnet_id: first!.segment,
      vip_address: first!.ip,
      additional_vips: others.map((v) => ({ subnet_id: v.segment, ip_address: v.ip })),
      ...bodyOf("load balancer", wanted.self.words, true),
    };
    steps.build.push({
      action: "create",
      kind: "load balancer",
      name: lb,
      differences: [],
      request: { method: "POST", path: `${lbaas}/loadbalancers`, body: { loadbalancer } },
      provides: `load balancer ${lb}`,
    });
  } else {
    const [has, wants] = [vipText(existing), vipText(wanted)];
    if (!same(has, wants)) {
      refuse(`load balancer ${lb}: its addresses are ${has.join(", ")} and cannot be changed to ${wants.join(", ")}`);
    }
    const changed = differences(existing.self.words, wanted.self.words);
    if (changed.length > 0)
      steps.build.push(update("load balancer", lb, `${lbaas}/loadbalancers/${lbId}`, "loadbalancer", changed));
  }

  const listeners = byName(wanted.listeners, existing?.listeners ?? []);
  const deadListeners = new Set<Existing>(prune ? listeners.extra : []);
  for (const l of deadListeners) steps.clear.push(deletion("listener", path(l.name), `${lbaas}/listeners/${l.id}`));
  for (const { wanted: w, existing: e } of listeners.pairs) {
    const fixed = e === undefined ? [] : fixedDifferences(e, w);
    if (e === undefined || fixed.length === 0) continue;
    deadListeners.add(e);
    steps.clear.push(deletion("listener", path(w.name), `${lbaas}/listeners/${e.id}`, fixed));
  }

  for (const pool of wanted.pools) {
    const found = ownPools.find((p) => p.self.name === pool.self.name);
    const fixed = found === undefined ? [] : fixedDifferences(found.self, pool.self);
    if (found !== undefined && fixed.length > 0) {
      const users = (existing?.listeners ?? []).filter(
        (l) => l.words["pool"] === pool.self.name && listeners.extra.includes(l) && !deadListeners.has(l),
      );
      for (const user of users) {
        refuse(`pool ${path(pool.self.name)}: it must be made anew, and listener ${user.name} (${user.id}) uses it`);
      }
      steps.clear.push(deletion("pool", path(pool.self.name), `${lbaas}/pools/${found.self.id}`, fixed));
      poolIds.delete(pool.self.name);
    }
    decidePool(lb, lbId, pool, fixed.length > 0 ? undefined : found, prune, steps, refuse);
  }
  if (prune) {
    const names = wanted.pools.map((p) => p.self.name);
    for (const { self } of ownPools.filter((p) => !names.includes(p.self.name)))
      steps.prune.push(deletion("pool", path(self.name), `${lbaas}/pools/${self.id}`));
  }

  for (const { wanted: w, existing: e } of listeners.pairs) {
    const pool = w.words["pool"];
    const poolId = poolIds.get(String(pool)) ?? `{pool ${lb}/${String(pool)}}`;
    if (e !== undefined && !deadListeners.has(e)) {
      const changed = differences(e.words, w.words);
      if (changed.length === 0) continue;
      steps.listen.push(update("listener", path(w.name), `${lbaas}/listeners/${e.id}`, "listener", changed, poolId));
      continue;
    }
    const body = bodyOf("listener", { ...w.fixed, ...w.words }, true, poolId);
    steps.listen.push({
      action: "create",
      kind: "listener",
      name: path(w.name),
      differences: [],
      request: {
        method: "POST",
        path: `${lbaas}/listeners`,
        body: { listener: { loadbalancer_id: lbId, name: w.name, ...body } },
      },
    });
  }
};

const update = (
  kind: Kind,
  name: string,
  path: string,
  root: string,
  changed: readonly Difference[],
  poolId?: string,
): Change => {
  const words = Object.fromEntries(changed.map((d) => [d.word, d.to]));
  const body = { [root]: bodyOf(kind, words, false, poolId) };
  return { action: "update", kind, name, differences: changed, request: { method: "PUT", path, body } };
};

const decidePool = (
  lb: string,
  lbId: string,
  wanted: Pool,
  existing: Pool<Existing> | undefined,
  prune: boolean,
  { build }: Steps,
  refuse: (why: string) => void,
): void => {
  const { name } = wanted.self;
  const id = existing?.self.id ?? `{pool ${lb}/${name}}`;
  const inPool = `${lbaas}/pools/${id}`;
  if (existing === undefined) {
    const body = bodyOf("pool", { ...wanted.self.fixed, ...wanted.self.words }, true);
    build.push({
      action: "create",
      kind: "pool",
      name: `${lb}/${name}`,
      differences: [],
      request: {
        method: "POST",
        path: `${lbaas}/pools`,
        body: { pool: { loadbalancer_id: lbId, name, ...body } },
      },
      provides: `pool ${lb}/${name}`,
    });
  } else {
    const changed = differences(existing.self.words, wanted.self.words);
    if (changed.length > 0) build.push(update("pool", `${lb}/${name}`, inPool, "pool", changed));
  }

  const { pairs, extra } = members(wanted.members, existing?.members ?? []);
  for (const why of ambiguous(`member of ${lb}/${name}`, wanted.members, existing?.members ?? [])) refuse(why);
  const gone: Change[] = [];
  for (const { wanted: w, existing: e } of pairs) {
    const moved = e === undefined ? [] : fixedDifferences(e, w);
    if (e !== undefined && moved.length === 0) {
      const changed = differences({ ...e.words, name: e.name }, { ...w.words, name: w.name });
      if (changed.length > 0)
        build.push(update("member", `${name}/${w.name}`, `${inPool}/members/${e.id}`, "member", changed));
      continue;
    }
    const member = { name: w.name, ...bodyOf("member", { ...w.fixed, ...w.words }, true) };
    build.push({
      action: "create",
      kind: "member",
      name: `${name}/${w.name}`,
      differences: [],
      request: { method: "POST", path: `${inPool}/members`, body: { member } },
    });
    if (e !== undefined) gone.push(deletion("member", `${name}/${e.name}`, `${inPool}/members/${e.id}`, moved));
  }
  if (prune) for (const e of extra) gone.push(deletion("member", `${name}/${e.name}`, `${inPool}/members/${e.id}`));
  // New servers are there before old ones go.
  build.push(...gone);
  decideMonitor(name, id, wanted.monitor, existing?.monitor, prune, build);
};

const decideMonitor = (
  pool: string,
  poolId: string,
  wanted: Thing | undefined,
  existing: Existing | undefined,
  prune: boolean,
  build: Change[],
): void => {
  const path = `${lbaas}/healthmonitors`;
  const fixed = wanted === undefined || existing === undefined ? [] : fixedDifferences(existing, wanted);
  const replaced = fixed.length > 0;
  if (existing !== undefined && (replaced || (wanted === undefined && prune))) {
    build.push(deletion("monitor", pool, `${path}/${existing.id}`, fixed));
  }
  if (wanted === undefined) return;
  if (existing !== undefined && !replaced) {
    const changed = differences(existing.words, wanted.words);
    if (changed.length > 0) build.push(update("monitor", pool, `${path}/${existing.id}`, "healthmonitor", changed));
    return;
  }
  const healthmonitor = { pool_id: poolId, ...bodyOf("monitor", { ...wanted.fixed, ...wanted.words }, true) };
  build.push({
    action: "create",
    kind: "monitor",
    name: pool,
    differences: [],
    request: { method: "POST", path, body: { healthmonitor } },
  });
};

/**
 * Decides for all load balancers of a file.
 *
 * @param existing those of the server that have the same names
 * @param prune whether what is inside them and not in the file is to go
 */
export const decide = (
  wanted: readonly Balancer[],
  existing: readonly Balancer<Existing>[],
  prune: boolean,
): Decision => {
  const steps: Steps = { clear: [], build: [], listen: [], prune: [] };
  const refusals = [
    ...ambiguous(
      "load balancer",
      wanted.map((w) => w.self),
      existing.map((e) => e.self),
    ),
  ];
  for (const balancer of wanted) {
    const found = existing.find((e) => e.self.name === balancer.self.name);
    decideBalancer(balancer, found, prune, steps, (why) => refusals.push(why));
  }
  if (refusals.length > 0) return { ok: false, refusals };
  return { ok: true, changes: [...steps.clear, ...steps.build, ...steps.listen, ...steps.prune] };
};
