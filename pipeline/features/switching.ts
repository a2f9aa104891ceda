import { group, output } from "../../openflow/build.ts";
import { flowBuilder } from "../flow.ts";
import { macText } from "../format.ts";
import { floodGroup } from "../ownership.ts";
import { ANY } from "../ports.ts";
import { T } from "../tables.ts";
import type { Feature } from "./feature.ts";

const flow = flowBuilder("switching");

/** OFPGT_ALL: a copy for every bucket, except back to the ingress port. */
const ALL = 0;

/** Tables 24 and 25: frames between machines of a segment. */
export const switching: Feature = {
  name: "switching",
  *flows(s) {
    yield flow({ table: T.replies, priority: 0, goto: T.fdb, why: "No reply of a member: switched as it is." });
    for (const mac of new Set(s.segments.map((segment) => segment.gateway.mac))) {
      yield flow({
        table: T.fdb,
        priority: 100,
        match: { eth_dst: mac },
        why: `${macText(mac)} is ours: what got here is nothing we speak, and no host's business.`,
      });
    }
    for (const segment of s.segments) {
      yield flow({
        table: T.fdb,
        priority: 10,
        match: { reg0: segment.id },
        actions: [group(floodGroup(segment.id))],
        object: { kind: "segment", id: segment.id },
        why: `Broadcast or unknown in ${segment.name}: to all its ports but the ingress port.`,
      });
    }
    yield flow({ table: T.fdb, priority: 0, why: "No segment." });
  },
  *groups(s) {
    for (const segment of s.segments) {
      const ports = s.ports.filter((p) => p.up && p.segment === segment.id).map((p) => p.ofport);
      yield {
        groupId: floodGroup(segment.id),
        groupType: ALL,
        buckets: ports
          .sort((a, b) => a - b)
          .map((port) => ({ weight: 0, watchPort: ANY, watchGroup: ANY, actions: [output(port)] })),
      };
    }
  },
};
