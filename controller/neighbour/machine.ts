/**
 * Neighbour unreachability detection for one next hop: the states of RFC 4861 §7.3.2, driven by ARP (RFC 826).
 *
 * Pure: `step` takes the time and returns the new entry with what is to be sent. Two differences from a host's cache:
 * a next hop in use is confirmed again *before* its time is over, so that its MAC never lapses while it answers, and a
 * failed one is asked for ever, ever more slowly. There is no DELAY state: it waits for hints from a transport
 * protocol, and a switch has none to give.
 */

/**
 * incomplete: asked for, nothing known. reachable: confirmed lately. stale: known, not confirmed lately, nobody needs
 * it. probe: being confirmed, the old MAC still in use. failed: does not answer. permanent: given by the operator.
 */
export type NudState = "none" | "incomplete" | "reachable" | "stale" | "probe" | "failed" | "permanent";

export interface NudConfig {
  /** A next hop in use is confirmed again after this long, ms. */
  readonly reachableMs: number;
  /** One that nobody uses becomes stale after this long, ms. */
  readonly unusedReachableMs: number;
  /** A stale one is forgotten after this long, ms. */
  readonly staleMs: number;
  /** Questions to the known MAC before everybody is asked, and the pause after each, ms. */
  readonly unicastProbes: number;
  readonly unicastRetryMs: number;
  /** Questions to everybody before a next hop has failed, and the pause after each, ms. */
  readonly broadcastProbes: number;
  readonly broadcastRetryMs: number;
  /** Pauses between questions to a failed one: first, doubled each time, at most. */
  readonly failedRetryMs: { readonly first: number; readonly longest: number };
  /** Packets that want a failed next hop make it asked for at once, but not more often than this, ms. */
  readonly wantedRetryMs: number;
}

/**
 * With these a silent change of a MAC is followed within 5 s + 2 × 0.5 s, when the first broadcast is answered, so in
 * about 6 s; 7 s with the jitter of {@link JITTER}.
 */
export const DEFAULT_NUD: NudConfig = {
  reachableMs: 5_000,
  unusedReachableMs: 30_000,
  staleMs: 60_000,
  unicastProbes: 2,
  unicastRetryMs: 500,
  broadcastProbes: 3,
  broadcastRetryMs: 1_000,
  failedRetryMs: { first: 1_000, longest: 30_000 },
  wantedRetryMs: 1_000,
};

/** Confirmation times are spread by this share, so that a thousand next hops learned at once are not asked at once. */
const JITTER = 0.2;

/** Answers with another MAC within this time of the one believed are a conflict, ms. */
const CONFLICT_WINDOW_MS = 1_000;

export interface Nud {
  readonly state: NudState;
  /** MAC as a number; present in reachable, stale, probe and permanent. */
  readonly mac?: number;
  /** OpenFlow port it was heard on. */
  readonly port?: number;
  readonly confirmedAt?: number;
  readonly inUse: boolean;
  /** Questions sent in this state. */
  readonly probes: number;
  /** Whether a question is out. */
  readonly asked: "no" | "unicast" | "broadcast";
  readonly askedAt?: number;
  /** Times in a row that asking a failed one was in vain. */
  readonly failures: number;
  /** When something is to be done next. */
  readonly deadline?: number;
}

export type NudEvent =
  | { readonly kind: "use"; readonly inUse: boolean }
  /** The deadline has passed. */
  | { readonly kind: "timer" }
  /** An ARP reply that was addressed to us. */
  | { readonly kind: "reply"; readonly mac: number; readonly port: number }
  /** Any other ARP packet from that address. */
  | { readonly kind: "hint"; readonly mac: number; readonly port: number }
  /** A packet for it waits. */
  | { readonly kind: "wanted" }
  /** Read back from a switch: in use there, not yet confirmed by us. */
  | { readonly kind: "adopt"; readonly mac: number; readonly port: number }
  | { readonly kind: "port_down"; readonly port: number }
  | { readonly kind: "permanent"; readonly mac: number; readonly port?: number }
  /** Nothing that was known holds any more: the switch came back empty. */
  | { readonly kind: "reset" };

export type NudEffect =
  | { readonly kind: "solicit"; readonly mode: "broadcast" }
  | { readonly kind: "solicit"; readonly mode: "unicast"; readonly mac: number; readonly port: number }
  | { readonly kind: "conflict"; readonly macs: readonly [number, number] }
  /** Packets that wait will not be sent. */
  | { readonly kind: "give_up" }
  /** The entry may be forgotten. */
  | { readonly kind: "forget" };

export interface Step {
  readonly next: Nud;
  readonly effects: readonly NudEffect[];
}

export const NEW_NUD: Nud = { state: "none", inUse: false, probes: 0, asked: "no", failures: 0 };

/** What flows may use; undefined while nothing is known. */
export const published = (n: Nud): { readonly mac: number; readonly port: number } | undefined =>
  n.mac !== undefined && n.port !== undefined ? { mac: n.mac, port: n.port } : undefined;

/**
 * @param now ms on any clock that does not go back
 * @param random 0…1, for the jitter
 */
export function step(n: Nud, event: NudEvent, now: number, random: number, config: NudConfig): Step {
  if (event.kind === "permanent") {
    return {
      next: {
        state: "permanent",
        mac: event.mac,
        ...(event.port === undefined ? {} : { port: event.port }),
        inUse: n.inUse,
        probes: 0,
        asked: "no",
        failures: 0,
      },
      effects: [],
    };
  }
  if (n.state === "permanent") {
    if (event.kind === "use") return quiet({ ...n, inUse: event.inUse });
    // Its MAC is the operator's word; where it is may still be learned.
    const heard = event.kind === "reply" || event.kind === "hint" || event.kind === "adopt";
    return quiet(heard && event.mac === n.mac ? { ...n, port: event.port } : n);
  }
  switch (event.kind) {
    case "use":
      return use(n, event.inUse, now, config);
    case "timer":
      return n.deadline === undefined || n.deadline > now ? quiet(n) : timer(n, now, config);
    case "reply":
      return reply(n, event.mac, event.port, now, random, config);
    case "hint":
      return hint(n, event.mac, event.port, now, config);
    case "wanted":
      return wanted(n, now, config);
    case "adopt":
      return adopt(n, event.mac, event.port, now, random, config);
    case "port_down":
      return n.port === event.port ? askAgain(n, now, config) : quiet(n);
    case "reset":
      return n.state === "none" ? quiet(n) : askAgain(n, now, config);
  }
}

const quiet = (next: Nud): Step => ({ next, effects: [] });

/** The entry without what is known of its MAC. */
function bare(n: Nud): Omit<Nud, "mac" | "port" | "confirmedAt" | "deadline"> {
  const { mac: _mac, port: _port, confirmedAt: _confirmedAt, deadline: _deadline, ...rest } = n;
  return rest;
}

function askEverybody(n: Nud, now: number, pauseMs: number, change: Partial<Nud>): Step {
  return {
    next: { ...n, ...change, asked: "broadcast", askedAt: now, deadline: now + pauseMs },
    effects: [{ kind: "solicit", mode: "broadcast" }],
  };
}

/** What was known does not hold any more. */
function askAgain(n: Nud, now: number, config: NudConfig): Step {
  if (!n.inUse) return { next: { ...bare(n), state: "none", probes: 0, asked: "no" }, effects: [{ kind: "forget" }] };
  return askEverybody(bare(n), now, config.broadcastRetryMs, { state: "incomplete", probes: 1, failures: 0 });
}

function use(n: Nud, inUse: boolean, now: number, config: NudConfig): Step {
  if (n.inUse === inUse) return quiet(n);
  const next = { ...n, inUse };
  if (!inUse) {
    if (published(n)) return quiet({ ...next, deadline: now + config.unusedReachableMs });
    return { next: { ...bare(next), state: "none", asked: "no" }, effects: [{ kind: "forget" }] };
  }
  switch (n.state) {
    case "none":
    case "failed":
      return askEverybody(next, now, config.broadcastRetryMs, { state: "incomplete", probes: 1 });
    case "reachable":
    case "stale":
      return startProbe(next, now, config);
    default:
      return quiet(next);
  }
}

/** Asks the known MAC whether it is still there; `skip` of the unicast questions are left out. */
function startProbe(n: Nud, now: number, config: NudConfig, skip = 0): Step {
  const known = published(n);
  if (!known || skip >= config.unicastProbes) {
    return askEverybody(n, now, config.broadcastRetryMs, { state: "probe", probes: config.unicastProbes + 1 });
  }
  return {
    next: {
      ...n,
      state: "probe",
      probes: skip + 1,
      asked: "unicast",
      askedAt: now,
      deadline: now + config.unicastRetryMs,
    },
    effects: [{ kind: "solicit", mode: "unicast", ...known }],
  };
}

function timer(n: Nud, now: number, config: NudConfig): Step {
  switch (n.state) {
    case "reachable":
      if (n.inUse) return startProbe(n, now, config);
      return quiet({ ...n, state: "stale", deadline: now + config.staleMs });
    case "stale":
      return { next: { ...bare(n), state: "none", asked: "no" }, effects: [{ kind: "forget" }] };
    case "probe": {
      if (n.probes < config.unicastProbes) return startProbe(n, now, config, n.probes);
      if (n.probes < config.unicastProbes + config.broadcastProbes) {
        return askEverybody(n, now, config.broadcastRetryMs, { probes: n.probes + 1 });
      }
      return failed(n, now, config);
    }
    case "incomplete":
      if (n.probes < config.broadcastProbes) {
        return askEverybody(n, now, config.broadcastRetryMs, { probes: n.probes + 1 });
      }
      return failed(n, now, config);
    case "failed":
      return askEverybody(n, now, failedPause(n.failures + 1, config), { failures: n.failures + 1 });
    default:
      return quiet(n);
  }
}

const failedPause = (failures: number, { failedRetryMs }: NudConfig): number =>
  Math.min(failedRetryMs.longest, failedRetryMs.first * 2 ** Math.min(failures, 20));

/** Nobody answers. One in use is asked for ever; any other is forgotten until a packet wants it again. */
function failed(n: Nud, now: number, config: NudConfig): Step {
  if (!n.inUse) {
    return {
      next: { ...bare(n), state: "none", asked: "no", probes: 0 },
      effects: [{ kind: "give_up" }, { kind: "forget" }],
    };
  }
  return {
    next: { ...bare(n), state: "failed", probes: 0, failures: 0, deadline: now + failedPause(0, config) },
    effects: [{ kind: "give_up" }],
  };
}

function confirmed(n: Nud, mac: number, port: number, now: number, random: number, config: NudConfig): Step {
  const base = n.inUse ? config.reachableMs : config.unusedReachableMs;
  return quiet({
    state: "reachable",
    mac,
    port,
    confirmedAt: now,
    inUse: n.inUse,
    probes: 0,
    asked: "no",
    ...(n.askedAt === undefined ? {} : { askedAt: n.askedAt }),
    failures: 0,
    deadline: now + base * (1 - JITTER / 2 + JITTER * random),
  });
}

function reply(n: Nud, mac: number, port: number, now: number, random: number, config: NudConfig): Step {
  if (n.asked === "no") {
    const fresh = n.confirmedAt !== undefined && now - n.confirmedAt < CONFLICT_WINDOW_MS;
    if (fresh && n.mac !== undefined && n.mac !== mac) {
      return { next: n, effects: [{ kind: "conflict", macs: [n.mac, mac] }] };
    }
    return hint(n, mac, port, now, config);
  }
  // A question to one MAC is that MAC's to answer; another one that speaks up may only make us ask everybody.
  if (n.asked === "unicast" && mac !== n.mac) return quiet(n);
  return confirmed(n, mac, port, now, random, config);
}

/** Unasked news is never believed, only checked: with the MAC known so far first, so that nobody can talk it away. */
function hint(n: Nud, mac: number, port: number, now: number, config: NudConfig): Step {
  switch (n.state) {
    case "reachable":
    case "stale":
      if (n.mac === mac && n.port === port) return quiet(n);
      return startProbe(n, now, config, Math.max(0, config.unicastProbes - 1));
    case "failed":
      return wanted(n, now, config);
    default:
      return quiet(n);
  }
}

function wanted(n: Nud, now: number, config: NudConfig): Step {
  switch (n.state) {
    case "none":
      return askEverybody(n, now, config.broadcastRetryMs, { state: "incomplete", probes: 1 });
    case "failed":
      if (n.askedAt !== undefined && now - n.askedAt < config.wantedRetryMs) return quiet(n);
      return askEverybody(n, now, config.broadcastRetryMs, { state: "incomplete", probes: 1, failures: 0 });
    case "stale":
      return startProbe(n, now, config);
    default:
      return quiet(n);
  }
}

/** Spread over a second: a controller that comes back adopts all next hops at once. */
function adopt(n: Nud, mac: number, port: number, now: number, random: number, config: NudConfig): Step {
  if (published(n)) {
    return n.mac === mac && n.port === port && n.state !== "stale"
      ? quiet(n)
      : startProbe({ ...n, mac, port }, now, config);
  }
  return quiet({
    ...n,
    state: "reachable",
    mac,
    port,
    probes: 0,
    asked: "no",
    failures: 0,
    deadline: now + random * Math.min(1_000, config.reachableMs),
  });
}
