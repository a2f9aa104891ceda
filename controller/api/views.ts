/**
 * What the native HTTP API answers: plain JSON, with addresses and names as people write them. The command line and
 * the web page show these same values.
 */

/** The states a node goes through; only in "steady" does the switch hold exactly what is wanted. */
export type NodeState = "disconnected" | "observing" | "converging" | "steady" | "refused";

export interface NodeStatus {
  readonly name: string;
  readonly state: NodeState;
  /** 16 hex digits; null before the first connection. */
  readonly datapathId: string | null;
  /** HOST:PORT of the switch's end; null while disconnected. */
  readonly peer: string | null;
  readonly role: string;
  readonly generation: { readonly desired: number; readonly applied: number };
  /** Flows in the desired program. */
  readonly flows: number;
  /** Flow mods sent since the daemon started. */
  readonly flowModsSent: number;
  /** Changes made because the switch had drifted, not because something new was wanted. */
  readonly driftRepaired: number;
  readonly packetIns: Readonly<Record<string, number>>;
  readonly secondsSinceCheck: number | null;
  readonly lastError: string | null;
}

export interface StatusView {
  readonly version: string;
  readonly uptimeSeconds: number;
  /** HOST:PORT where switches connect. */
  readonly openflow: string;
  readonly topology: string;
  /** Errors of the last refused reload; null when the file in force is the file on disk. */
  readonly reloadError: string | null;
  readonly nodes: readonly NodeStatus[];
}

export interface PortView {
  readonly node: string;
  readonly name: string;
  /** OpenFlow port number; null when the switch has no such port. */
  readonly ofport: number | null;
  /** Name of its segment; null for a port no segment claims. */
  readonly segment: string | null;
  readonly role: string | null;
  readonly state: "up" | "down" | "missing";
  readonly mac: string | null;
}

export interface NeighbourView {
  readonly node: string;
  readonly segment: string;
  readonly ip: string;
  readonly mac: string | null;
  readonly port: string | null;
  /** NUD state, lower case. */
  readonly state: string;
  readonly usedBy: readonly string[];
  readonly secondsSinceConfirmed: number | null;
  /** Packets waiting for the address to be resolved. */
  readonly queued: number;
}

export interface FlowView {
  readonly node: string;
  readonly table: number;
  readonly tableName: string;
  readonly tablePurpose: string;
  readonly priority: number;
  /** As ovs-ofctl prints it. */
  readonly text: string;
  readonly cookie: string;
  readonly packets: string;
  readonly bytes: string;
  readonly feature: string;
  readonly object: string;
  readonly why: string;
}

export interface SlotMemberView {
  readonly name: string;
  readonly id: number;
  readonly address: string;
  readonly eligibility: string;
  readonly weight: number;
  readonly slots: number;
  /** 0…1 */
  readonly share: number;
  readonly packets: string;
  readonly bytes: string;
}

export interface SlotsView {
  readonly loadBalancer: string;
  readonly pool: string;
  readonly poolId: number;
  readonly slots: number;
  /** First 16 hex digits of the layout's SHA-256. */
  readonly digest: string;
  readonly members: readonly SlotMemberView[];
}

export interface PlanView {
  readonly node: string;
  readonly operations: readonly { readonly sign: "+" | "-" | "~"; readonly text: string; readonly reason: string }[];
  /** Why no plan could be made; null when there is one. */
  readonly error: string | null;
}

/** How one node's probes of a member went. */
export interface ProbeView {
  readonly node: string;
  readonly state: string;
  /** Taken over from the switch, and not decided by probes yet. */
  readonly adopted: boolean;
  readonly probes: number;
  readonly failures: number;
  /** Duration of the last probe; null before the first. */
  readonly ms: number | null;
  /** Address the probes come from. */
  readonly source: string;
  /** What the last probe found; null before the first. */
  readonly reason: string | null;
  readonly secondsInState: number;
  /** The newest first. */
  readonly history: readonly {
    readonly ok: boolean;
    readonly reason: string;
    readonly ms: number;
    readonly at: string;
  }[];
}

export interface MemberHealthView {
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  readonly address: string;
  /** What all nodes together say: up, down, unknown, or unmonitored. */
  readonly state: string;
  readonly admin: "enabled" | "draining" | "disabled";
  /** "eligible", or what stands against it. */
  readonly eligibility: string;
  readonly inPool: boolean;
  readonly slots: number;
  readonly nodes: readonly ProbeView[];
}

export interface HealthView {
  readonly loadBalancer: string;
  readonly pool: string;
  readonly poolId: number;
  readonly slots: number;
  readonly digest: string;
  /** Times in seconds; null without a monitor. */
  readonly monitor: {
    readonly type: string;
    readonly interval: number;
    readonly timeout: number;
    readonly rise: number;
    readonly fall: number;
  } | null;
  readonly members: readonly MemberHealthView[];
}
