/**
 * The tables in order. Their numbers are fixed, with gaps: operators know them by heart, dashboards and golden files
 * name them. `goto_table` goes forward only (OF1.3.5 §5.1), so what a packet passes later has a higher number.
 */

/** What a group of tables is for. */
type Stage = "ingress" | "classification" | "responders" | "load balancing" | "return" | "routing" | "switching";

/** One table and what its flows may do. */
export interface TableDef {
  readonly id: number;
  readonly name: string;
  readonly stage: Stage;
  /** Tables its flows may continue in: by goto_table and behind ct(). */
  readonly next: readonly number[];
  /** Tables its flows may resubmit to; this may go backward. */
  readonly resubmit: readonly number[];
  /** One sentence for people. */
  readonly purpose: string;
}

const table = (
  id: number,
  name: string,
  stage: Stage,
  next: readonly number[],
  purpose: string,
  resubmit: readonly number[] = [],
): TableDef => ({ id, name, stage, next, resubmit, purpose });

/** Table numbers by name. */
export const T = {
  ingress: 0,
  classify: 1,
  guard: 2,
  arp: 5,
  echo: 6,
  fragments: 7,
  datagrams: 8,
  reassembled: 9,
  listeners: 10,
  slots: 11,
  members: 12,
  connections: 13,
  open: 14,
  router: 15,
  translated: 16,
  hairpin: 17,
  hairpinBack: 18,
  hairpinOut: 19,
  routes: 20,
  adjacency: 21,
  replies: 24,
  fdb: 25,
} as const;

/** All tables, by number. */
export const tables: readonly TableDef[] = [
  table(
    T.ingress,
    "ingress",
    "ingress",
    [T.classify],
    "Ingress port to segment (reg0); learns MACs and clients; drops what only we may send.",
    [T.guard],
  ),
  table(
    T.classify,
    "classify",
    "classification",
    [T.arp, T.echo, T.fragments, T.listeners, T.router, T.translated, T.hairpinBack, T.replies],
    "Sorts by destination MAC and address: ARP, ping, listener, traffic for the router, traffic between machines.",
  ),
  table(T.guard, "guard", "ingress", [], "Counts, by port, sources that were not learned and claims of our addresses."),
  table(T.arp, "arp", "responders", [T.fdb], "Answers ARP requests for our addresses; other ARP is switched."),
  table(T.echo, "echo", "responders", [], "Answers pings of our addresses."),
  table(
    T.fragments,
    "fragments",
    "load balancing",
    [T.datagrams],
    "Fragments to a VIP: held by the connection table until the datagram is complete.",
  ),
  table(
    T.datagrams,
    "datagrams",
    "load balancing",
    [T.reassembled],
    "Whether a listener takes the datagram that came in fragments.",
  ),
  table(
    T.reassembled,
    "reassembled",
    "load balancing",
    [T.listeners, T.slots, T.hairpin, T.routes, T.adjacency],
    "A datagram that came in fragments: to the member of its connection, or to a slot.",
  ),
  table(
    T.listeners,
    "listeners",
    "load balancing",
    [T.slots],
    "VIP and port to listener (reg4), pool (reg3) and slot number (reg1).",
    [T.connections],
  ),
  table(T.slots, "slots", "load balancing", [T.members], "Slot to member (reg2); a pool without members drops."),
  table(
    T.members,
    "members",
    "load balancing",
    [T.routes, T.adjacency, T.hairpin],
    "Translates the destination to the member; a member in the client's segment skips routing.",
    [T.open],
  ),
  table(
    T.connections,
    "connections",
    "load balancing",
    [],
    "Connections of listeners that limit their number or their silence, one learned flow each (reg6[1]).",
  ),
  table(
    T.open,
    "open",
    "load balancing",
    [],
    "Open connections of members in pools that prefer those with few, one learned flow each.",
  ),
  table(
    T.router,
    "router",
    "return",
    [T.translated, T.routes],
    "Traffic for the router: our addresses of other segments, TTL, replies of members that need translating back.",
    [T.echo, T.fragments, T.listeners],
  ),
  table(T.translated, "translated", "return", [T.routes], "Behind the translation of what the router forwards."),
  table(
    T.hairpin,
    "hairpin",
    "load balancing",
    [T.hairpinOut],
    "A member that was chosen for its own call sees the VIP.",
  ),
  table(
    T.hairpinBack,
    "hairpin back",
    "return",
    [T.hairpinOut],
    "A member's answer to its own call, or a call from the port it serves on.",
    [T.fragments, T.listeners],
  ),
  table(T.hairpinOut, "hairpin out", "switching", [], "Back to the member that called itself."),
  table(T.routes, "routes", "routing", [T.adjacency], "Longest prefix: egress segment (reg7), next hop (reg5), TTL."),
  table(
    T.adjacency,
    "adjacency",
    "routing",
    [T.fdb],
    "Next hop to MAC and port, the only place that knows them; a miss asks the resolver.",
  ),
  table(
    T.replies,
    "replies",
    "switching",
    [T.fdb],
    "Replies of members to clients in their own segment are translated back.",
  ),
  table(T.fdb, "fdb", "switching", [], "Switches by learned MAC; floods broadcast and unknown within the segment."),
];

const byId = new Map(tables.map((t) => [t.id, t]));

/** The table with this number, if it is one of the pipeline's. */
export const tableById = (id: number): TableDef | undefined => byId.get(id);
