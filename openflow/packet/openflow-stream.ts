import { Framer } from "../framer.ts";
import { formatIpv4 } from "./address.ts";
import { IP_PROTO } from "./checksum.ts";
import { ETH_TYPE, parseEthernet } from "./ethernet.ts";
import { parseIpv4 } from "./ipv4.ts";
import { readPcap } from "./pcap.ts";
import { parseTcp, TCP_FLAG, type TcpRepr } from "./tcp.ts";

/** OpenFlow's port (OF1.3.5 §6.3.2) and the one used before it was assigned. */
const PORTS: readonly number[] = [6653, 6633];
/** Out-of-order segments kept for one direction of a connection; beyond that the hole is given up. */
const MOST_WAITING = 512;

/** A message of a capture. */
export interface CapturedMessage {
  /** Microseconds since 1970 of the segment that completed it. */
  readonly at: number;
  /** ADDRESS:PORT */
  readonly from: string;
  readonly to: string;
  readonly bytes: Buffer;
}

export interface CapturedMessages {
  readonly messages: readonly CapturedMessage[];
  /** What could not be read, in words. */
  readonly warnings: readonly string[];
}

/** One direction of a connection. */
interface Direction {
  framer: Framer;
  /** Sequence number of the next byte; undefined before the first segment. */
  next: number | undefined;
  waiting: Map<number, Buffer>;
}

/** Distance from `a` to `b` in sequence space, negative when `b` is before `a` (RFC 9293 §3.4). */
const ahead = (a: number, b: number): number => (b - a) | 0;

/**
 * Every OpenFlow message in a capture (IPv4 over Ethernet, TCP port 6653 or 6633), with TCP put together: retransmitted
 * and reordered segments count once and in order.
 * @returns undefined when the file is no capture
 */
export function messagesOfCapture(file: Uint8Array): CapturedMessages | undefined {
  const capture = readPcap(file);
  if (!capture) return undefined;
  const warnings = new Set<string>();
  if (capture.truncated) warnings.add("the capture ends within a packet");
  const messages: CapturedMessage[] = [];
  const directions = new Map<string, Direction>();
  for (const { tsMicros: at, bytes } of capture.packets) {
    const link = parseEthernet(bytes);
    const ip = link?.type === ETH_TYPE.ipv4 ? parseIpv4(link.payload) : undefined;
    const tcp = ip?.protocol === IP_PROTO.tcp && ip.fragmentOffset === 0 ? parseTcp(ip.payload) : undefined;
    if (!ip || !tcp || !(PORTS.includes(tcp.srcPort) || PORTS.includes(tcp.dstPort))) continue;
    const from = `${formatIpv4(ip.src)}:${tcp.srcPort}`;
    const to = `${formatIpv4(ip.dst)}:${tcp.dstPort}`;
    const key = `${from} > ${to}`;
    const direction = directions.get(key) ?? { framer: new Framer(), next: undefined, waiting: new Map() };
    directions.set(key, direction);
    for (const payload of inOrder(direction, tcp, () => warnings.add(`${key}: segments are missing`))) {
      for (const message of direction.framer.push(payload)) messages.push({ at, from, to, bytes: message });
      const { failure } = direction.framer;
      if (!failure) continue;
      warnings.add(`${key}: ${failure.error.message}; reading goes on with the next segment`);
      direction.framer = new Framer();
    }
  }
  return { messages, warnings: [...warnings] };
}

/** What a segment adds to the stream: nothing, its new bytes, or these and what waited for them. */
function inOrder(d: Direction, tcp: TcpRepr, missing: () => void): Buffer[] {
  if ((tcp.flags & TCP_FLAG.syn) !== 0) {
    d.framer = new Framer();
    d.next = (tcp.seq + 1) >>> 0;
    d.waiting.clear();
    return [];
  }
  if (tcp.payload.length === 0) return [];
  const payload = Buffer.from(tcp.payload);
  d.next ??= tcp.seq;
  if (ahead(d.next, tcp.seq) > 0) {
    d.waiting.set(tcp.seq, payload);
    if (d.waiting.size <= MOST_WAITING) return [];
    missing();
    d.next = [...d.waiting.keys()].reduce((a, b) => (ahead(a, b) < 0 ? b : a));
    d.framer = new Framer();
  } else {
    d.waiting.set(tcp.seq, payload);
  }
  const out: Buffer[] = [];
  for (;;) {
    const next: number = d.next;
    const entry = [...d.waiting].find(([seq]) => ahead(next, seq) <= 0);
    if (!entry) return out;
    const [seq, bytes] = entry;
    d.waiting.delete(seq);
    const fresh = bytes.subarray(Math.min(bytes.length, ahead(seq, next)));
    if (fresh.length === 0) continue;
    d.next = (next + fresh.length) >>> 0;
    out.push(fresh);
  }
}
