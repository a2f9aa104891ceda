import { flowBuilder } from "../flow.ts";
import { arp, ip } from "../match.ts";
import { T } from "../tables.ts";
import type { Feature } from "./feature.ts";

const flow = flowBuilder("classify");

/** Table 1: the destination MAC tells traffic for the router from traffic between machines. */
export const classify: Feature = {
  name: "classify",
  *flows(s) {
    for (const segment of s.segments) {
      const object = { kind: "segment", id: segment.id } as const;
      yield flow({
        table: T.classify,
        priority: 200,
        match: { ...arp, reg0: segment.id },
        goto: T.arp,
        object,
        why: `ARP in ${segment.name}.`,
      });
      yield flow({
        table: T.classify,
        priority: 120,
        match: { ...ip, reg0: segment.id, eth_dst: segment.gateway.mac },
        goto: T.router,
        object,
        why: `IP sent to the router of ${segment.name}.`,
      });
    }
    yield flow({
      table: T.classify,
      priority: 0,
      goto: T.replies,
      why: "Everything else is traffic between machines of a segment.",
    });
  },
};
