import type { Learn } from "../../openflow/action-values-nx.ts";
import { learn, learnLoad, learnMatch, learnOutput, load } from "../../openflow/build.ts";
import { ownAddresses } from "../addresses.ts";
import { cookie } from "../cookies.ts";
import { type FlowSpec, flowBuilder } from "../flow.ts";
import { ipText, macText } from "../format.ts";
import { arp, ip, prefix } from "../match.ts";
import type { DesiredState, ResolvedPort, Segment } from "../model.ts";
import { punt } from "../punt.ts";
import { flagClientLearned, flagMacLearned, regSegment } from "../registers.ts";
import { T } from "../tables.ts";
import type { Feature } from "./feature.ts";
import { claimLookedAt, learnsClients, lookedAt } from "./guard.ts";

const flow = flowBuilder("ingress");

/** Bit 40 of a MAC: group addresses, which nobody may send from. */
const GROUP_BIT = 0x0100_0000_0000;

/**
 * Timeouts are hard ones: learning goes by the source of frames, so an idle timeout, which counts frames *to* the address, would
 * drop entries of machines that only send. A frame seen again starts the time anew. The switch limits entries by cookie, so
 * the port is in the cookie: a flood behind one port takes no other port's room.
 */
const learned = (segment: Segment, o: Parameters<typeof learn>[0]): Learn =>
  learn({ hardTimeout: segment.ageing, limit: segment.learnLimit, ...o });

const learnFdb = (port: ResolvedPort, segment: Segment): Learn =>
  learned(segment, {
    table: T.fdb,
    priority: 50,
    cookie: cookie("learned-fdb", { kind: "port", id: port.ofport }),
    specs: [learnMatch(regSegment.field), learnMatch("eth_dst", "eth_src"), learnOutput("in_port")],
    resultDst: flagMacLearned,
  });

const learnAdjacency = (port: ResolvedPort, segment: Segment): Learn =>
  learned(segment, {
    table: T.adjacency,
    priority: 90,
    cookie: cookie("learned-adjacency", { kind: "port", id: port.ofport }),
    specs: [
      learnMatch("eth_type", 0x0800),
      learnMatch("ip_dst", "ip_src"),
      learnLoad("eth_src", "eth_dst"),
      learnOutput("in_port"),
    ],
    resultDst: flagClientLearned,
  });

function* portFlows(port: ResolvedPort, segment: Segment): Generator<FlowSpec> {
  const object = { kind: "port", id: port.ofport } as const;
  const from = { in_port: port.ofport, ...(port.hostMac === undefined ? {} : { eth_src: port.hostMac }) };
  const enter = [load(segment.id, regSegment), learnFdb(port, segment)];
  yield flow({
    table: T.ingress,
    priority: 100,
    match: from,
    actions: [...enter, lookedAt],
    goto: T.classify,
    object,
    why: `Frames from port ${port.name} belong to segment ${segment.name}; their source is learned.`,
  });
  if (learnsClients(port, segment)) {
    yield flow({
      table: T.ingress,
      priority: 110,
      match: { ...ip, ...from, ip_src: prefix(segment.subnet) },
      actions: [...enter, learnAdjacency(port, segment), lookedAt],
      goto: T.classify,
      object,
      why: `Hosts of ${segment.name} behind port ${port.name} become next hops as they send.`,
    });
  }
  if (port.hostMac !== undefined) {
    yield flow({
      table: T.ingress,
      priority: 90,
      match: { in_port: port.ofport },
      object,
      why: `Port ${port.name} may only send from ${macText(port.hostMac)}; anything else is dropped.`,
    });
  }
}

/** What only we may send is not let in, whichever port it comes from. */
function* antiSpoof(s: DesiredState): Generator<FlowSpec> {
  yield flow({
    table: T.ingress,
    priority: 300,
    match: { eth_src: { value: GROUP_BIT, mask: GROUP_BIT } },
    why: "A group address is never a source; such frames are dropped and not learned.",
  });
  for (const mac of new Set(s.segments.map((segment) => segment.gateway.mac))) {
    yield flow({
      table: T.ingress,
      priority: 250,
      match: { eth_src: mac },
      why: `Only we send from ${macText(mac)}: our frames came back, or somebody forges them.`,
    });
  }
  for (const own of ownAddresses(s)) {
    const spoofed = {
      table: T.ingress,
      priority: 240,
      actions: [...claimLookedAt, punt("conflict")],
      object: { kind: "address", id: own.ip },
      why: `Somebody uses our address ${ipText(own.ip)}: counted, reported and dropped.`,
    } as const;
    yield flow({ ...spoofed, match: { ...ip, ip_src: own.ip } });
    yield flow({ ...spoofed, match: { ...arp, arp_spa: own.ip } });
  }
}

/** Table 0: which segment a frame belongs to, and what is learned from it. */
export const ingress: Feature = {
  name: "ingress",
  *flows(s) {
    yield* antiSpoof(s);
    const segments = new Map(s.segments.map((segment) => [segment.id, segment]));
    for (const port of s.ports) {
      const segment = segments.get(port.segment);
      if (port.up && segment !== undefined) yield* portFlows(port, segment);
    }
    yield flow({
      table: T.ingress,
      priority: 0,
      why: "Frames from a port without a segment are dropped.",
    });
  },
};
