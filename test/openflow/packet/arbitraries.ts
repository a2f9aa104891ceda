import { Buffer } from "node:buffer";
import fc from "fast-check";
import type { ArpRepr } from "../../../openflow/packet/arp.ts";
import { IP_PROTO } from "../../../openflow/packet/checksum.ts";
import type { EthernetRepr } from "../../../openflow/packet/ethernet.ts";
import { ETH_TYPE, ethernetFrame } from "../../../openflow/packet/ethernet.ts";
import type { IcmpRepr } from "../../../openflow/packet/icmp.ts";
import { icmpMessage } from "../../../openflow/packet/icmp.ts";
import type { Ipv4Repr } from "../../../openflow/packet/ipv4.ts";
import { ipv4Datagram } from "../../../openflow/packet/ipv4.ts";
import type { TcpRepr } from "../../../openflow/packet/tcp.ts";
import { emitTcp, tcpLength } from "../../../openflow/packet/tcp.ts";
import type { UdpRepr } from "../../../openflow/packet/udp.ts";
import { emitUdp, udpLength } from "../../../openflow/packet/udp.ts";

const GARBAGE = 0xa5;

/** Runs an emit into a buffer of exactly `length` bytes that held something else before. */
export const emitted = (length: number, emit: (out: Buffer) => void): Buffer => {
  const out = Buffer.alloc(length, GARBAGE);
  emit(out);
  return out;
};

export const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ""), "hex");

export const u8 = fc.integer({ min: 0, max: 0xff });
export const u16 = fc.integer({ min: 0, max: 0xffff });
export const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
export const mac = fc.integer({ min: 0, max: 0xffff_ffff_ffff });
const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));
const noOptions = Buffer.alloc(0);
/** Options as no-operations, which every reader accepts. */
const options = fc.integer({ min: 0, max: 10 }).map((words) => Buffer.alloc(words * 4, 1));

export const arpRepr: fc.Arbitrary<ArpRepr> = fc.record({ op: u16, sha: mac, spa: u32, tha: mac, tpa: u32 });

export const udpRepr: fc.Arbitrary<UdpRepr> = fc.record({ srcPort: u16, dstPort: u16, payload: bytes(64) });

export const tcpRepr: fc.Arbitrary<TcpRepr> = fc.record({
  srcPort: u16,
  dstPort: u16,
  seq: u32,
  ack: u32,
  flags: fc.integer({ min: 0, max: 0xfff }),
  window: u16,
  urgent: u16,
  options,
  payload: bytes(64),
});

export const icmpRepr: fc.Arbitrary<IcmpRepr> = fc.oneof(
  fc.record({ kind: fc.constantFrom("echo" as const, "echo_reply" as const), id: u16, sequence: u16, data: bytes(64) }),
  fc.record({
    kind: fc.constant("dest_unreachable" as const),
    code: fc.constant(4),
    nextHopMtu: u16,
    quote: bytes(64),
  }),
  fc.record({
    kind: fc.constant("dest_unreachable" as const),
    code: fc.constantFrom(0, 1, 2, 3, 13),
    nextHopMtu: fc.constant(0),
    quote: bytes(64),
  }),
  fc.record({ kind: fc.constant("time_exceeded" as const), code: u8, quote: bytes(64) }),
  fc.record({
    kind: fc.constant("other" as const),
    type: fc.constantFrom(5, 12, 13, 14, 200),
    code: u8,
    rest: u32,
    data: bytes(64),
  }),
);

export const ipv4Repr: fc.Arbitrary<Ipv4Repr> = fc.record({
  tos: u8,
  id: u16,
  dontFragment: fc.boolean(),
  moreFragments: fc.boolean(),
  fragmentOffset: fc.integer({ min: 0, max: 0x1fff }).map((units) => units * 8),
  ttl: u8,
  protocol: u8,
  src: u32,
  dst: u32,
  options,
  payload: bytes(64),
});

export const ethernetRepr: fc.Arbitrary<EthernetRepr> = fc.record({
  dst: mac,
  src: mac,
  vlans: fc.array(fc.record({ tpid: fc.constantFrom(0x8100, 0x88a8), tci: u16 }), { maxLength: 2 }),
  type: fc.constantFrom(0x0800, 0x0806, 0x86dd, 0x88cc, 0x0040),
  payload: bytes(64),
});

interface Addresses {
  readonly src: number;
  readonly dst: number;
}

const transport = (addresses: Addresses): fc.Arbitrary<{ protocol: number; payload: Buffer }> =>
  fc.oneof(
    tcpRepr.map((tcp) => ({
      protocol: IP_PROTO.tcp,
      payload: emitted(tcpLength(tcp), (out) => emitTcp(tcp, addresses, out)),
    })),
    udpRepr.map((udp) => ({
      protocol: IP_PROTO.udp,
      payload: emitted(udpLength(udp), (out) => emitUdp(udp, addresses, out)),
    })),
    icmpRepr.map((icmp) => ({ protocol: IP_PROTO.icmp, payload: icmpMessage(icmp) })),
  );

/** Whole, unfragmented datagrams with right checksums. */
export const datagram: fc.Arbitrary<Buffer> = fc.tuple(ipv4Repr, fc.boolean()).chain(([ip, hasOptions]) =>
  transport(ip).map((inner) =>
    ipv4Datagram({
      ...ip,
      ...inner,
      options: hasOptions ? ip.options : noOptions,
      moreFragments: false,
      fragmentOffset: 0,
    }),
  ),
);

/** Frames with IPv4 (some with link padding after the datagram) or ARP inside. */
export const frame: fc.Arbitrary<Buffer> = fc
  .tuple(
    ethernetRepr,
    fc.oneof(
      { weight: 4, arbitrary: fc.record({ type: fc.constant(ETH_TYPE.ipv4), payload: datagram }) },
      {
        weight: 1,
        arbitrary: fc.record({ type: fc.constant(ETH_TYPE.ipv4), payload: ipv4Repr.map((ip) => ipv4Datagram(ip)) }),
      },
    ),
    fc.integer({ min: 0, max: 6 }),
  )
  .map(([link, inner, padding]) =>
    ethernetFrame({ ...link, type: inner.type, payload: Buffer.concat([inner.payload, Buffer.alloc(padding)]) }),
  );
