import { egressSegment } from "../addresses.ts";
import { flowBuilder } from "../flow.ts";
import { ipText } from "../format.ts";
import { icmp, type MatchRecord, tcp, udp } from "../match.ts";
import type { DesiredState, HealthMonitor, Member, Segment } from "../model.ts";
import { punt } from "../punt.ts";
import { T } from "../tables.ts";
import type { Feature } from "./feature.ts";

const flow = flowBuilder("probe");
const ECHO_REPLY = 0;
const UNREACHABLE = 3;

const answers = (monitor: HealthMonitor, member: Member): readonly MatchRecord[] => {
  switch (monitor.type) {
    case "icmp":
      return [{ ...icmp, icmp_type: ECHO_REPLY }];
    case "udp":
      return [
        { ...udp, udp_src: member.port },
        { ...icmp, icmp_type: UNREACHABLE },
      ];
    case "tcp":
    case "http":
      return [{ ...tcp, tcp_src: member.port }];
  }
};

const probedBy = (s: DesiredState, member: Member): Segment | undefined => {
  const id = member.segment ?? egressSegment(s, member.ip);
  return s.segments.find((segment) => segment.id === id);
};

/** Table 1: what members answer to health probes goes to the controller, which sent them from the probe address. */
export const probe: Feature = {
  name: "probe",
  *flows(s) {
    const seen = new Set<string>();
    for (const pool of s.loadBalancers.flatMap((lb) => lb.pools)) {
      if (pool.healthMonitor === undefined) continue;
      for (const member of pool.members) {
        const segment = probedBy(s, member);
        if (segment?.probe === undefined) continue;
        for (const answer of answers(pool.healthMonitor, member)) {
          const key = `${segment.id} ${member.ip} ${JSON.stringify(answer)}`;
          if (seen.has(key)) continue;
          seen.add(key);
          yield flow({
            table: T.classify,
            priority: 195,
            match: {
              ...answer,
              reg0: segment.id,
              eth_dst: segment.gateway.mac,
              ip_src: member.ip,
              ip_dst: segment.probe.ip,
            },
            actions: [punt("probe")],
            object: { kind: "member", id: member.id },
            why: `Member ${member.name} answers a probe from ${ipText(segment.probe.ip)}.`,
          });
        }
      }
    }
  },
};
