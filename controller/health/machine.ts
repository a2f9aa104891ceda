/**
 * The health of one member, by its probes. Pure.
 *
 * A member comes up after `rise` successes in a row and goes down after `fall` failures in a row. Until either has happened
 * it is unknown, which is not good enough to serve. One that already serves on a switch, when the controller starts, is
 * taken to be up until the probes say otherwise.
 */
import type { Health } from "../../pipeline/model.ts";

/** How one probe ended. */
export interface ProbeResult {
  readonly ok: boolean;
  /** For people: "connected", "status 301 not in 200", "no answer within 1 s". */
  readonly reason: string;
  /** From the first packet to the verdict, ms. */
  readonly ms: number;
  /** Wall clock, ms since 1970. */
  readonly at: number;
}

export interface MemberHealth {
  readonly state: Exclude<Health, "unmonitored">;
  /** Taken over from a switch; no probe has confirmed or refuted it yet. */
  readonly adopted: boolean;
  /** Results alike, one after the other, up to now. */
  readonly streak: { readonly ok: boolean; readonly count: number };
  readonly probes: number;
  readonly failures: number;
  /** The last results, the newest first. */
  readonly history: readonly ProbeResult[];
  /** When the state was entered, ms since 1970. */
  readonly since: number;
}

export type HealthEvent =
  | { readonly kind: "probed"; readonly result: ProbeResult }
  /** The switch shows that the member serves. */
  | { readonly kind: "adopted"; readonly at: number };

export interface HealthLimits {
  readonly rise: number;
  readonly fall: number;
}

/** Results that are kept for people. */
const HISTORY = 10;

export const newMember = (at: number): MemberHealth => ({
  state: "unknown",
  adopted: false,
  streak: { ok: false, count: 0 },
  probes: 0,
  failures: 0,
  history: [],
  since: at,
});

const stateAfter = (m: MemberHealth, streak: MemberHealth["streak"], limits: HealthLimits): MemberHealth["state"] => {
  if (streak.ok && streak.count >= limits.rise) return "up";
  if (!streak.ok && streak.count >= limits.fall) return "down";
  return m.state;
};

/** The member after an event. */
export const step = (m: MemberHealth, event: HealthEvent, limits: HealthLimits): MemberHealth => {
  switch (event.kind) {
    case "adopted":
      // What probes have found weighs more.
      return m.probes > 0 || m.state !== "unknown" ? m : { ...m, state: "up", adopted: true, since: event.at };
    case "probed": {
      const { result } = event;
      const streak = { ok: result.ok, count: m.streak.ok === result.ok ? m.streak.count + 1 : 1 };
      const state = stateAfter(m, streak, limits);
      const decided = (result.ok && streak.count >= limits.rise) || (!result.ok && streak.count >= limits.fall);
      return {
        state,
        adopted: m.adopted && !decided,
        streak,
        probes: m.probes + 1,
        failures: m.failures + (result.ok ? 0 : 1),
        history: [result, ...m.history].slice(0, HISTORY),
        since: state === m.state ? m.since : result.at,
      };
    }
  }
};
