/**
 * The values of actions: one interface for each kind, discriminated by `kind`, which is the word that ovs-actions(7)
 * and `ovs-ofctl` use. They are written out by hand, since actions that hold actions (`ct`, `clone`) would make an
 * inferred union refer to itself. Ports are the 32-bit numbers of OpenFlow 1.3, tables are 0…255.
 */
import type { ExtensionAction } from "./action-values-nx.ts";
import type { FieldName, FieldValue } from "./fields.ts";
import type { Unknown } from "./schema/tlv.ts";

/** Sends the packet to a port (OF1.3.5 §7.2.5). `maxLen` counts only for the port CONTROLLER; 0xffff is all of it. */
export interface Output {
  readonly kind: "output";
  readonly port: number;
  readonly maxLen: number;
}

/** Sends the packet through a group (OF1.3.5 §7.2.5). */
export interface GroupAction {
  readonly kind: "group";
  readonly groupId: number;
}

/** Sets the queue of later outputs (OF1.3.5 §7.2.5). */
interface SetQueue {
  readonly kind: "set_queue";
  readonly queueId: number;
}

/**
 * Writes a field (OF1.3.5 §7.2.5, OFPAT_SET_FIELD). With `mask` only the bits set there are written; 1.3 has no such
 * action, so a mask travels as NXAST_REG_LOAD2 (ovs-actions(7), "The set_field and load actions").
 */
export interface SetField {
  readonly kind: "set_field";
  readonly field: FieldName;
  readonly value: FieldValue;
  readonly mask?: FieldValue;
}

/** One alternative for each of several words that take the same argument. */
type Each<K extends string, T> = K extends string ? { readonly kind: K } & T : never;

/** Actions without an argument (OF1.3.5 §7.2.5; the last ones are extensions described in ovs-actions(7)). */
export type Plain = Each<
  | "copy_ttl_out"
  | "copy_ttl_in"
  | "dec_mpls_ttl"
  | "pop_vlan"
  | "pop_pbb"
  | "pop_queue"
  | "exit"
  | "ct_clear"
  | "dec_nsh_ttl",
  unknown
>;

/**
 * Takes one from the TTL or hop limit; at 0 the packet goes to the controllers (OF1.3.5 §7.2.5). `ids` names the
 * controllers (ovs-actions(7), `dec_ttl(id…)`); without it, those with id 0.
 */
interface DecTtl {
  readonly kind: "dec_ttl";
  readonly ids?: readonly number[];
}

/** Sets the TTL or hop limit (OF1.3.5 §7.2.5, OFPAT_SET_NW_TTL; ovs-ofctl calls it mod_nw_ttl). */
interface ModNwTtl {
  readonly kind: "mod_nw_ttl";
  readonly ttl: number;
}

/** Sets the TTL of the outermost MPLS label (OF1.3.5 §7.2.5). */
interface SetMplsTtl {
  readonly kind: "set_mpls_ttl";
  readonly ttl: number;
}

/** Pushes a tag with this Ethertype, or takes an MPLS label off and leaves this Ethertype (OF1.3.5 §7.2.5). */
export type Tag = Each<"push_vlan" | "push_mpls" | "pop_mpls" | "push_pbb", { readonly etherType: number }>;

/**
 * The actions of OpenFlow 1.1 that `set_field` has replaced. OVS still takes them over 1.3 and prints them so, though it
 * sends set_field itself, and so does the encoder here. Only mod_tp_* stay, whose field depends on the match.
 */
type LegacyAction =
  | { readonly kind: "set_vlan_vid"; readonly vid: number }
  | { readonly kind: "set_vlan_pcp"; readonly pcp: number }
  | Each<"mod_dl_src" | "mod_dl_dst" | "mod_nw_src" | "mod_nw_dst", { readonly address: number }>
  | { readonly kind: "mod_nw_tos"; readonly tos: number }
  | { readonly kind: "mod_nw_ecn"; readonly ecn: number }
  | Each<"mod_tp_src" | "mod_tp_dst", { readonly port: number }>
  | { readonly kind: "set_mpls_label"; readonly label: number }
  | { readonly kind: "set_mpls_tc"; readonly tc: number };

/** One action: of OpenFlow 1.3.5, of Open vSwitch, or one without a name here that is kept byte for byte. */
export type Action =
  | Output
  | GroupAction
  | SetQueue
  | SetField
  | Plain
  | DecTtl
  | ModNwTtl
  | SetMplsTtl
  | Tag
  | LegacyAction
  | ExtensionAction
  | Unknown;
