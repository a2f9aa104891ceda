import { readFileSync } from "node:fs";
import { formatInstructions } from "../../openflow/text/actions.ts";
import { formatPriorityMatch } from "../../openflow/text/print-flow.ts";
import { nextHops } from "../../pipeline/addresses.ts";
import type { FlowSpec } from "../../pipeline/flow.ts";
import type { DesiredState, Health, Neighbour, ResolvedPort } from "../../pipeline/model.ts";
import { formatErrors } from "../../src/config/errors.ts";
import { parseTopology } from "../../src/config/topology.ts";

/** A flow as `ovs-ofctl` reads it from a file and prints it back with `parse-flows`-style words. */
export const flowLine = (f: FlowSpec): string =>
  `cookie=0x${f.cookie.toString(16)}, table=${f.tableId}, ${formatPriorityMatch(f.match, f.priority)} actions=${formatInstructions(f.instructions)}`;

/**
 * A topology file with a network made up around it: ports are numbered from 1 in the order of the file, every next hop is behind
 * the last port of its segment with a MAC made of its address, and every member has the health given.
 */
export const stateOf = (path: string, health: Health): DesiredState => {
  const read = parseTopology(readFileSync(path, "utf8"), path);
  if (!read.ok) throw new Error(formatErrors(read.errors));
  const { topology } = read;
  let ofport = 0;
  const ports = topology.segments.flatMap((segment) =>
    segment.ports.map((p): ResolvedPort => {
      ofport += 1;
      const bound = p.mac === undefined ? {} : { hostMac: p.mac };
      return {
        name: p.name,
        ofport,
        segment: segment.id,
        role: p.role,
        mac: 0x0e00_0000_0000 + ofport,
        up: true,
        ...bound,
      };
    }),
  );
  const base = { ...topology, node: topology.nodes[0]!, ports, neighbours: [], health: new Map() };
  const neighbours = nextHops(base).map(({ segment, ip }): Neighbour => {
    const port = ports.findLast((p) => p.segment === segment)!;
    return { segment, ip, mac: 0x0200_0000_0000 + ip, ofport: port.ofport };
  });
  const members = topology.loadBalancers.flatMap((lb) => lb.pools).flatMap((p) => p.members);
  return { ...base, neighbours, health: new Map(members.map((m) => [m.id, health])) };
};
