/** When members are probed. Pure: time and chance are arguments. */
import type { MemberHealth } from "./machine.ts";

/**
 * A probe starts this much of the interval earlier at most, so that members, and controllers that watch the same ones, do
 * not fall into step. Never later: `fall` failures take at most `fall` intervals and a timeout.
 */
const JITTER = 0.1;
/** Pause between probes of a member nobody knows anything about yet, ms: it decides in a moment whether it may serve. */
const FIRST_PAUSE_MS = 150;

/** The first probe: at once, unless the member serves anyway; those are spread over an interval. */
export const firstProbe = (adopted: boolean, now: number, intervalMs: number, random: number): number =>
  adopted ? now + random * intervalMs : now;

/**
 * The probe after one that started at `startedAt`. When a member has just become known, the next one may be anywhere in the
 * interval: a hundred members that were enabled at once would be probed at once for ever.
 */
export const nextProbe = (
  { state }: Pick<MemberHealth, "state">,
  was: MemberHealth["state"],
  times: { readonly startedAt: number; readonly now: number; readonly intervalMs: number },
  random: number,
): number => {
  const { startedAt, now, intervalMs } = times;
  if (state === "unknown") return Math.max(now, startedAt + Math.min(FIRST_PAUSE_MS, intervalMs));
  if (was === "unknown") return now + random * intervalMs;
  return Math.max(now, startedAt + intervalMs * (1 - JITTER * random));
};

/** Probes may start this much early, ms, when others start anyway. */
const COMPANY_MS = 50;

/** Something that is due at a time, again and again. */
interface Due {
  readonly dueAt: number;
  readonly intervalMs: number;
}

/**
 * What may start now: whatever is due or nearly so, the longest overdue first, but no more than there is room for.
 * Probes that start together cost the controller far less: their packets share system calls both ways.
 */
export const startable = <T extends Due>(waiting: Iterable<T>, now: number, room: number): readonly T[] => {
  if (room <= 0) return [];
  const due = [...waiting].filter((w) => w.dueAt <= now + Math.min(COMPANY_MS, w.intervalMs / 20));
  return due.length <= room ? due : due.sort((a, b) => a.dueAt - b.dueAt).slice(0, room);
};
