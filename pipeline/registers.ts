/**
 * Every register bit the pipeline uses and what its values mean. Operators read these in `ofproto/trace` and in
 * packet-ins, so a register keeps its meaning from table 0 to the end. All registers are 0 when a packet comes in.
 */
import type { Subfield } from "../openflow/subfield.ts";

/** Bits of a register with a meaning. */
export interface RegisterField extends Subfield {
  readonly name: string;
  readonly meaning: string;
}

const whole = (field: Subfield["field"], name: string, meaning: string): RegisterField => ({
  field,
  ofs: 0,
  nBits: 32,
  name,
  meaning,
});

/** Id of the segment the packet came in from: 1…65535. Set in table 0, matched nearly everywhere. */
export const regSegment = whole("reg0", "segment", "id of the ingress segment");

/** Slot number, 0…slots-1, chosen in table 10 and looked up in table 11. */
export const regSlot = whole("reg1", "slot", "slot number the connection fell into");

/** Id of the pool member the slot belongs to; 0 before table 11. */
export const regMember = whole("reg2", "member", "id of the chosen pool member");

/** Id of the pool whose slots are looked up; 0 outside load balancing. */
export const regPool = whole("reg3", "pool", "id of the pool");

/** Id of the listener that took the connection; 0 outside load balancing. */
export const regListener = whole("reg4", "listener", "id of the listener");

/** IPv4 address of the router a static route names; 0 while the next hop is the destination itself. */
export const regNextHop = whole("reg5", "next hop", "address of a static route's router, 0: the destination itself");

/** Bit 0 of reg6: an ICMP error that was sent to a VIP, so that it may only go on if it belongs to a connection. */
export const flagVipError: RegisterField = {
  field: "reg6",
  ofs: 0,
  nBits: 1,
  name: "vip error",
  meaning: "1: ICMP error addressed to a VIP",
};

/** Id of the segment the packet leaves into, as routing (or the member in the client's segment) decided; else 0. */
export const regEgress = whole("reg7", "egress", "id of the egress segment");

/** All of them in order, for people. */
export const registers: readonly RegisterField[] = [
  regSegment,
  regSlot,
  regMember,
  regPool,
  regListener,
  regNextHop,
  flagVipError,
  regEgress,
];

/** The conntrack zone of all translated connections. */
export const CT_ZONE = 1;
