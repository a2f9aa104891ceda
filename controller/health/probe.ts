/** One probe of one member: what to send, and what its answers mean. Pure, over {@link TcpClient} and {@link HttpReader}. */
import { ICMP_UNREACHABLE } from "../../openflow/packet/icmp.ts";
import type { TcpRepr } from "../../openflow/packet/tcp.ts";
import type { CodeRange, HealthMonitor } from "../../pipeline/model.ts";
import { statusCodesText } from "../../pipeline/status-codes.ts";
import { closedWhile, type HttpReader, httpRequest, isExpected, newHttpReader, readHttp } from "./http-reader.ts";
import * as tcp from "./tcp-client.ts";

/** How a probe ended, and why, for people. */
export interface Outcome {
  readonly ok: boolean;
  readonly reason: string;
}

/** Something to send to the member. */
export type Send =
  | { readonly kind: "tcp"; readonly segment: tcp.SegmentOut }
  | { readonly kind: "echo"; readonly sequence: number }
  | { readonly kind: "udp" };

/** Something that came from the member, or about a packet to it. */
export type Answer =
  | { readonly kind: "tcp"; readonly segment: TcpRepr }
  | { readonly kind: "echo_reply" }
  | { readonly kind: "udp" }
  | { readonly kind: "unreachable"; readonly code: number };

interface Http {
  readonly reader: HttpReader;
  readonly codes: readonly CodeRange[];
}

export type Probe =
  | { readonly kind: "tcp"; readonly client: tcp.TcpClient; readonly http?: Http }
  | { readonly kind: "datagram"; readonly type: "icmp" | "udp"; readonly resendAt?: number };

export interface Step {
  readonly next: Probe;
  readonly send: readonly Send[];
  /** Present once the probe is over. */
  readonly outcome?: Outcome;
}

/** Pause before something is sent again, ms: leaves time for two repetitions of a SYN (at 1/4 and 3/4 of the timeout). */
const firstPause = (timeoutMs: number): number => timeoutMs / 4;

const datagram = (type: "icmp" | "udp", sequence: number): Send =>
  type === "icmp" ? { kind: "echo", sequence } : { kind: "udp" };

const segments = (send: readonly tcp.SegmentOut[]): readonly Send[] =>
  send.map((segment) => ({ kind: "tcp", segment }));

/**
 * The first packet.
 * @param authority "ADDRESS:PORT" for the Host header
 * @param iss initial sequence number, u32; not to be guessed by others (RFC 9293 §3.4.1)
 */
export const startProbe = (monitor: HealthMonitor, authority: string, iss: number, now: number): Step => {
  const { type, timeoutMs } = monitor;
  switch (type) {
    case "icmp":
    case "udp":
      return {
        next: { kind: "datagram", type, resendAt: now + timeoutMs / 2 },
        send: [datagram(type, 0)],
      };
    case "tcp":
    case "http": {
      const { http } = monitor;
      const request = http === undefined ? Buffer.alloc(0) : httpRequest(http, authority);
      const { next: client, send } = tcp.connect(iss, request, now, firstPause(timeoutMs));
      return {
        next: {
          kind: "tcp",
          client,
          ...(http === undefined ? {} : { http: { reader: newHttpReader, codes: http.expectedCodes } }),
        },
        send: segments(send),
      };
    }
  }
};

const judge = ({ reader, codes }: Http): Outcome | undefined => {
  switch (reader.kind) {
    case "reading":
      return undefined;
    case "garbage":
      return { ok: false, reason: reader.reason };
    case "status":
      return isExpected(codes, reader.code)
        ? { ok: true, reason: `status ${reader.code}` }
        : { ok: false, reason: `status ${reader.code} not in ${statusCodesText(codes)}` };
  }
};

const endedBy = (how: "refused" | "reset" | "closed", http: Http | undefined): Outcome => {
  if (how === "refused") return { ok: false, reason: "connection refused" };
  if (how === "reset") return { ok: false, reason: "reset" };
  return { ok: false, reason: closedWhile(http?.reader ?? newHttpReader) };
};

type TcpProbe = Extract<Probe, { readonly kind: "tcp" }>;

/** What the connection's events mean for the probe, which ends its connection by a reset as soon as it knows enough. */
const afterTcp = (probe: TcpProbe, step: tcp.TcpStep): Step => {
  let { http } = probe;
  let outcome: Outcome | undefined;
  for (const event of step.events) {
    if (outcome !== undefined) break;
    switch (event.kind) {
      case "connected":
        if (http === undefined) outcome = { ok: true, reason: "connected" };
        break;
      case "data":
        if (http === undefined) break;
        http = { ...http, reader: readHttp(http.reader, event.bytes) };
        outcome = judge(http);
        break;
      case "ended":
        outcome = endedBy(event.how, http);
        break;
    }
  }
  const next = { ...probe, client: step.next, ...(http === undefined ? {} : { http }) };
  if (outcome === undefined) return { next, send: segments(step.send) };
  const wasReset = step.events.some((e) => e.kind === "ended" && e.how !== "closed");
  // The reset says all that was to be said; it confirms what came, too.
  return { next, send: wasReset ? [] : segments(tcp.abort(step.next).send), outcome };
};

const unreachable: Readonly<Record<number, string>> = {
  [ICMP_UNREACHABLE.net]: "network unreachable",
  [ICMP_UNREACHABLE.host]: "host unreachable",
  [ICMP_UNREACHABLE.protocol]: "protocol unreachable",
  [ICMP_UNREACHABLE.port]: "port unreachable",
  9: "administratively prohibited",
  10: "administratively prohibited",
  [ICMP_UNREACHABLE.prohibited]: "administratively prohibited",
};

/** Something has come. */
export const answered = (probe: Probe, answer: Answer, now: number): Step => {
  if (answer.kind === "unreachable") {
    // Behind an open connection it is no more than a hint (RFC 9293 §3.9.2.2).
    const opening = probe.kind === "datagram" || probe.client.phase === "syn_sent";
    if (!opening || answer.code === ICMP_UNREACHABLE.fragmentationNeeded) return { next: probe, send: [] };
    const reason = unreachable[answer.code] ?? `unreachable (ICMP code ${answer.code})`;
    return { next: probe, send: [], outcome: { ok: false, reason } };
  }
  if (probe.kind === "tcp") {
    return answer.kind === "tcp"
      ? afterTcp(probe, tcp.receive(probe.client, answer.segment, now))
      : { next: probe, send: [] };
  }
  const wanted = probe.type === "icmp" ? "echo_reply" : "udp";
  return { next: probe, send: [], ...(answer.kind === wanted ? { outcome: { ok: true, reason: "answered" } } : {}) };
};

/** When {@link resend} has something to do. */
export const resendAt = (probe: Probe): number | undefined =>
  probe.kind === "tcp" ? probe.client.resendAt : probe.resendAt;

/** Sends again what has not been answered in time. */
export const resend = (probe: Probe, now: number): Step => {
  if (probe.kind === "tcp") return afterTcp(probe, tcp.resend(probe.client, now));
  const { type, resendAt: at } = probe;
  if (at === undefined || at > now) return { next: probe, send: [] };
  // Once only: one ping or datagram may get lost.
  return { next: { kind: "datagram", type }, send: [datagram(type, 1)] };
};

const seconds = (ms: number): string => `${ms / 1000} s`;

/** The time is over. A member that does not refuse a datagram is as well as anybody can tell. */
export const expire = (probe: Probe, timeoutMs: number): Step => {
  const within = `within ${seconds(timeoutMs)}`;
  if (probe.kind === "datagram") {
    const outcome =
      probe.type === "udp"
        ? { ok: true, reason: `not refused ${within}` }
        : { ok: false, reason: `no answer ${within}` };
    return { next: probe, send: [], outcome };
  }
  const { client } = probe;
  const reason = client.phase === "open" ? `connected, but no answer ${within}` : `no answer ${within}`;
  const { next, send } = tcp.abort(client);
  return { next: { ...probe, client: next }, send: segments(send), outcome: { ok: false, reason } };
};
