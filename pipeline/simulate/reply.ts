/** The answer to a packet: what the machine that got it would send back. */
import type { PacketFields } from "./packet.ts";
import type { Output } from "./trace.ts";

const ECHO_REQUEST = 8;
const ECHO_REPLY = 0;
/** Ends that change places in an answer. */
const SWAPPED = [
  ["eth_src", "eth_dst"],
  ["ip_src", "ip_dst"],
  ["tcp_src", "tcp_dst"],
  ["udp_src", "udp_dst"],
] as const;

/** Header fields a machine puts into its answer; marks and registers do not leave the switch. */
const CARRIED = ["eth_type", "vlan_tci", "nw_proto"] as const;

/** The answer of whoever got `output`, with the TTL that hosts start with. */
export const answerTo = ({ fields, port }: Output): PacketFields => {
  const packet: Record<string, number | bigint> = { in_port: port, nw_ttl: 64 };
  for (const name of CARRIED) if (fields[name] !== undefined) packet[name] = fields[name];
  for (const [a, b] of SWAPPED) {
    if (fields[b] !== undefined) packet[a] = fields[b];
    if (fields[a] !== undefined) packet[b] = fields[a];
  }
  if (fields.icmp_type === ECHO_REQUEST) Object.assign(packet, { icmp_type: ECHO_REPLY, icmp_code: 0 });
  return packet;
};
