import type { MessageOfType } from "./messages/all.ts";
import type { CtTupleProperty } from "./messages/extension.ts";

const ZERO = Buffer.alloc(16);
const MAPPED = Buffer.from("00000000000000000000ffff", "hex");

type Family = "none" | "ipv4" | "ipv6";

/** Where a tuple's members are kept: ICMP's id, type and code share the place of the ports. */
export interface CtTuple {
  readonly src: Buffer;
  readonly dst: Buffer;
  readonly srcPort: number;
  readonly dstPort: number;
}

export interface CtFlush {
  readonly zone: number;
  readonly family: Family;
  readonly orig: CtTuple;
  readonly reply: CtTuple;
}

export const isMapped = (address: Buffer): boolean => address.subarray(0, 12).equals(MAPPED);

/** The family of an address; the unspecified one has none. */
function familyOf(address: Buffer): Family {
  if (address.equals(ZERO)) return "none";
  return isMapped(address) ? "ipv4" : "ipv6";
}

/** Puts the properties together; undefined when they mix IPv4 and IPv6. */
export function readCtFlush(m: MessageOfType<"nxt_ct_flush">): CtFlush | undefined {
  let family: Family = "none";
  let mixed = false;
  let zone = 0;
  const empty: CtTuple = { src: ZERO, dst: ZERO, srcPort: 0, dstPort: 0 };
  const tuples = { orig: empty, reply: empty };

  const address = (bytes: Buffer): Buffer => {
    const next = familyOf(bytes);
    if (family !== "none" && next !== "none" && family !== next) mixed = true;
    family = next;
    return bytes;
  };
  const member = (t: CtTuple, p: CtTupleProperty): CtTuple => {
    switch (p.kind) {
      case "src":
        return { ...t, src: address(p.address) };
      case "dst":
        return { ...t, dst: address(p.address) };
      case "src_port":
        return { ...t, srcPort: p.port };
      case "dst_port":
        return { ...t, dstPort: p.port };
      case "icmp_id":
        return { ...t, srcPort: p.id };
      case "icmp_type":
        return { ...t, dstPort: (t.dstPort & 0xff00) | p.icmpType };
      case "icmp_code":
        return { ...t, dstPort: (t.dstPort & 0xff) | (p.icmpCode << 8) };
      default:
        return t;
    }
  };
  for (const p of m.properties) {
    if (p.kind === "zone") zone = p.zoneId;
    else if (p.kind === "orig" || p.kind === "reply") tuples[p.kind] = p.tuple.reduce(member, tuples[p.kind]);
  }
  return mixed ? undefined : { zone, family, ...tuples };
}
