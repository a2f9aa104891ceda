import { formatIpv4, formatMac } from "../openflow/packet/address.ts";
import { ARP_OP, parseArp } from "../openflow/packet/arp.ts";
import { ETH_TYPE, parseEthernet } from "../openflow/packet/ethernet.ts";
import { icmpErrorFrame } from "../openflow/packet/icmp-error.ts";
import { parseIpv4 } from "../openflow/packet/ipv4.ts";
import type { Segment, Topology } from "../pipeline/model.ts";
import type { NeighbourResolver } from "./neighbour/resolver.ts";
import type { PacketIn } from "./packet-in.ts";
import { refusalOf } from "./refuse.ts";

const ICMP_TIME_EXCEEDED = 11;
const TTL_IN_TRANSIT = 0;

export interface PacketInDeps {
  readonly topology: () => Topology;
  readonly resolver: NeighbourResolver;
  readonly send: (ofport: number, frame: Buffer, what: string) => void;
  /** Somebody uses an address of ours. */
  readonly claim: (inPort: number, what: string) => void;
  /** A member answers a probe. */
  readonly probeAnswer: (segment: number, inPort: number, frame: Buffer) => void;
}

/** What is done with each class of packets that the pipeline sends up. */
export class PacketInHandlers {
  #deps: PacketInDeps;

  constructor(deps: PacketInDeps) {
    this.#deps = deps;
  }

  handle(packet: PacketIn): void {
    switch (packet.punt) {
      case "arp":
      case "hint":
        this.#arp(packet);
        return;
      case "miss":
        this.#miss(packet);
        return;
      case "ttl":
        this.#ttl(packet);
        return;
      case "conflict":
        this.#conflict(packet);
        return;
      case "probe":
        this.#deps.probeAnswer(Number(packet.metadata("reg0")), packet.inPort, packet.frame);
        return;
      case "reject":
        this.#reject(packet);
        return;
      default:
    }
  }

  #segment(id: number): Segment | undefined {
    return this.#deps.topology().segments.find((s) => s.id === id);
  }

  #arp(packet: PacketIn): void {
    const link = parseEthernet(packet.frame);
    const arp = link && link.type === ETH_TYPE.arp ? parseArp(link.payload) : undefined;
    // The sender's hardware address must be the one the frame came from (RFC 5227 §1.1 leaves no other reading).
    if (!link || !arp || arp.sha !== link.src) return;
    const segment = Number(packet.metadata("reg0"));
    const gateway = this.#segment(segment)?.gateway;
    const solicited = arp.op === ARP_OP.reply && gateway !== undefined && link.dst === gateway.mac;
    this.#deps.resolver.heard({ segment, ip: arp.spa, mac: arp.sha, ofport: packet.inPort, solicited });
  }

  /** The frame already has its TTL decremented and the gateway's source MAC; it lacks the destination's. */
  #miss(packet: PacketIn): void {
    const link = parseEthernet(packet.frame);
    const ip = link && link.type === ETH_TYPE.ipv4 ? parseIpv4(link.payload) : undefined;
    if (!ip) return;
    const nextHop = Number(packet.metadata("reg5")) || ip.dst;
    const egress = Number(packet.metadata("reg7")) || Number(packet.metadata("reg0"));
    this.#deps.resolver.wanted({ segment: egress, ip: nextHop, frame: packet.frame });
  }

  #ttl(packet: PacketIn): void {
    const segment = this.#segment(Number(packet.metadata("reg0")));
    if (!segment) return;
    const { gateway, subnet } = segment;
    const broadcast = (subnet.address | (0xffff_ffff >>> subnet.length)) >>> 0;
    const error = icmpErrorFrame(
      packet.frame,
      { type: ICMP_TIME_EXCEEDED, code: TTL_IN_TRANSIT },
      { ip: gateway.ip, mac: gateway.mac, broadcasts: [broadcast] },
    );
    if (error.ok) this.#deps.send(packet.inPort, error.bytes, "ICMP time exceeded");
  }

  #reject(packet: PacketIn): void {
    const refusal = refusalOf(packet.frame);
    if (refusal) this.#deps.send(packet.inPort, refusal, "refusal");
  }

  #conflict(packet: PacketIn): void {
    const link = parseEthernet(packet.frame);
    if (!link) return;
    const claimed = link.type === ETH_TYPE.arp ? parseArp(link.payload)?.spa : parseIpv4(link.payload)?.src;
    const address = claimed === undefined ? "a MAC address" : formatIpv4(claimed);
    this.#deps.claim(packet.inPort, `${formatMac(link.src)} claims ${address}, which is ours`);
  }
}
