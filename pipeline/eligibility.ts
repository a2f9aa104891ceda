/**
 * May a member get new connections? One answer for the flows, the API and the web page, so that none of them can
 * say something else than the switch does.
 */
import type { Health, Member, Pool } from "./model.ts";

/** "eligible", or the first thing that stands against it, in the order an operator would look. */
export type Eligibility = "eligible" | "disabled" | "draining" | "zero-weight" | "down" | "unproven";

/** The part of a member that counts here. */
export type EligibilityInput = Pick<Member, "adminUp" | "drain" | "weight">;

/**
 * A member that has not been probed yet is not eligible: a server that was just enabled would otherwise get
 * connections before anybody knows whether it runs.
 */
export const eligibility = (member: EligibilityInput, health: Health): Eligibility => {
  if (!member.adminUp) return "disabled";
  if (member.drain) return "draining";
  if (member.weight === 0) return "zero-weight";
  if (health === "down") return "down";
  if (health === "unknown") return "unproven";
  return "eligible";
};

/** The health of a member by the observations in `health`: a pool without a monitor has no bad members. */
export const healthOf = (pool: Pool, member: Member, health: ReadonlyMap<number, Health>): Health =>
  pool.healthMonitor === undefined ? "unmonitored" : (health.get(member.id) ?? "unknown");

/** The members that share the pool's slots: the eligible ordinary ones or, while there is none, the eligible backups. */
export const servingMembers = (pool: Pool, health: ReadonlyMap<number, Health>): readonly Member[] => {
  const eligible = pool.members.filter((m) => eligibility(m, healthOf(pool, m, health)) === "eligible");
  const ordinary = eligible.filter((m) => !m.backup);
  return ordinary.length > 0 ? ordinary : eligible;
};
