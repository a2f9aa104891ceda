import type { Group } from "./bench.ts";
import { arp } from "./groups/arp.ts";
import { drain } from "./groups/drain.ts";
import { failClose } from "./groups/fail-close.ts";
import { health } from "./groups/health.ts";
import { icmp } from "./groups/icmp.ts";
import { isolation } from "./groups/isolation.ts";
import { mac } from "./groups/mac.ts";
import { ports } from "./groups/ports.ts";
import { privateGroup } from "./groups/private.ts";
import { publicGroup } from "./groups/public.ts";
import { reload } from "./groups/reload.ts";
import { restart } from "./groups/restart.ts";
import { routing } from "./groups/routing.ts";
import { switching } from "./groups/switching.ts";
import { ttl } from "./groups/ttl.ts";

/** All groups, in the order in which they run: what only looks first, what breaks something last. */
export const groups: readonly Group[] = [
  ports,
  arp,
  icmp,
  routing,
  ttl,
  publicGroup,
  privateGroup,
  switching,
  isolation,
  health,
  drain,
  mac,
  reload,
  restart,
  failClose,
];
