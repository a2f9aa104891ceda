import { flowBuilder } from "../flow.ts";
import { ipText } from "../format.ts";
import { icmp, type MatchRecord, tcp, udp } from "../match.ts";
import { type ProbeTarget, probeTargets } from "../probe-target.ts";
import { punt } from "../punt.ts";
import { T } from "../tables.ts";
import type { Feature } from "./feature.ts";

const flow = flowBuilder("probe");
const ECHO_REPLY = 0;
const UNREACHABLE = 3;

/** What a probe may be answered with: what it asks for, or a refusal by the host or by the router on the way. */
const answers = ({ monitor, ip, port, nextHop }: ProbeTarget): readonly MatchRecord[] => {
  const wanted = {
    tcp: { ...tcp, tcp_src: port },
    http: { ...tcp, tcp_src: port },
    udp: { ...udp, udp_src: port },
    icmp: { ...icmp, icmp_type: ECHO_REPLY },
  }[monitor.type];
  const refused = [...new Set([ip, nextHop])].map((from) => ({ ...icmp, icmp_type: UNREACHABLE, ip_src: from }));
  return [{ ...wanted, ip_src: ip }, ...refused];
};

/** Table 1: what members answer to health probes goes to the controller, which sent them from the probe address. */
export const probe: Feature = {
  name: "probe",
  *flows(s) {
    const seen = new Set<string>();
    // Of several members at one address always the same one is named.
    for (const target of probeTargets(s).toSorted((a, b) => a.member.id - b.member.id)) {
      const { segment, member, source } = target;
      for (const answer of answers(target)) {
        const key = `${segment.id} ${JSON.stringify(answer)}`;
        if (seen.has(key)) continue;
        seen.add(key);
        yield flow({
          table: T.classify,
          priority: 195,
          match: { ...answer, reg0: segment.id, eth_dst: segment.gateway.mac, ip_dst: source },
          actions: [punt("probe")],
          object: { kind: "member", id: member.id },
          why: `Member ${member.name} answers a probe from ${ipText(source)}.`,
        });
      }
    }
  },
};
