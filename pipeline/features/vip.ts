import { ct, load, nat } from "../../openflow/build.ts";
import { ownAddresses, vips } from "../addresses.ts";
import { tracked } from "../ct-state.ts";
import { flowBuilder } from "../flow.ts";
import { ipText } from "../format.ts";
import { icmp, ip } from "../match.ts";
import { CT_ZONE, flagVipError } from "../registers.ts";
import { T } from "../tables.ts";
import type { Feature } from "./feature.ts";

const flow = flowBuilder("vip");

/** ICMP errors (RFC 792): destination unreachable, which carries the path MTU, time exceeded, parameter problem. */
const ICMP_ERRORS = [3, 11, 12] as const;

const FLAGGED = { reg6: { value: 1, mask: 1 } } as const;

/**
 * Packets to our addresses that no listener takes: ICMP errors about balanced connections go on to the member, the rest is dropped
 * where it can be counted and never leaves by a route.
 */
export const vip: Feature = {
  name: "vip",
  *flows(s) {
    for (const {
      vip: { ip: address },
      segment,
      loadBalancer,
    } of vips(s)) {
      const object = { kind: "address", id: address } as const;
      const here = { reg0: segment.id, eth_dst: segment.gateway.mac, ip_dst: address };
      yield flow({
        table: T.classify,
        priority: 125,
        match: { ...ip, ...here },
        object,
        why: loadBalancer.adminUp
          ? `${ipText(address)} is ours, but nothing listens there.`
          : `${ipText(address)} belongs to load balancer ${loadBalancer.name}, which is switched off.`,
      });
      if (!loadBalancer.adminUp) continue;
      for (const type of ICMP_ERRORS) {
        const error = {
          actions: [load(1, flagVipError), ct({ zone: CT_ZONE, table: T.translated, actions: [nat()] })],
          object,
          why: `ICMP error about a connection to ${ipText(address)}: to the member it belongs to.`,
        };
        yield flow({ ...error, table: T.classify, priority: 188, match: { ...icmp, ...here, icmp_type: type } });
        yield flow({
          ...error,
          table: T.router,
          priority: 150,
          match: { ...icmp, ip_dst: address, icmp_type: type },
        });
      }
    }
    for (const own of ownAddresses(s)) {
      yield flow({
        table: T.router,
        priority: 130,
        match: { ...ip, ip_dst: own.ip },
        object: { kind: "address", id: own.ip },
        why: `${ipText(own.ip)} is ours: never routed on.`,
      });
    }
    yield flow({
      table: T.translated,
      priority: 110,
      match: { ...ip, ...FLAGGED, ...tracked("related") },
      goto: T.routes,
      why: "An ICMP error about a connection we balance.",
    });
    yield flow({
      table: T.translated,
      priority: 100,
      match: FLAGGED,
      why: "An ICMP error to a VIP that belongs to no connection.",
    });
  },
};
