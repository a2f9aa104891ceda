/**
 * Neighbour unreachability detection for one next hop: the states of RFC 4861 §7.3.2, driven by ARP (RFC 826).
 *
 * Pure: `step` takes the time and returns the new entry with what is to be sent. Two differences from a host's cache:
 * a next hop in use is confirmed again *before* its time is over, so that its MAC never lapses while it answers, and a
 * failed one is asked for ever, ever more slowly. There is no DELAY state: it waits for hints from a transport
 * protocol, and a switch has none to give.
 */

/**
 * incomplete: asked for, nothing known. reachable: confirmed lately. stale: known, not confirmed lately. probe: being
 * confirmed, the old MAC still in use. failed: does not answer. permanent: given by the operator.
 */
export type NudState = "none" | "incomplete" | "reachable" | "stale" | "probe" | "failed" | "permanent";

export interface NudConfig {
  /** A next hop in use is confirmed again after at most this long, ms. */
  readonly reachableMs: number;
  /** One that nobody uses becomes stale after at most this long, ms. */
  readonly unusedReachableMs: number;
  /** A stale one is confirmed or forgotten after this long, ms. */
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
  /** A reply later than this after the last question is no answer to it, ms. */
  readonly answerMs: number;
  /** A MAC that is back within this time after another one took its place is a conflict, ms. */
  readonly flapMs: number;
  /** What a switch held before is confirmed within this time, ms. */
  readonly adoptSpreadMs: number;
}

/**
 * With these a MAC that changes without a word is followed in 6 s and one round trip: at worst it changes just after
 * it was confirmed, is asked again after 5 s, does not answer 2 questions of 0.5 s each, and then everybody is asked.
 * Each lost broadcast adds 1 s, so two of them make 8 s; the next hop counts as failed after 9 s, and is asked again
 * 1 s later. A change that is announced is followed in 0.5 s.
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
  answerMs: 1_000,
  flapMs: 60_000,
  adoptSpreadMs: 1_000,
};

/**
 * Confirmation times are shortened by up to this share, so that a thousand next hops learned at once are not asked at
 * once. They are never lengthened: `reachableMs` stays a bound.
 */
const JITTER = 0.2;

/** A question that was sent. */
interface Question {
  readonly mode: "unicast" | "broadcast";
  readonly at: number;
  /** MAC of the answer that was believed. */
  readonly answeredBy?: number;
  /** Another MAC answered too; said once for each question. */
  readonly disputed?: boolean;
}

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
  /** The last question. */
  readonly asked?: Question;
  /** MAC that claimed the address unasked and made us ask the known one. */
  readonly claimedBy?: number;
  /** The MAC before this one. */
  readonly before?: { readonly mac: number; readonly until: number };
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
  /** A port came up that it may be behind. */
  | { readonly kind: "port_up" }
  | { readonly kind: "permanent"; readonly mac: number; readonly port?: number }
  /** The operator does not give its MAC any more. */
  | { readonly kind: "unset" }
  /** Nothing that was known holds any more: the switch came back empty. */
  | { readonly kind: "reset" };

export type NudEffect =
  | { readonly kind: "solicit"; readonly mode: "broadcast" }
  | { readonly kind: "solicit"; readonly mode: "unicast"; readonly mac: number; readonly port: number }
  | { readonly kind: "conflict"; readonly macs: readonly [number, number] }
  /** Packets that wait will not be sent. */
  | { readonly kind: "give_up" }
  /** The entry may be forgotten. */
  | { readonly kind: "forget" }
  /** A question had to be put off until `Moment.mayAskAt`, the entry's new deadline. */
  | { readonly kind: "held_back" };

export interface Step {
  readonly next: Nud;
  readonly effects: readonly NudEffect[];
}

/** What a step may know besides the entry and the event. */
export interface Moment {
  /** ms on any clock that does not go back */
  readonly now: number;
  /** 0…1, for the jitter */
  readonly random: number;
  /** No question may go out earlier; `now` or before when one may go at once. */
  readonly mayAskAt: number;
}

export const NEW_NUD: Nud = { state: "none", inUse: false, probes: 0 };

/** What flows may use; undefined while nothing is known. */
export const published = (n: Nud): { readonly mac: number; readonly port: number } | undefined =>
  n.mac !== undefined && n.port !== undefined ? { mac: n.mac, port: n.port } : undefined;

export function step(n: Nud, event: NudEvent, at: Moment, config: NudConfig): Step {
  if (event.kind === "permanent") return quiet(givenByOperator(n, event.mac, event.port));
  if (n.state === "permanent") return permanent(n, event, at, config);
  switch (event.kind) {
    case "use":
      return use(n, event.inUse, at, config);
    case "timer":
      return n.deadline === undefined || n.deadline > at.now ? quiet(n) : timer(n, at, config);
    case "reply":
      return reply(n, event.mac, event.port, at, config);
    case "hint":
      return hint(n, event.mac, event.port, at, config);
    case "wanted":
      return wanted(n, at, config);
    case "adopt":
      return adopt(n, event.mac, event.port, at, config);
    case "port_down":
      return n.port === event.port ? askAnew(n, at, config) : quiet(n);
    case "port_up":
      return portUp(n, at, config);
    case "reset":
      return n.state === "none" ? quiet(n) : askAnew(n, at, config);
    case "unset":
      return quiet(n);
  }
}

const quiet = (next: Nud): Step => ({ next, effects: [] });

/** The entry without what is known of its MAC. */
function bare(n: Nud): Nud {
  return { state: n.state, inUse: n.inUse, probes: n.probes, ...(n.asked === undefined ? {} : { asked: n.asked }) };
}

const forgotten = (n: Nud): Step => ({ next: { ...bare(n), state: "none", probes: 0 }, effects: [{ kind: "forget" }] });

/** Its place may have been heard before; the operator need not give it. */
function givenByOperator(n: Nud, mac: number, given: number | undefined): Nud {
  const port = given ?? (n.mac === mac ? n.port : undefined);
  return { state: "permanent", mac, ...(port === undefined ? {} : { port }), inUse: n.inUse, probes: 0 };
}

function permanent(n: Nud, event: NudEvent, at: Moment, config: NudConfig): Step {
  if (event.kind === "use") return quiet({ ...n, inUse: event.inUse });
  if (event.kind === "unset") {
    if (!n.inUse) return forgotten(n);
    return published(n) ? startProbe(n, at, config) : startIncomplete(n, at, config);
  }
  // Its MAC is the operator's word; where it is may still be learned.
  const heard = event.kind === "reply" || event.kind === "hint" || event.kind === "adopt";
  return quiet(heard && event.mac === n.mac ? { ...n, port: event.port } : n);
}

/** The one place where a question is asked: counts it, or puts it off uncounted so that no answer is missed for it. */
function ask(n: Nud, to: { mac: number; port: number } | "everybody", pauseMs: number, at: Moment): Step {
  if (at.mayAskAt > at.now) return { next: { ...n, deadline: at.mayAskAt }, effects: [{ kind: "held_back" }] };
  const mode = to === "everybody" ? "broadcast" : "unicast";
  return {
    next: { ...n, probes: n.probes + 1, asked: { mode, at: at.now }, deadline: at.now + pauseMs },
    effects: [
      to === "everybody" ? { kind: "solicit", mode: "broadcast" } : { kind: "solicit", mode: "unicast", ...to },
    ],
  };
}

const startIncomplete = (n: Nud, at: Moment, config: NudConfig): Step =>
  incomplete({ ...bare(n), state: "incomplete", probes: 0 }, at, config);

function incomplete(n: Nud, at: Moment, config: NudConfig): Step {
  if (n.probes >= config.broadcastProbes) return failed(n, at, config);
  return ask(n, "everybody", config.broadcastRetryMs, at);
}

/** Asks the known MAC whether it is still there, then everybody; `skip` of the questions are left out. */
const startProbe = (n: Nud, at: Moment, config: NudConfig, skip = 0, to = published(n)): Step =>
  probe({ ...n, state: "probe", probes: skip }, at, config, to);

function probe(n: Nud, at: Moment, config: NudConfig, to = published(n)): Step {
  if (n.probes < config.unicastProbes && to) return ask(n, to, config.unicastRetryMs, at);
  if (n.probes >= config.unicastProbes + config.broadcastProbes) return failed(n, at, config);
  return ask(n, "everybody", config.broadcastRetryMs, at);
}

/** Nobody answers. One in use is asked for ever; any other is forgotten until a packet wants it again. */
function failed(n: Nud, at: Moment, config: NudConfig): Step {
  if (!n.inUse) return { next: forgotten(n).next, effects: [{ kind: "give_up" }, { kind: "forget" }] };
  return {
    next: { ...bare(n), state: "failed", probes: 0, deadline: at.now + failedPause(0, config) },
    effects: [{ kind: "give_up" }],
  };
}

const failedPause = (questions: number, { failedRetryMs }: NudConfig): number =>
  Math.min(failedRetryMs.longest, failedRetryMs.first * 2 ** Math.min(questions, 20));

/** What was known does not hold any more. */
const askAnew = (n: Nud, at: Moment, config: NudConfig): Step =>
  n.inUse ? startIncomplete(n, at, config) : forgotten(n);

function use(n: Nud, inUse: boolean, at: Moment, config: NudConfig): Step {
  if (n.inUse === inUse) return quiet(n);
  const next = { ...n, inUse };
  switch (n.state) {
    case "none":
    case "failed":
    case "incomplete":
      if (!inUse) return forgotten(next);
      return n.state === "incomplete" ? quiet(next) : startIncomplete(next, at, config);
    case "reachable":
    case "stale":
      return inUse ? startProbe(next, at, config) : quiet({ ...next, deadline: at.now + config.unusedReachableMs });
    default:
      return quiet(next);
  }
}

function timer(n: Nud, at: Moment, config: NudConfig): Step {
  switch (n.state) {
    case "reachable":
      if (n.inUse) return startProbe(n, at, config);
      return quiet({ ...n, state: "stale", deadline: at.now + config.staleMs });
    case "stale":
      // Flows may still carry traffic to it unseen: it is forgotten only when it does not answer any more.
      return startProbe(n, at, config);
    case "probe":
      return probe(n, at, config);
    case "incomplete":
      return incomplete(n, at, config);
    case "failed":
      return ask(n, "everybody", failedPause(n.probes + 1, config), at);
    default:
      return quiet(n);
  }
}

function confirmed(n: Nud, mac: number, port: number, asked: Question, at: Moment, config: NudConfig): Step {
  const base = n.inUse ? config.reachableMs : config.unusedReachableMs;
  const effects: NudEffect[] = [];
  const isChange = n.mac !== undefined && n.mac !== mac;
  const isBack = isChange && n.before?.mac === mac && at.now - n.before.until <= config.flapMs;
  if (n.mac !== undefined && isBack) effects.push({ kind: "conflict", macs: [n.mac, mac] });
  // The known MAC still answers, so the one that claimed its address is a second owner.
  if (n.mac === mac && n.claimedBy !== undefined) effects.push({ kind: "conflict", macs: [mac, n.claimedBy] });
  const before = n.mac !== undefined && isChange ? { mac: n.mac, until: at.now } : n.before;
  return {
    next: {
      state: "reachable",
      mac,
      port,
      confirmedAt: at.now,
      inUse: n.inUse,
      probes: 0,
      asked: { ...asked, answeredBy: mac },
      ...(before === undefined ? {} : { before }),
      deadline: at.now + base * (1 - JITTER * at.random),
    },
    effects,
  };
}

function reply(n: Nud, mac: number, port: number, at: Moment, config: NudConfig): Step {
  const { asked } = n;
  if (asked === undefined || at.now - asked.at > config.answerMs) return hint(n, mac, port, at, config);
  if (asked.answeredBy === undefined) {
    // A question to one MAC is that MAC's to answer; another one that speaks up may only make us ask everybody.
    if (asked.mode === "unicast" && mac !== n.mac) return hint(n, mac, port, at, config);
    return confirmed(n, mac, port, asked, at, config);
  }
  if (asked.answeredBy === mac || asked.disputed) return quiet(n);
  return {
    next: { ...n, asked: { ...asked, disputed: true } },
    effects: [{ kind: "conflict", macs: [asked.answeredBy, mac] }],
  };
}

/** Unasked news is never believed, only checked: with the MAC known so far first, so that nobody can talk it away. */
function hint(n: Nud, mac: number, port: number, at: Moment, config: NudConfig): Step {
  switch (n.state) {
    case "reachable":
    case "stale": {
      const skip = Math.max(0, config.unicastProbes - 1);
      if (n.mac !== mac) return startProbe({ ...n, claimedBy: mac }, at, config, skip);
      // The same machine elsewhere: it is asked where it was heard.
      return n.port === port ? quiet(n) : startProbe(n, at, config, skip, { mac, port });
    }
    case "probe":
      return quiet(n.mac === mac ? n : { ...n, claimedBy: mac });
    case "failed":
      return wanted(n, at, config);
    default:
      return quiet(n);
  }
}

function wanted(n: Nud, at: Moment, config: NudConfig): Step {
  switch (n.state) {
    case "none":
      return startIncomplete(n, at, config);
    case "failed":
      if (n.asked !== undefined && at.now - n.asked.at < config.wantedRetryMs) return quiet(n);
      return startIncomplete(n, at, config);
    case "stale":
      return startProbe(n, at, config);
    default:
      return quiet(n);
  }
}

function portUp(n: Nud, at: Moment, config: NudConfig): Step {
  if (n.state === "incomplete") return quiet({ ...n, probes: 0 });
  if (n.state !== "failed") return quiet(n);
  const soonest = (n.asked?.at ?? Number.NEGATIVE_INFINITY) + config.wantedRetryMs;
  if (soonest <= at.now) return startIncomplete(n, at, config);
  return quiet({ ...n, state: "incomplete", probes: 0, deadline: soonest });
}

/**
 * What the switch holds stays as it is, so that taking over changes no flow, and is confirmed soon. It is spread: a
 * controller that comes back adopts all next hops at once.
 */
function adopt(n: Nud, mac: number, port: number, at: Moment, config: NudConfig): Step {
  const known = published(n);
  if (!known) {
    const deadline = at.now + at.random * config.adoptSpreadMs;
    return quiet({ ...n, state: "stale", mac, port, probes: 0, deadline });
  }
  // What we know was confirmed by us, later than the switch was told what it holds.
  if (n.state === "probe" || (known.mac === mac && known.port === port)) return quiet(n);
  return startProbe(n, at, config);
}
