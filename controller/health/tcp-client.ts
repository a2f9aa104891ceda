/**
 * The client's end of one TCP connection (RFC 9293), for probes: a pure machine over segments. It connects, sends one
 * request, gives the answer's bytes in order, and ends by a reset, so that no half-open connection is left at the peer.
 *
 * What it leaves out, because a probe lives for a second and reads one line: congestion control, window scaling, delayed
 * acknowledgements, closing by FIN.
 */
import { parseTcpOptions, TCP_FLAG, type TcpRepr } from "../../openflow/packet/tcp.ts";
import { add, compare, insert, type Piece, take } from "./reassembly.ts";

/** What a segment to be sent says; addresses, ports and options are the shell's business. */
export interface SegmentOut {
  readonly flags: number;
  readonly seq: number;
  readonly ack: number;
  readonly payload: Uint8Array;
}

/** What the connection tells its user. */
export type TcpEvent =
  | { readonly kind: "connected" }
  | { readonly kind: "data"; readonly bytes: Uint8Array }
  /** "refused": before the connection was there; "reset": after; "closed": the peer's orderly end. */
  | { readonly kind: "ended"; readonly how: "refused" | "reset" | "closed" };

export interface TcpClient {
  readonly phase: "syn_sent" | "open" | "ended";
  /** First sequence number. */
  readonly iss: number;
  /** What is to be sent once connected. */
  readonly request: Uint8Array;
  /** Next sequence number to send, and the oldest that is not confirmed. */
  readonly sndNxt: number;
  readonly sndUna: number;
  /** Bytes the peer takes beyond `sndUna`, and in one segment. */
  readonly sndWindow: number;
  readonly mss: number;
  /** Next sequence number expected; has a meaning only when open. */
  readonly rcvNxt: number;
  /** Data that came early. */
  readonly early: readonly Piece[];
  /** Sequence number behind the peer's last byte, once its FIN was seen. */
  readonly finAt?: number;
  /** When what is unconfirmed is sent again, ms; undefined while nothing is. */
  readonly resendAt?: number;
  /** Pause before that, ms; doubles each time (RFC 6298 §5.5). */
  readonly rto: number;
}

export interface TcpStep {
  readonly next: TcpClient;
  readonly send: readonly SegmentOut[];
  readonly events: readonly TcpEvent[];
}

const NOTHING = new Uint8Array(0);
/** The receive window announced, without scaling: a prober reads one answer. */
export const RECEIVE_WINDOW = 0xffff;
/** RFC 9293 §3.7.1: what a peer takes that does not say. */
const DEFAULT_MSS = 536;
const { syn: SYN, ack: ACK, psh: PSH, rst: RST, fin: FIN } = TCP_FLAG;

const bare = (c: TcpClient): SegmentOut => ({ flags: ACK, seq: c.sndNxt, ack: c.rcvNxt, payload: NOTHING });
const quiet = (next: TcpClient): TcpStep => ({ next, send: [], events: [] });

const withoutTimer = (c: TcpClient): TcpClient => {
  const { resendAt: _resendAt, ...rest } = c;
  return rest;
};

/** The connection's first step: a SYN. @param rto first pause before it is sent again, ms */
export const connect = (iss: number, request: Uint8Array, now: number, rto: number): TcpStep => ({
  next: {
    phase: "syn_sent",
    iss,
    request,
    sndNxt: add(iss, 1),
    sndUna: iss,
    sndWindow: 0,
    mss: DEFAULT_MSS,
    rcvNxt: 0,
    early: [],
    resendAt: now + rto,
    rto,
  },
  send: [{ flags: SYN, seq: iss, ack: 0, payload: NOTHING }],
  events: [],
});

/** Part of the request from a sequence number on. */
const requestFrom = (c: TcpClient, seq: number, length: number): Uint8Array => {
  const offset = compare(seq, add(c.iss, 1));
  return c.request.subarray(offset, offset + length);
};

/** Sends as much of the request as the peer's window takes. */
const flush = (c: TcpClient, now: number): { readonly next: TcpClient; readonly send: readonly SegmentOut[] } => {
  const send: SegmentOut[] = [];
  let { sndNxt } = c;
  for (;;) {
    const room = c.sndWindow - compare(sndNxt, c.sndUna);
    const payload = room > 0 ? requestFrom(c, sndNxt, Math.min(room, c.mss)) : NOTHING;
    if (payload.length === 0) break;
    send.push({ flags: ACK | PSH, seq: sndNxt, ack: c.rcvNxt, payload });
    sndNxt = add(sndNxt, payload.length);
  }
  const unfinished = compare(add(c.iss, 1 + c.request.length), c.sndUna) > 0;
  const next = { ...c, sndNxt };
  if (!unfinished) return { next: withoutTimer(next), send };
  return { next: { ...next, resendAt: c.resendAt ?? now + c.rto }, send };
};

const peerMss = (options: Uint8Array): number => {
  const mss = parseTcpOptions(options)?.find((o) => o.kind === 2 && o.data.length === 2);
  return mss === undefined ? DEFAULT_MSS : Math.max(1, (mss.data[0]! << 8) | mss.data[1]!);
};

/** RFC 9293 §3.10.7.3. */
const inSynSent = (c: TcpClient, s: TcpRepr, now: number): TcpStep => {
  const acked = (s.flags & ACK) !== 0;
  if (acked && s.ack !== c.sndNxt) {
    // Somebody of an older connection with the same ports: it is told off, and our next SYN finds it gone.
    return (s.flags & RST) !== 0 ? quiet(c) : { ...quiet(c), send: [resetFor(s)] };
  }
  if ((s.flags & RST) !== 0) return acked ? end(c, "refused") : quiet(c);
  // A SYN alone would be a simultaneous open, which no server does.
  if ((s.flags & SYN) === 0 || !acked) return quiet(c);
  const open = withoutTimer({
    ...c,
    phase: "open",
    sndUna: s.ack,
    sndWindow: s.window,
    mss: peerMss(s.options),
    rcvNxt: add(s.seq, 1),
  });
  const { next, send } = flush(open, now);
  return { next, send: send.length > 0 ? send : [bare(next)], events: [{ kind: "connected" }] };
};

const end = (c: TcpClient, how: "refused" | "reset" | "closed"): TcpStep => ({
  next: withoutTimer({ ...c, phase: "ended" }),
  send: [],
  events: [{ kind: "ended", how }],
});

/** RFC 9293 §3.10.7.4: whether any of the segment is what we can take now. */
const isAcceptable = (c: TcpClient, s: TcpRepr, length: number): boolean => {
  const first = compare(s.seq, c.rcvNxt);
  if (length === 0) return first >= 0 && first < RECEIVE_WINDOW;
  return first < RECEIVE_WINDOW && first + length > 0;
};

const inOpen = (c: TcpClient, s: TcpRepr, now: number): TcpStep => {
  const { payload, flags } = s;
  const length = payload.length + ((flags & FIN) !== 0 ? 1 : 0);
  if (!isAcceptable(c, s, length)) return (flags & RST) !== 0 ? quiet(c) : { ...quiet(c), send: [bare(c)] };
  if ((flags & RST) !== 0) {
    // Anywhere else in the window it may be forged, or early: the peer is asked (RFC 5961 §3.2).
    return s.seq === c.rcvNxt ? end(c, "reset") : { ...quiet(c), send: [bare(c)] };
  }
  if ((flags & SYN) !== 0) return { ...quiet(c), send: [bare(c)] };
  if ((flags & ACK) === 0) return quiet(c);
  if (compare(s.ack, c.sndNxt) > 0) return { ...quiet(c), send: [bare(c)] };

  const progress = compare(s.ack, c.sndUna) > 0;
  const confirmed = {
    ...(progress ? withoutTimer(c) : c),
    ...(progress ? { sndUna: s.ack } : {}),
    ...(compare(s.ack, c.sndUna) >= 0 ? { sndWindow: s.window } : {}),
  };
  const flushed = flush(confirmed, now);
  const early = insert(c.early, c.rcvNxt, { seq: s.seq, bytes: payload }, RECEIVE_WINDOW);
  const ready = take(early, c.rcvNxt);
  const finAt = (flags & FIN) !== 0 ? add(s.seq, payload.length) : c.finAt;
  const isOver = finAt !== undefined && finAt === ready.next;
  const next: TcpClient = {
    ...flushed.next,
    early: ready.rest,
    rcvNxt: isOver ? add(ready.next, 1) : ready.next,
    ...(finAt === undefined ? {} : { finAt }),
  };
  const data: readonly TcpEvent[] = ready.pieces.map((bytes) => ({ kind: "data", bytes }));
  const closed = isOver ? end(next, "closed") : undefined;
  return {
    next: closed?.next ?? next,
    // Whatever takes room in the sequence is confirmed, and so are repetitions.
    send: [...flushed.send, ...(length > 0 ? [bare(next)] : [])],
    events: [...data, ...(closed?.events ?? [])],
  };
};

/** A segment of the peer's. */
export const receive = (c: TcpClient, segment: TcpRepr, now: number): TcpStep => {
  switch (c.phase) {
    case "syn_sent":
      return inSynSent(c, segment, now);
    case "open":
      return inOpen(c, segment, now);
    case "ended":
      return quiet(c);
  }
};

/** Sends again what is due. */
export const resend = (c: TcpClient, now: number): TcpStep => {
  if (c.resendAt === undefined || c.resendAt > now || c.phase === "ended") return quiet(c);
  const next = { ...c, rto: c.rto * 2, resendAt: now + c.rto * 2 };
  if (c.phase === "syn_sent") {
    return { next, send: [{ flags: SYN, seq: c.iss, ack: 0, payload: NOTHING }], events: [] };
  }
  // A closed window is asked with one byte (RFC 9293 §3.8.6.1).
  const payload = requestFrom(c, c.sndUna, Math.min(c.mss, Math.max(1, c.sndWindow)));
  const behind = add(c.sndUna, payload.length);
  const sndNxt = compare(behind, c.sndNxt) > 0 ? behind : c.sndNxt;
  return {
    next: { ...next, sndNxt },
    send: [{ flags: ACK | PSH, seq: c.sndUna, ack: c.rcvNxt, payload }],
    events: [],
  };
};

/**
 * Gives the connection up. Before the peer has answered, the reset carries no ACK: a peer in SYN-RECEIVED whose answer
 * was lost takes only one that confirms its own number, or none.
 */
export const abort = (c: TcpClient): TcpStep => ({
  next: withoutTimer({ ...c, phase: "ended" }),
  send:
    c.phase === "syn_sent"
      ? [{ flags: RST, seq: c.sndNxt, ack: 0, payload: NOTHING }]
      : [{ flags: RST | ACK, seq: c.sndNxt, ack: c.rcvNxt, payload: NOTHING }],
  events: [],
});

/** The answer to a segment of a connection that is not there (any more), RFC 9293 §3.10.7.1. It must not be a reset itself. */
export const resetFor = (s: TcpRepr): SegmentOut => {
  if ((s.flags & ACK) !== 0) return { flags: RST, seq: s.ack, ack: 0, payload: NOTHING };
  const length = s.payload.length + ((s.flags & SYN) !== 0 ? 1 : 0) + ((s.flags & FIN) !== 0 ? 1 : 0);
  return { flags: RST | ACK, seq: 0, ack: add(s.seq, length), payload: NOTHING };
};
