/**
 * What the operator wants and what the network was seen to be: the one input of the pipeline compiler.
 *
 * Everything is readonly plain data. Addresses are numbers, as on the wire and in matches: an IPv4 address is an
 * unsigned 32-bit number, a MAC address an unsigned 48-bit number. Objects carry two identities: `id`, a small number
 * that fits a register or a cookie (see ids.ts), and `uuid`, the name the API uses.
 */

/** An IPv4 address as an unsigned 32-bit number: 10.0.0.1 is 0x0a000001. */
export type Ipv4 = number;

/** A MAC address as an unsigned 48-bit number. */
export type Mac = number;

/** An IPv4 network. Bits of `address` behind `length` are zero. */
export interface Prefix {
  readonly address: Ipv4;
  /** 0…32 */
  readonly length: number;
}

/** One bridge. A topology with a single node and no datapath id serves whichever switch connects. */
export interface Node {
  readonly name: string;
  /** 16 lower-case hex digits, as `ovs-vsctl get bridge NAME datapath_id` prints them. */
  readonly datapathId?: string;
}

/** "public" segments bring clients in, "private" ones hold the machines that are switched and balanced to. */
export type SegmentKind = "public" | "private";

/** A router interface of ours: an address and the MAC that answers for it (and for the VIPs of its segment). */
export interface Gateway {
  readonly ip: Ipv4;
  readonly mac: Mac;
}

/**
 * "host": a machine is behind the port. "uplink": another switch or router is, so whatever is behind it must not be
 * learned as a neighbour of the segment.
 */
export type PortRole = "host" | "uplink";

/** A port as the operator names it. Port numbers are the switch's business and come at run time. */
export interface PortRef {
  /** An interface name, or a glob with `*` and `?` such as "tap*". At most 15 bytes, the kernel's limit. */
  readonly name: string;
  readonly role: PortRole;
  /** The MAC of the machine behind the port. When given, frames with another source MAC are dropped. */
  readonly mac?: Mac;
}

/** An L2 broadcast domain with one subnet. */
export interface Segment {
  /** 1…65535; the value of reg0. */
  readonly id: number;
  readonly name: string;
  readonly uuid: string;
  readonly subnet: Prefix;
  readonly gateway: Gateway;
  readonly kind: SegmentKind;
  readonly ports: readonly PortRef[];
  /** The address health probes leave from; it is ours and answers with the gateway's MAC. Absent: the gateway's. */
  readonly probe?: { readonly ip: Ipv4 };
  /** Seconds after which an unused learned MAC or client is forgotten: 1…65535, the idle_timeout of `learn`. */
  readonly ageing: number;
  /** How many MACs, and how many clients, may be learned behind each of its ports. */
  readonly learnLimit: number;
  /** Whether hosts of the subnet that send through us become next hops without being asked for (table 21). */
  readonly clientsLearned: boolean;
}

/** A port of the switch that belongs to a segment, as PORT_DESC or PORT_STATUS told. */
export interface ResolvedPort {
  readonly name: string;
  /** OpenFlow port number. */
  readonly ofport: number;
  /** Id of the segment. */
  readonly segment: number;
  readonly role: PortRole;
  /** The port's own hardware address. */
  readonly mac: Mac;
  /** False while the link or the port's configuration is down. */
  readonly up: boolean;
  /** `mac` of the PortRef: the only source MAC accepted here. */
  readonly hostMac?: Mac;
}

/** A static route: what is for `prefix` goes to the router `via`, a host of `segment`. */
export interface Route {
  readonly prefix: Prefix;
  readonly via: Ipv4;
  readonly segment: number;
}

/** A next hop whose MAC the operator gives; it is never asked for and never expires. */
export interface StaticNeighbour {
  readonly segment: number;
  readonly ip: Ipv4;
  readonly mac: Mac;
  /** Name of the port the host is behind; absent: wherever the segment's FDB says. */
  readonly port?: string;
}

/** A next hop as resolved: where packets for `ip` leave and with which destination MAC. */
export interface Neighbour {
  readonly segment: number;
  readonly ip: Ipv4;
  readonly mac: Mac;
  readonly ofport: number;
}

/** An address clients call, answered for in one segment. */
export interface Vip {
  readonly ip: Ipv4;
  readonly segment: number;
}

export type Protocol = "tcp" | "udp";

/**
 * How a connection finds its slot. "multipath": the switch hashes the 5-tuple (symmetric_l4), even for any traffic at the price
 * of one upcall per connection. "bits": bits of the client's port and address are copied, which needs few megaflows.
 */
export type SlotChoice = "multipath" | "bits";

/**
 * What keeps a connection on its member. "conntrack": the switch's connection table. "stateless": headers only; the
 * connection follows its slot, and pins hold it there while slots move.
 */
export type SessionKeeping = "conntrack" | "stateless";

/** What a client gets while no member is eligible: silence, or TCP RST / ICMP port unreachable. Both are counted. */
export type EmptyPolicy = "drop" | "reject";

/** A port of a load balancer that is open to clients. */
export interface Listener {
  readonly id: number;
  readonly name: string;
  readonly uuid: string;
  readonly protocol: Protocol;
  /** 1…65535 */
  readonly port: number;
  /** The addresses it serves, a subset of the load balancer's; absent: all of them. */
  readonly vips?: readonly Ipv4[];
  /** Id of a pool of the same load balancer; absent: as with an empty pool. */
  readonly poolId?: number;
  /** Networks whose clients are served; absent: all. */
  readonly allowedSources?: readonly Prefix[];
  /** Connections at a time; absent: no limit. */
  readonly connectionLimit?: number;
  /** Milliseconds of silence after which a connection may be forgotten; absent: as the switch has it. */
  readonly idleTimeoutMs?: number;
  readonly slotChoice: SlotChoice;
  readonly sessions: SessionKeeping;
  readonly adminUp: boolean;
  readonly emptyPolicy: EmptyPolicy;
}

/** A server of a pool. */
export interface Member {
  /** 1…; unique over all pools; the value of reg2. */
  readonly id: number;
  readonly name: string;
  readonly uuid: string;
  readonly ip: Ipv4;
  readonly port: number;
  /** 0…256, its share in relation to the other members'. 0: serves what it has, gets nothing new. */
  readonly weight: number;
  readonly adminUp: boolean;
  /** Set by the operator: no new connections, but probes go on. */
  readonly drain: boolean;
  /** Id of the segment it is a host of; absent: it is behind a route. */
  readonly segment?: number;
  /** Serves only while no ordinary member is eligible. */
  readonly backup: boolean;
  /** Where it is probed; absent: where it serves. */
  readonly monitor?: { readonly ip: Ipv4; readonly port: number };
}

/** An inclusive range of HTTP status codes. */
export interface CodeRange {
  readonly first: number;
  readonly last: number;
}

/** What an HTTP probe asks and which answers count as success. */
export interface HttpProbe {
  readonly method: "GET" | "HEAD" | "OPTIONS";
  /** Begins with "/". */
  readonly path: string;
  readonly version: "1.0" | "1.1";
  /** The Host header; absent: the member's address. */
  readonly host?: string;
  readonly expectedCodes: readonly CodeRange[];
}

/** How the members of a pool are probed. */
export interface HealthMonitor {
  readonly type: "tcp" | "http" | "icmp" | "udp";
  /** Milliseconds from one probe to the next. */
  readonly intervalMs: number;
  /** Milliseconds a probe may take; at most `intervalMs`. */
  readonly timeoutMs: number;
  /** Successes in a row that bring a member up. */
  readonly rise: number;
  /** Failures in a row that take it down. */
  readonly fall: number;
  /** Present if and only if `type` is "http". */
  readonly http?: HttpProbe;
}

/** "consistent": even shares by weight that hardly move when members come and go (slots.ts). */
export type PoolAlgorithm = "consistent" | "least-connections";

/** Servers that do the same work. */
export interface Pool {
  /** 1…65535; unique over all load balancers; goes to a register. */
  readonly id: number;
  readonly name: string;
  readonly uuid: string;
  readonly algorithm: PoolAlgorithm;
  /** Size of the slot table, a power of two, 64…4096. */
  readonly slots: number;
  /** "source-ip": all connections of a client go to one member; absent: each connection for itself. */
  readonly affinity?: "source-ip";
  readonly members: readonly Member[];
  /** Absent: members are believed to be up. */
  readonly healthMonitor?: HealthMonitor;
}

/** A set of addresses with the listeners on them and the pools behind those. */
export interface LoadBalancer {
  readonly id: number;
  readonly name: string;
  readonly uuid: string;
  readonly adminUp: boolean;
  readonly vips: readonly Vip[];
  readonly listeners: readonly Listener[];
  readonly pools: readonly Pool[];
}

/** What probes say of a member. "unknown": not enough of them yet. "unmonitored": its pool has no health monitor. */
export type Health = "up" | "down" | "unknown" | "unmonitored";

/** What the operator wrote: true for every node. */
export interface Topology {
  readonly nodes: readonly Node[];
  readonly segments: readonly Segment[];
  readonly routes: readonly Route[];
  readonly staticNeighbours: readonly StaticNeighbour[];
  readonly loadBalancers: readonly LoadBalancer[];
}

/** Everything the flows of one bridge depend on. */
export interface DesiredState extends Topology {
  /** The bridge it is for. */
  readonly node: Node;
  readonly ports: readonly ResolvedPort[];
  readonly neighbours: readonly Neighbour[];
  /** By member id; a member that is missing here has not been probed. */
  readonly health: ReadonlyMap<number, Health>;
  /** By member id: weights that follow open connections, in pools that want this (least-connections.ts). */
  readonly followedWeights?: ReadonlyMap<number, number>;
}
