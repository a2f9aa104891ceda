import type { Logger } from "pino";
import type { CtTupleProperty } from "../openflow/messages/extension.ts";
import { formatIpv4 } from "../openflow/packet/address.ts";
import type { Endpoint, Leavers } from "../pipeline/leavers.ts";
import { CT_ZONE } from "../pipeline/registers.ts";
import type { Session } from "./session/session.ts";

const ANY_PROTOCOL = 0;
const UDP = 17;
/**
 * When entries are flushed, ms, and how often each time. Open vSwitch 3.1 skips about half of what matches in one pass. And until
 * its revalidators have seen the new flows, cached ones go on making entries for the member that left.
 */
const TURNS = [
  { at: 0, times: 12 },
  { at: 250, times: 6 },
  { at: 1000, times: 6 },
] as const;

/** ::ffff:a.b.c.d (RFC 4291 §2.5.5.2), as NXT_CT_FLUSH wants IPv4 addresses. */
function mapped(ip: number): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16BE(0xffff, 10);
  bytes.writeUInt32BE(ip, 12);
  return bytes;
}

/**
 * Takes entries of members that left out of the switch's connection table (NXT_CT_FLUSH), so that clients which come again from
 * the same port, or never stop, reach a member that serves. Switches that do not know the message keep them until they time out.
 */
export class StaleConnections {
  #log: Logger;
  #unsupportedBy = new WeakSet<Session>();
  #timers = new Set<NodeJS.Timeout>();
  /** Members whose entries were flushed since the start. */
  flushed = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  forget(session: Session, { entirely, udpOnly }: Leavers): void {
    const jobs = [
      ...entirely.map((endpoint) => ({ endpoint, protocol: ANY_PROTOCOL })),
      ...udpOnly.map((endpoint) => ({ endpoint, protocol: UDP })),
    ];
    if (jobs.length === 0 || this.#unsupportedBy.has(session)) return;
    this.flushed += jobs.length;
    for (const { at, times } of TURNS) {
      const turn = (): void => {
        if (session.state !== "ready" || this.#unsupportedBy.has(session)) return;
        for (const { endpoint, protocol } of jobs) this.#flush(session, endpoint, protocol, times);
      };
      if (at === 0) turn();
      else {
        const timer = setTimeout(() => {
          this.#timers.delete(timer);
          turn();
        }, at);
        this.#timers.add(timer);
      }
    }
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #flush(session: Session, { ip, port }: Endpoint, ipProto: number, times: number): void {
    // What members answer comes from where they serve.
    const tuple: readonly CtTupleProperty[] = [
      { kind: "src", address: mapped(ip) },
      { kind: "src_port", port },
    ];
    const what = `forgetting connections of member ${formatIpv4(ip)}:${port}`;
    const sent = new Set<number>();
    const stopWatching = session.watchErrors((error) => {
      if (!sent.has(error.xid)) return false;
      if (!this.#unsupportedBy.has(session)) {
        this.#unsupportedBy.add(session);
        this.#log.warn({ code: error.code }, "the switch cannot forget connections of members that left");
      }
      return true;
    });
    for (let i = 0; i < times; i++) {
      const properties = [
        { kind: "reply", tuple },
        { kind: "zone", zoneId: CT_ZONE },
      ] as const;
      sent.add(session.send({ type: "nxt_ct_flush", ipProto, properties }, what));
    }
    session.barrier().then(stopWatching, stopWatching);
  }
}
