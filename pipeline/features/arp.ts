import type { Action } from "../../openflow/action-values.ts";
import { load, move, output, setField } from "../../openflow/build.ts";
import { nextHops, type OwnAddress, ownAddresses } from "../addresses.ts";
import { flowBuilder } from "../flow.ts";
import { ipText } from "../format.ts";
import { arp as arpMatch } from "../match.ts";
import { IN_PORT } from "../ports.ts";
import { punt } from "../punt.ts";
import { T } from "../tables.ts";
import type { Feature } from "./feature.ts";

const flow = flowBuilder("arp");
const REQUEST = 1;
const REPLY = 2;

/** Turns a request into its answer and sends it back (RFC 826). */
const answer = ({ ip, mac }: OwnAddress): readonly Action[] => [
  move("eth_src", "eth_dst"),
  setField("eth_src", mac),
  load(REPLY, "arp_op"),
  move("arp_sha", "arp_tha"),
  move("arp_spa", "arp_tpa"),
  load(mac, "arp_sha"),
  load(ip, "arp_spa"),
  output(IN_PORT),
];

/** Table 5: we answer for our addresses and for no others; what the resolver should see is copied to it. */
export const arp: Feature = {
  name: "arp",
  *flows(s) {
    for (const own of ownAddresses(s)) {
      const object = { kind: "address", id: own.ip } as const;
      if (own.answered) {
        yield flow({
          table: T.arp,
          priority: 100,
          match: { ...arpMatch, reg0: own.segment, arp_op: REQUEST, arp_tpa: own.ip },
          actions: answer(own),
          object,
          why: `Who has ${ipText(own.ip)}? We do.`,
        });
      }
      if (own.kind !== "vip") {
        yield flow({
          table: T.arp,
          priority: 90,
          match: { ...arpMatch, reg0: own.segment, arp_op: REPLY, arp_tpa: own.ip },
          actions: [punt("arp")],
          object,
          why: `Answers to requests we sent from ${ipText(own.ip)} go to the resolver.`,
        });
      }
    }
    for (const hop of nextHops(s)) {
      yield flow({
        table: T.arp,
        priority: 80,
        match: { ...arpMatch, reg0: hop.segment, arp_spa: hop.ip },
        actions: [punt("hint")],
        goto: T.fdb,
        object: { kind: "address", id: hop.ip },
        why: `ARP from next hop ${ipText(hop.ip)} is switched, and the resolver sees that it lives.`,
      });
    }
    yield flow({ table: T.arp, priority: 0, goto: T.fdb, why: "ARP between machines is switched like any frame." });
  },
};
