import { Role } from "../openflow/messages/role.ts";
import type { Session } from "./session/session.ts";

/**
 * Who may write to the switch when several controllers are connected (OF1.3.5 §6.3.6).
 *
 * A connection begins as "equal", which may write but is not told when somebody else takes charge; so we make ourselves
 * primary. When another controller does the same later, the switch makes us secondary and we stop writing; after
 * {@link RETAKE_MS} we take the role back with a newer generation id. A controller that is meant to follow us would
 * answer with a newer one still; one that has gone away cannot, and the switch does not tell us that it has.
 */
export type RoleName = "equal" | "primary" | "secondary";

/** How long another controller's claim is respected, ms. */
export const RETAKE_MS = 30_000;

export const roleName = (role: number): RoleName =>
  role === Role.secondary ? "secondary" : role === Role.primary ? "primary" : "equal";

/** Makes us primary with a generation id one newer than the switch has seen. Rejects as {@link Session.request} does. */
export async function takePrimary(session: Session): Promise<RoleName> {
  const now = await session.request({ type: "role_request", role: Role.nochange, generationId: 0n }, "role");
  // A switch that has seen no generation id says all ones.
  const seen = now.type === "role_reply" ? BigInt.asIntN(64, now.generationId) : -1n;
  const generationId = BigInt.asUintN(64, seen + 1n);
  const reply = await session.request({ type: "role_request", role: Role.primary, generationId }, "role primary");
  return reply.type === "role_reply" ? roleName(reply.role) : "secondary";
}
