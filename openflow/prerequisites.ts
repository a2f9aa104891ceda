import type { FieldDef, FieldName } from "./fields.ts";
import { type FlowKey, maskAt, VLAN_CFI, valueAt } from "./flow-key.ts";

export const EtherType = {
  ipv4: 0x0800,
  arp: 0x0806,
  rarp: 0x8035,
  ipv6: 0x86dd,
  mpls: 0x8847,
  mplsMcast: 0x8848,
  nsh: 0x894f,
} as const;
export const IpProto = { icmp: 1, tcp: 6, udp: 17, icmpv6: 58, sctp: 132 } as const;

/** The EtherType a match names, by itself or by a packet type of the EtherType namespace. */
export function etherType(key: FlowKey): number {
  const type = valueAt(key, "packet_type");
  return type >>> 16 === 1 ? type & 0xffff : valueAt(key, "eth_type");
}

export function isIp(key: FlowKey): boolean {
  const type = etherType(key);
  return type === EtherType.ipv4 || type === EtherType.ipv6;
}

export function isArp(key: FlowKey): boolean {
  const type = etherType(key);
  return type === EtherType.arp || type === EtherType.rarp;
}

const isL4 = (key: FlowKey, proto: number): boolean =>
  isIp(key) && valueAt(key, "nw_proto") === proto && (valueAt(key, "ip_frag") & FRAG_LATER) === 0;

const FRAG_LATER = 2;
const ND_SOLICIT = 135;
const ND_ADVERT = 136;

function isNd(key: FlowKey): boolean {
  const type = valueAt(key, "tcp_src");
  return (
    etherType(key) === EtherType.ipv6 &&
    valueAt(key, "nw_proto") === IpProto.icmpv6 &&
    valueAt(key, "tcp_dst") === 0 &&
    (type === ND_SOLICIT || type === ND_ADVERT)
  );
}

/** new, est, rel, rpl, snat, dnat: each implies that the packet belongs to a connection. */
const CT_CONNECTION = 0x01 | 0x02 | 0x04 | 0x08 | 0x40 | 0x80;
const CT_INVALID = 0x10;
const CT_TRACKED = 0x20;

/** Whether what is known so far allows the field to be named (ovs-fields(7), "Prerequisites"). */
export function prerequisiteMet(key: FlowKey, field: FieldDef<FieldName>): boolean {
  switch (field.prerequisite) {
    case "none":
      return true;
    case "ethernet":
      return valueAt(key, "packet_type") === 0;
    case "vlan_vid":
      return (valueAt(key, "vlan_tci") & VLAN_CFI) !== 0;
    case "mpls": {
      const type = etherType(key);
      return type === EtherType.mpls || type === EtherType.mplsMcast;
    }
    case "ipv4":
      return etherType(key) === EtherType.ipv4;
    case "ipv6":
      return etherType(key) === EtherType.ipv6;
    case "ip":
      return isIp(key);
    case "arp":
      return isArp(key);
    case "nsh":
      return etherType(key) === EtherType.nsh;
    case "ct": {
      const state = valueAt(key, "ct_state");
      const explicitlyValid =
        (state & CT_TRACKED) !== 0 && (maskAt(key, "ct_state") & CT_INVALID) !== 0 && (state & CT_INVALID) === 0;
      return (state & CT_CONNECTION) !== 0 || explicitlyValid;
    }
    case "tcp":
      return isL4(key, IpProto.tcp);
    case "udp":
      return isL4(key, IpProto.udp);
    case "sctp":
      return isL4(key, IpProto.sctp);
    case "icmpv4":
      return etherType(key) === EtherType.ipv4 && isL4(key, IpProto.icmp);
    case "icmpv6":
      return etherType(key) === EtherType.ipv6 && isL4(key, IpProto.icmpv6);
    case "nd":
      return isNd(key);
    case "nd_solicit":
      return isNd(key) && valueAt(key, "tcp_src") === ND_SOLICIT;
    case "nd_advert":
      return isNd(key) && valueAt(key, "tcp_src") === ND_ADVERT;
  }
}
