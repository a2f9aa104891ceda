import { vips } from "../addresses.ts";
import { flowBuilder } from "../flow.ts";
import { ipText } from "../format.ts";
import { ip } from "../match.ts";
import { punt } from "../punt.ts";
import { T } from "../tables.ts";
import type { Feature } from "./feature.ts";

const flow = flowBuilder("ttl");

/**
 * Packets that would expire here (RFC 1812 §5.3.1). The controller answers them, so they must be as the sender sent them:
 * they are caught before addresses are translated. What slips through is stopped in front of dec_ttl, where the switch would
 * otherwise make packet-ins that no meter holds.
 *
 * Listeners that may choose a member in the client's own segment are above the check (listener.ts): there, no hop is counted.
 */
export const ttl: Feature = {
  name: "ttl",
  *flows(s) {
    for (const { vip, segment, loadBalancer } of vips(s)) {
      if (!loadBalancer.adminUp) continue;
      const expiring = {
        actions: [punt("ttl")],
        object: { kind: "address", id: vip.ip },
        why: `The TTL does not last beyond ${ipText(vip.ip)}.`,
      } as const;
      const match = { ...ip, ip_dst: vip.ip, nw_ttl: 1 };
      yield flow({
        ...expiring,
        table: T.classify,
        priority: 135,
        match: { ...match, reg0: segment.id, eth_dst: segment.gateway.mac },
      });
      yield flow({ ...expiring, table: T.router, priority: 145, match });
    }
    for (const left of [0, 1]) {
      yield flow({
        table: T.router,
        priority: 120,
        match: { ...ip, nw_ttl: left },
        actions: [punt("ttl")],
        why: "The TTL does not last for another hop.",
      });
      yield flow({
        table: T.routes,
        priority: 200,
        match: { ...ip, nw_ttl: left },
        why: "The TTL does not last for another hop, and the packet is translated already.",
      });
    }
  },
};
