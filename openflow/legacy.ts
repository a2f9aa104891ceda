/**
 * The set_field that replaces an action of OpenFlow 1.1. Open vSwitch reads the old ones over 1.3 but never writes
 * them, and this codec does the same.
 */
import type { Action, SetField } from "./action-values.ts";
import type { FieldName, FieldValue } from "./fields.ts";

const VLAN_PRESENT = 0x1000;

const set = (field: FieldName, value: FieldValue): SetField => ({ kind: "set_field", field, value });

/** IP protocols whose ports have fields of their own. */
const transports: Partial<Record<number, readonly [src: FieldName, dst: FieldName]>> = {
  6: ["tcp_src", "tcp_dst"],
  17: ["udp_src", "udp_dst"],
  132: ["sctp_src", "sctp_dst"],
};

/**
 * @param ipProto protocol that the flow matches; without one that has ports, port actions have no replacement
 * @returns the action itself when it needs none
 */
export function modern(a: Action, ipProto?: number): Action {
  switch (a.kind) {
    case "set_vlan_vid":
      return set("vlan_vid", a.vid | VLAN_PRESENT);
    case "set_vlan_pcp":
      return set("vlan_pcp", a.pcp);
    case "mod_dl_src":
      return set("eth_src", a.address);
    case "mod_dl_dst":
      return set("eth_dst", a.address);
    case "mod_nw_src":
      return set("ip_src", a.address);
    case "mod_nw_dst":
      return set("ip_dst", a.address);
    case "mod_nw_tos":
      return set("ip_dscp", a.tos >> 2);
    case "mod_nw_ecn":
      return set("nw_ecn", a.ecn);
    case "set_mpls_label":
      return set("mpls_label", a.label);
    case "set_mpls_tc":
      return set("mpls_tc", a.tc);
    case "set_tunnel":
    case "set_tunnel64":
      return set("tun_id", BigInt(a.id));
    case "mod_tp_src":
    case "mod_tp_dst": {
      const fields = ipProto === undefined ? undefined : transports[ipProto];
      return fields ? set(fields[a.kind === "mod_tp_src" ? 0 : 1], a.port) : a;
    }
    default:
      return a;
  }
}
