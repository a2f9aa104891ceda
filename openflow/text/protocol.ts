import type { FlowKey } from "../flow-key.ts";
import { EtherType, etherType, IpProto } from "../prerequisites.ts";

const SHORT: Readonly<Record<number, string>> = {
  [EtherType.arp]: "arp",
  [EtherType.rarp]: "rarp",
  [EtherType.mpls]: "mpls",
  [EtherType.mplsMcast]: "mplsm",
};
const SHORT_V4: Readonly<Record<number, string>> = {
  [IpProto.icmp]: "icmp",
  [IpProto.tcp]: "tcp",
  [IpProto.udp]: "udp",
  [IpProto.sctp]: "sctp",
};
const SHORT_V6: Readonly<Record<number, string>> = {
  [IpProto.icmpv6]: "icmp6",
  [IpProto.tcp]: "tcp6",
  [IpProto.udp]: "udp6",
  [IpProto.sctp]: "sctp6",
};

/** The protocol word, and what it has said already: the type, the IP protocol. */
export function protocol(key: FlowKey): { readonly word: string | undefined; readonly saysProto: boolean } {
  if (!key.places.get("eth_type")) return { word: undefined, saysProto: false };
  const type = etherType(key);
  const proto = key.places.get("nw_proto");
  const table = type === EtherType.ipv4 ? SHORT_V4 : type === EtherType.ipv6 ? SHORT_V6 : undefined;
  if (!table) return { word: SHORT[type], saysProto: false };
  const word = proto && table[Number(proto.value)];
  return word ? { word, saysProto: true } : { word: type === EtherType.ipv4 ? "ip" : "ipv6", saysProto: false };
}
