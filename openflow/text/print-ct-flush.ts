import { type CtFlush, type CtTuple, isMapped, readCtFlush } from "../ct-flush.ts";
import type { MessageOfType } from "../messages/all.ts";
import { formatIpv4, formatIpv6 } from "./address.ts";

const ICMP = 1;
const ICMP6 = 58;

const addressText = (a: Buffer): string =>
  isMapped(a) ? formatIpv4(a.readUInt32BE(12)) : formatIpv6((a.readBigUInt64BE(0) << 64n) | a.readBigUInt64BE(8));

function tupleText(t: CtTuple, family: CtFlush["family"], proto: number): string {
  const prefix = family === "ipv4" ? "ct_nw" : "ct_ipv6";
  const ends = `${prefix}_src=${addressText(t.src)},${prefix}_dst=${addressText(t.dst)}`;
  return proto === ICMP || proto === ICMP6
    ? `${ends},icmp_id=${t.srcPort},icmp_type=${t.dstPort & 0xff},icmp_code=${t.dstPort >> 8}`
    : `${ends},ct_tp_src=${t.srcPort},ct_tp_dst=${t.dstPort}`;
}

export function ctFlushText(m: MessageOfType<"nxt_ct_flush">): string {
  const f = readCtFlush(m);
  if (!f) return "";
  const orig = tupleText(f.orig, f.family, m.ipProto);
  return ` zone=${f.zone} '${orig},ct_nw_proto=${m.ipProto}' '${tupleText(f.reply, f.family, m.ipProto)}'`;
}
