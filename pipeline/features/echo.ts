import { load, output, pop, push, resubmit } from "../../openflow/build.ts";
import { ownAddresses } from "../addresses.ts";
import { flowBuilder } from "../flow.ts";
import { ipText } from "../format.ts";
import { icmp } from "../match.ts";
import { IN_PORT } from "../ports.ts";
import { T } from "../tables.ts";
import type { Feature } from "./feature.ts";

const flow = flowBuilder("echo");
const ECHO_REQUEST = { ...icmp, icmp_type: 8 } as const;

/** Pings of our addresses, from their own segment (table 1) and from others (table 15), answered in table 6. */
export const echo: Feature = {
  name: "echo",
  *flows(s) {
    for (const own of ownAddresses(s).filter((a) => a.answered)) {
      const object = { kind: "address", id: own.ip } as const;
      yield flow({
        table: T.classify,
        priority: 190,
        match: { ...ECHO_REQUEST, reg0: own.segment, eth_dst: own.mac, ip_dst: own.ip },
        goto: T.echo,
        object,
        why: `Ping of our address ${ipText(own.ip)}.`,
      });
      yield flow({
        table: T.router,
        priority: 160,
        match: { ...ECHO_REQUEST, ip_dst: own.ip },
        actions: [resubmit({ table: T.echo })],
        object,
        why: `Ping of our address ${ipText(own.ip)} from another segment.`,
      });
    }
    // OVS recomputes the ICMP checksum when the type is written.
    yield flow({
      table: T.echo,
      priority: 100,
      match: ECHO_REQUEST,
      actions: [
        push("eth_src"),
        push("eth_dst"),
        pop("eth_src"),
        pop("eth_dst"),
        push("ip_src"),
        push("ip_dst"),
        pop("ip_src"),
        pop("ip_dst"),
        load(0, "icmp_type"),
        load(64, "nw_ttl"),
        output(IN_PORT),
      ],
      why: "Turns an echo request into its reply and sends it back.",
    });
    yield flow({ table: T.echo, priority: 0, why: "Nothing but pings comes here." });
  },
};
