import type { Logger } from "pino";
import type { CtTupleProperty } from "../openflow/messages/extension.ts";
import { formatIpv4 } from "../openflow/packet/address.ts";
import type { Endpoint, Leaving } from "../pipeline/leavers.ts";
import { CT_ZONE } from "../pipeline/registers.ts";
import type { Outgoing, Session } from "./session/session.ts";

/** IANA's protocol numbers; 0 is any. */
const PROTOCOLS = { tcp: 6, udp: 17 } as const;
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

const tuple = (end: Endpoint, side: "src" | "dst"): readonly CtTupleProperty[] => [
  { kind: side, address: mapped(end.ip) },
  { kind: side === "src" ? "src_port" : "dst_port", port: end.port },
];

/** The message for what is leaving; what members answer comes from where they serve. */
function flushOf({ protocol, called, member }: Leaving): Outgoing {
  return {
    type: "nxt_ct_flush",
    ipProto: protocol === undefined ? 0 : PROTOCOLS[protocol],
    properties: [
      ...(called === undefined ? [] : [{ kind: "orig" as const, tuple: tuple(called, "dst") }]),
      ...(member === undefined ? [] : [{ kind: "reply" as const, tuple: tuple(member, "src") }]),
      { kind: "zone", zoneId: CT_ZONE },
    ],
  };
}

const nameOf = ({ called, member }: Leaving): string => {
  const end = member ?? called;
  return `forgetting connections of ${end === undefined ? "all" : `${formatIpv4(end.ip)}:${end.port}`}`;
};

/**
 * Takes entries of members that left out of the switch's connection table (NXT_CT_FLUSH), so that clients which come again from
 * the same port, or never stop, reach a member that serves. Switches that do not know the message keep them until they time out.
 */
export class StaleConnections {
  #log: Logger;
  #unsupportedBy = new WeakSet<Session>();
  #timers = new Set<NodeJS.Timeout>();
  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param isBack asked again before each repetition: what serves again must not lose its new connections */
  forget(session: Session, leaving: readonly Leaving[], isBack: (what: Leaving) => boolean): void {
    if (leaving.length === 0 || this.#unsupportedBy.has(session)) return;
    for (const { at, times } of TURNS) {
      const turn = (): void => {
        if (session.state !== "ready" || this.#unsupportedBy.has(session)) return;
        for (const what of leaving) if (at === 0 || !isBack(what)) this.#flush(session, what, times);
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

  #flush(session: Session, leaving: Leaving, times: number): void {
    const message = flushOf(leaving);
    const sent = new Set<number>();
    const stopWatching = session.watchErrors((error) => {
      if (!sent.has(error.xid)) return false;
      if (!this.#unsupportedBy.has(session)) {
        this.#unsupportedBy.add(session);
        this.#log.warn({ code: error.code }, "the switch cannot forget connections of members that left");
      }
      return true;
    });
    for (let i = 0; i < times; i++) sent.add(session.send(message, nameOf(leaving)));
    session.barrier().then(stopWatching, stopWatching);
  }
}
