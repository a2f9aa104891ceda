import { type CheckerDeps, HealthChecker } from "../../controller/health/checker.ts";
import type { Lookup } from "../../controller/neighbour/resolver.ts";
import { buildTcpFrame } from "../../openflow/packet/build.ts";
import { parseEthernet } from "../../openflow/packet/ethernet.ts";
import { parseIpv4 } from "../../openflow/packet/ipv4.ts";
import { parseTcp, TCP_FLAG, type TcpRepr } from "../../openflow/packet/tcp.ts";
import type { HealthMonitor, Member, Topology } from "../../pipeline/model.ts";
import { ip, seedState } from "./topology.ts";

const { syn: SYN, ack: ACK, rst: RST, psh: PSH } = TCP_FLAG;

/** A frame the checker sent, taken apart. */
export interface SentFrame {
  readonly at: number;
  readonly ofport: number | undefined;
  readonly to: number;
  readonly tcp: TcpRepr;
  readonly bytes: Buffer;
}

/** How a member takes a SYN. */
export type Mood = "accept" | "refuse" | "silent";

/** Sequence number of a member's SYN. */
const FIRST = 7_000;

const quietLog = { info: () => undefined, warn: () => undefined } as unknown as CheckerDeps["log"];

export const tcpMonitor: HealthMonitor = { type: "tcp", intervalMs: 2_000, timeoutMs: 1_000, rise: 2, fall: 3 };

/** The seed's network with `members` members of segment 2, all probed by `monitor`. */
export const probedTopology = (count: number, monitor = tcpMonitor, change: Partial<Member> = {}): Topology => {
  const { nodes, segments, routes, staticNeighbours, loadBalancers } = seedState(64);
  const [lb] = loadBalancers;
  const [pool] = lb!.pools;
  const [first] = pool!.members;
  const members = Array.from({ length: count }, (_, i) => ({
    ...first!,
    id: i + 1,
    name: `be${i + 1}`,
    uuid: `member-${i + 1}`,
    ip: ip("10.20.0.2") + i,
    ...change,
  }));
  const pools = [{ ...pool!, members, healthMonitor: monitor }];
  return { nodes, segments, routes, staticNeighbours, loadBalancers: [{ ...lb!, pools }] };
};

/** A checker with members around it that answer as they are told, 1 ms later. Needs fake timers. */
export class ProbeNet {
  readonly sent: SentFrame[] = [];
  readonly changes: string[] = [];
  readonly results: { readonly id: number; readonly ok: boolean; readonly reason: string; readonly at: number }[] = [];
  readonly forgotten: number[] = [];
  readonly moods = new Map<number, Mood>();
  /** What members say to a request; absent: nothing. */
  response: Buffer | undefined;
  lookup: (ip: number) => Lookup = (address) => ({ kind: "known", mac: 0x0200_0000_0000 + address, ofport: 10 });
  blocked = false;
  readonly checker: HealthChecker;

  constructor() {
    this.checker = new HealthChecker({
      log: quietLog,
      send: (_segment, ofport, frame) => this.#send(ofport, frame),
      lookup: ({ ip: address }) => this.lookup(address),
      changed: (reason) => this.changes.push(reason),
      probed: ({ member: { id } }, { ok, reason }) => this.results.push({ id, ok, reason, at: performance.now() }),
      forgotten: ({ member }) => this.forgotten.push(member.id),
    });
  }

  /** SYNs sent so far. */
  syns(): readonly SentFrame[] {
    return this.sent.filter((f) => f.tcp.flags === SYN);
  }

  states(): Record<number, string> {
    return Object.fromEntries(this.checker.health());
  }

  #send(ofport: number | undefined, bytes: Buffer): boolean {
    if (this.blocked) return false;
    const datagram = parseIpv4(parseEthernet(bytes)!.payload)!;
    const tcp = parseTcp(datagram.payload)!;
    this.sent.push({ at: performance.now(), ofport, to: datagram.dst, tcp, bytes });
    const { response } = this;
    if (tcp.payload.length > 0 && response !== undefined) {
      const ack = (tcp.seq + tcp.payload.length) >>> 0;
      setTimeout(() => this.answer(bytes, { flags: PSH | ACK, seq: FIRST + 1, ack, payload: response }), 1);
      return true;
    }
    const mood = this.moods.get(datagram.dst) ?? "accept";
    if (tcp.flags !== SYN || mood === "silent") return true;
    setTimeout(() => this.answer(bytes, { flags: mood === "accept" ? SYN | ACK : RST | ACK }), 1);
    return true;
  }

  /** A segment from the member that got `bytes`. */
  answer(bytes: Buffer, fields: Partial<TcpRepr>): void {
    const link = parseEthernet(bytes)!;
    const datagram = parseIpv4(link.payload)!;
    const tcp = parseTcp(datagram.payload)!;
    const path = { srcMac: link.dst, dstMac: link.src, src: datagram.dst, dst: datagram.src };
    const ends = { srcPort: tcp.dstPort, dstPort: tcp.srcPort };
    const rest = { seq: FIRST, ack: (tcp.seq + 1) >>> 0, window: 0xffff, urgent: 0, flags: ACK };
    const nothing = { options: new Uint8Array(0), payload: new Uint8Array(0) };
    this.checker.handle(2, 10, buildTcpFrame(path, { ...ends, ...rest, ...nothing, ...fields }));
  }
}
