/**
 * Every register bit the pipeline uses and what its values mean. Operators read these in `ofproto/trace` and in
 * packet-ins, so a register keeps its meaning from table 0 to the end. All registers are 0 when a packet comes in.
 */
import type { Subfield } from "../openflow/subfield.ts";

const whole = (field: Subfield["field"]): Subfield => ({ field, ofs: 0, nBits: 32 });

/**
 * Id of the segment the packet came in from: 1…65535. Set in table 0, matched nearly everywhere. Table 21 replaces it by the
 * egress segment when the FDB must find the port.
 */
export const regSegment = whole("reg0");

/** Slot number, 0…slots-1, chosen in table 10 and looked up in table 11. */
export const regSlot = whole("reg1");

/** Id of the pool member the slot belongs to; 0 before table 11. */
export const regMember = whole("reg2");

/** Id of the pool whose slots are looked up; 0 outside load balancing. */
export const regPool = whole("reg3");

/** Id of the listener that took the connection; 0 outside load balancing. */
export const regListener = whole("reg4");

/** IPv4 address of the router a static route names; 0 while the next hop is the destination itself. */
export const regNextHop = whole("reg5");

/** 1: an ICMP error that was sent to a VIP, so that it may only go on if it belongs to a connection. */
export const flagVipError: Subfield = { field: "reg6", ofs: 0, nBits: 1 };

/** 1: the packet belongs to a connection that its listener counts, or may go on without (connections.ts). */
export const flagCounted: Subfield = { field: "reg6", ofs: 1, nBits: 1 };

/** 1: the source MAC of the frame is learned; 0: its port has as many as it may have (guard.ts). */
export const flagMacLearned: Subfield = { field: "reg6", ofs: 2, nBits: 1 };

/** 1: the source address of the packet is learned as a next hop. */
export const flagClientLearned: Subfield = { field: "reg6", ofs: 3, nBits: 1 };

/** 1: the source of the frame is an address of ours. */
export const flagClaim: Subfield = { field: "reg6", ofs: 4, nBits: 1 };

/** Id of the segment the packet leaves into, as routing (or the member in the client's segment) decided; else 0. */
export const regEgress = whole("reg7");

/** The VIP that a member called and was chosen for itself (hairpin.ts); else 0. */
export const regCalled = whole("reg8");

/** The conntrack zone of all translated connections. */
export const CT_ZONE = 1;

/** The zone in which members that call themselves get another source address (hairpin.ts). */
export const HAIRPIN_ZONE = 2;
