import type { Action } from "../../openflow/action-values.ts";
import { decTtl, load, setField } from "../../openflow/build.ts";
import { flowBuilder } from "../flow.ts";
import { ipText, prefixText } from "../format.ts";
import { ip, prefix } from "../match.ts";
import type { Prefix, Segment } from "../model.ts";
import { regEgress, regNextHop } from "../registers.ts";
import { T } from "../tables.ts";
import type { Feature } from "./feature.ts";

const flow = flowBuilder("routing");

/** Longest prefix first; the offset keeps a default route above the miss. */
const routePriority = (p: Prefix): number => 100 + p.length;

const MULTICAST: Prefix = { address: 0xe000_0000, length: 4 };

const leave = (segment: Segment): readonly Action[] => [
  load(segment.id, regEgress),
  decTtl(),
  setField("eth_src", segment.gateway.mac),
];

/** First and last address of a subnet, where they are not hosts (RFC 3021 has none such in a /31). */
const notHosts = ({ subnet }: Segment): readonly number[] =>
  subnet.length > 30 ? [] : [subnet.address, (subnet.address | (0xffff_ffff >>> subnet.length)) >>> 0];

/** Table 20: the egress segment by longest prefix. */
export const routing: Feature = {
  name: "routing",
  *flows(s) {
    const segments = new Map(s.segments.map((segment) => [segment.id, segment]));
    for (const segment of s.segments) {
      const object = { kind: "segment", id: segment.id } as const;
      yield flow({
        table: T.routes,
        priority: routePriority(segment.subnet),
        match: { ...ip, ip_dst: prefix(segment.subnet) },
        actions: leave(segment),
        goto: T.adjacency,
        object,
        why: `${prefixText(segment.subnet)} is segment ${segment.name}.`,
      });
      for (const address of notHosts(segment)) {
        yield flow({
          table: T.routes,
          priority: 190,
          match: { ...ip, ip_dst: address },
          object,
          why: `${ipText(address)} is no host of ${segment.name}: broadcasts are not routed.`,
        });
      }
    }
    for (const route of s.routes) {
      const segment = segments.get(route.segment);
      if (segment === undefined) continue;
      yield flow({
        table: T.routes,
        priority: routePriority(route.prefix),
        match: { ...ip, ip_dst: prefix(route.prefix) },
        actions: [load(route.via, regNextHop), ...leave(segment)],
        goto: T.adjacency,
        object: { kind: "prefix", id: route.prefix.address },
        why: `${prefixText(route.prefix)} is behind ${ipText(route.via)} in ${segment.name}.`,
      });
    }
    yield flow({
      table: T.routes,
      priority: 190,
      match: { ...ip, ip_dst: prefix(MULTICAST) },
      why: "Multicast is not routed.",
    });
    yield flow({ table: T.routes, priority: 0, why: "No route." });
  },
};
