/** The values of Open vSwitch's own actions, all described in ovs-actions(7). */
import type { Action } from "./action-values.ts";
import type { FieldName } from "./fields.ts";
import type { Subfield } from "./subfield.ts";

/** Looks the packet up again in `table` (255: the current one), as if it had come from `inPort` (OFPP_IN_PORT: as it did). */
export interface Resubmit {
  readonly kind: "resubmit";
  readonly inPort: number;
  readonly table: number;
  /** With the original direction's 5-tuple of the tracked connection in the packet's place. */
  readonly ct?: true;
  /** Came in the form that has no room for a table (NXAST_RESUBMIT). */
  readonly portOnly?: true;
}

/** Sets the tunnel id, in 32 or 64 bits. OVS itself sends set_field for it over 1.3. */
type SetTunnel =
  | { readonly kind: "set_tunnel"; readonly id: number }
  | { readonly kind: "set_tunnel64"; readonly id: bigint };

/** Writes constant bits into a field (NXAST_REG_LOAD). */
export interface Load {
  readonly kind: "load";
  readonly dst: Subfield;
  readonly value: bigint;
}

/** Copies bits from field to field (NXAST_REG_MOVE). The widths are equal. */
export interface Move {
  readonly kind: "move";
  readonly src: Subfield;
  readonly dst: Subfield;
  /** Came as ONF's copy-field extension instead. */
  readonly onf?: true;
}

/** Puts bits of a field on the stack of the packet's journey. */
export interface Push {
  readonly kind: "push";
  readonly src: Subfield;
}

/** Takes bits from that stack. */
export interface Pop {
  readonly kind: "pop";
  readonly dst: Subfield;
}

/** Output to the port whose number a field holds. */
interface OutputReg {
  readonly kind: "output_reg";
  readonly src: Subfield;
  readonly maxLen: number;
  /** Came in the form that has room for experimenter fields (NXAST_OUTPUT_REG2). */
  readonly wide?: true;
}

/** Output of the first `maxLen` bytes. */
interface OutputTrunc {
  readonly kind: "output_trunc";
  readonly port: number;
  readonly maxLen: number;
}

/**
 * Packet to controllers (NXAST_CONTROLLER, and NXAST_CONTROLLER2 when there is `userdata`, `pause` or `meterId`).
 * `controllerId` 0 is every controller that has not set another id; `reason` is an OFPR_* number, 1 being "action".
 */
export interface Controller {
  readonly kind: "controller";
  readonly maxLen: number;
  readonly controllerId: number;
  readonly reason: number;
  /** Bytes that come back in the packet-in (NXT_PACKET_IN2). */
  readonly userdata?: Buffer;
  /** The pipeline stops here until NXT_RESUME. */
  readonly pause?: true;
  readonly meterId?: number;
  /** Came as NXAST_CONTROLLER2 without needing it. */
  readonly properties?: true;
}

/** What a hash is taken over (`enum nx_hash_fields`). */
export type HashFields =
  | "eth_src"
  | "symmetric_l4"
  | "symmetric_l3l4"
  | "symmetric_l3l4+udp"
  | "nw_src"
  | "nw_dst"
  | "symmetric_l3";

/** Hashes the packet to a link number 0 … `links` - 1 and writes it to `dst`. */
export interface Multipath {
  readonly kind: "multipath";
  readonly fields: HashFields;
  readonly basis: number;
  readonly algorithm: "modulo_n" | "hash_threshold" | "hrw" | "iter_hash";
  readonly links: number;
  readonly arg: number;
  readonly dst: Subfield;
}

/** Chooses a live port among `members` and outputs there, or with `dst` writes its number there (bundle_load). */
export interface Bundle {
  readonly kind: "bundle";
  readonly fields: HashFields;
  readonly basis: number;
  readonly algorithm: "hrw" | "active_backup";
  readonly members: readonly number[];
  readonly dst?: Subfield;
}

/** What a learned flow is made of; a bigint as `src` is a constant. */
export type LearnSpec =
  | { readonly kind: "match"; readonly dst: Subfield; readonly src: Subfield | bigint }
  | { readonly kind: "load"; readonly dst: Subfield; readonly src: Subfield | bigint }
  | { readonly kind: "output"; readonly src: Subfield };

/** Adds or refreshes a flow (NXAST_LEARN, and NXAST_LEARN2 when `limit` or `resultDst` is there). Times in seconds. */
export interface Learn {
  readonly kind: "learn";
  readonly table: number;
  readonly priority: number;
  readonly cookie: bigint;
  readonly idleTimeout: number;
  readonly hardTimeout: number;
  readonly finIdleTimeout: number;
  readonly finHardTimeout: number;
  readonly sendFlowRem: boolean;
  /** The learned flows go when this flow goes. */
  readonly deleteLearned: boolean;
  readonly specs: readonly LearnSpec[];
  /** Learned flows with this cookie and table at most; 0 is no limit. */
  readonly limit?: number;
  /** One bit that becomes 1 when the flow could be learned within the limit, and else 0. */
  readonly resultDst?: Subfield;
}

/** Shortens the flow's timeouts once TCP FIN or RST is seen. Seconds. */
interface FinTimeout {
  readonly kind: "fin_timeout";
  readonly idleTimeout: number;
  readonly hardTimeout: number;
}

/** A comment in the flow: any bytes. On the wire there are 6, 14, 22 … of them. */
export interface Note {
  readonly kind: "note";
  readonly data: Buffer;
}

/** The instruction's Nicira twin, for where only actions go. OVS refuses it in OpenFlow 1.3 action lists. */
interface WriteMetadataAction {
  readonly kind: "write_metadata";
  readonly metadata: bigint;
  readonly mask: bigint;
}

/** Clause `clause` (from 1) of `nClauses` of conjunctive match `id`. */
interface Conjunction {
  readonly kind: "conjunction";
  readonly id: number;
  readonly clause: number;
  readonly nClauses: number;
}

/** IPFIX sampling of `probability` in 65,536 packets. */
export interface Sample {
  readonly kind: "sample";
  readonly probability: number;
  readonly collectorSetId: number;
  readonly obsDomainId: number;
  readonly obsPointId: number;
  readonly samplingPort?: number;
  /** Which side of the port is sampled; "default" came in the form that could have said (NXAST_SAMPLE3). */
  readonly direction?: "default" | "ingress" | "egress";
}

/** Runs `actions` on a copy of the packet. */
export interface Clone {
  readonly kind: "clone";
  readonly actions: readonly Action[];
}

/**
 * Sends the packet through the connection tracker. With `table` it goes on there as a copy with ct_* set.
 * `actions` are `nat` and, inside `exec(…)`, writes to ct_mark and ct_label.
 */
export interface Ct {
  readonly kind: "ct";
  readonly commit: boolean;
  readonly force: boolean;
  /** A number, or a 16-bit field that holds it. */
  readonly zone: number | Subfield;
  readonly table?: number;
  /** Well-known port of the application helper: 21 is ftp, 69 is tftp. */
  readonly alg?: number;
  readonly actions: readonly Action[];
}

/** An IPv4 address as a number, an IPv6 address as a bigint. */
export type NatAddress = number | bigint;

/**
 * Address translation inside `ct`. Without `type`, translates as the connection's first packet was. `addressMax` and
 * `portMax` end ranges.
 */
export interface Nat {
  readonly kind: "nat";
  readonly type?: "src" | "dst";
  readonly address?: NatAddress;
  readonly addressMax?: NatAddress;
  readonly port?: number;
  readonly portMax?: number;
  /** The same mapping after a restart. */
  readonly persistent?: true;
  /** How the port, or the address in a range, is chosen. */
  readonly choice?: "hash" | "random";
}

/** Writes to the one bit `dst` whether the frame, without FCS, is longer than `bytes`. */
export interface CheckPktLarger {
  readonly kind: "check_pkt_larger";
  readonly bytes: number;
  readonly dst: Subfield;
}

/** Removes a tunnel metadata option. */
interface DeleteField {
  readonly kind: "delete_field";
  readonly field: FieldName;
}

/** A property of `encap`; kept as bytes. */
export interface EncapProperty {
  readonly propClass: number;
  readonly type: number;
  readonly data: Buffer;
}

/** Puts a header in front of the packet. `packetType` is namespace << 16 | type (OF1.5 packet type). */
export interface Encap {
  readonly kind: "encap";
  readonly packetType: number;
  readonly headerSize: number;
  readonly properties: readonly EncapProperty[];
}

/** Takes the outermost header off. `packetType` 0xfffe lets the switch derive what is left. */
interface Decap {
  readonly kind: "decap";
  readonly packetType: number;
}

/** Actions that Open vSwitch adds to OpenFlow 1.3. */
export type ExtensionAction =
  | Resubmit
  | SetTunnel
  | Load
  | Move
  | Push
  | Pop
  | OutputReg
  | OutputTrunc
  | Controller
  | Multipath
  | Bundle
  | Learn
  | FinTimeout
  | Note
  | WriteMetadataAction
  | Conjunction
  | Sample
  | Clone
  | Ct
  | Nat
  | CheckPktLarger
  | DeleteField
  | Encap
  | Decap;
