import type { ConnectionView } from "../controller/api/trace-views.ts";
import type { TrackedConnection } from "../controller/conntrack-table.ts";

const place = (address: string, port: number | null): string => (port === null ? address : `${address}:${port}`);

/** A connection as the load balancer means it. `members` has their names by "IP:PORT". */
export function connectionView(c: TrackedConnection, members: ReadonlyMap<string, readonly string[]>): ConnectionView {
  const server = place(c.reply.src, c.reply.sport);
  const destination = place(c.original.dst, c.original.dport);
  const client = place(c.original.src, c.original.sport);
  const toDestination = server !== destination;
  const fromSource = place(c.reply.dst, c.reply.dport) !== client;
  return {
    proto: c.proto,
    client,
    destination,
    server,
    members: members.get(server) ?? [],
    nat: toDestination && fromSource ? "both" : toDestination ? "dnat" : fromSource ? "snat" : "none",
    state: c.state,
    zone: c.zone,
    mark: c.mark,
    secondsLeft: c.timeout,
  };
}
