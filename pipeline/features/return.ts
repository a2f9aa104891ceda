import { ct, nat } from "../../openflow/build.ts";
import { flowBuilder } from "../flow.ts";
import { icmp, tcp, udp } from "../match.ts";
import { CT_ZONE } from "../registers.ts";
import { T } from "../tables.ts";
import type { Feature } from "./feature.ts";

const flow = flowBuilder("return");

/** Tables 15 and 16: replies of members get the VIP back as their source; other traffic passes unchanged. */
export const returnPath: Feature = {
  name: "return",
  *flows() {
    for (const [name, protocol] of Object.entries({ TCP: tcp, UDP: udp, ICMP: icmp })) {
      yield flow({
        table: T.router,
        priority: 100,
        match: protocol,
        actions: [ct({ zone: CT_ZONE, table: T.translated, actions: [nat()] })],
        why: `${name} through the router: translated back if it answers a balanced connection.`,
      });
    }
    yield flow({ table: T.router, priority: 0, goto: T.routes, why: "Other protocols are never translated." });
    yield flow({ table: T.translated, priority: 0, goto: T.routes, why: "Translated if need be: on to routing." });
  },
};
