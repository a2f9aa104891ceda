import { describe, expect, test } from "vitest";
import {
  type Answer,
  answered,
  expire,
  resend,
  resendAt,
  type Step,
  startProbe,
} from "../../../controller/health/probe.ts";
import { TCP_FLAG } from "../../../openflow/packet/tcp.ts";
import type { HealthMonitor } from "../../../pipeline/model.ts";
import { asReceived } from "../../support/tcp-peer.ts";

const { syn: SYN, ack: ACK, fin: FIN, rst: RST } = TCP_FLAG;
const times = { intervalMs: 2_000, timeoutMs: 1_000, rise: 2, fall: 3 };
const tcp: HealthMonitor = { type: "tcp", ...times };
const icmp: HealthMonitor = { type: "icmp", ...times };
const udp: HealthMonitor = { type: "udp", ...times };
const http: HealthMonitor = {
  type: "http",
  ...times,
  http: { method: "GET", path: "/", version: "1.1", expectedCodes: [{ first: 200, last: 200 }] },
};
const segment = (flags: number, seq: number, ack: number, text = ""): Answer => ({
  kind: "tcp",
  segment: asReceived({ flags, seq, ack, payload: Buffer.from(text, "latin1") }, 0xffff),
});
const unreachable = (code: number): Answer => ({ kind: "unreachable", code });

/** Plays answers to a new probe with ISS 100; stops at the verdict. */
const play = (monitor: HealthMonitor, ...answers: readonly Answer[]): Step => {
  let step = startProbe(monitor, "10.0.0.1:8080", 100, 0);
  for (const a of answers) if (step.outcome === undefined) step = answered(step.next, a, 1);
  return step;
};
const opened = segment(SYN | ACK, 500, 101);
const flagsSent = (step: Step) => step.send.map((s) => (s.kind === "tcp" ? s.segment.flags : s.kind));
const good = (reason: string) => ({ ok: true, reason });
const bad = (reason: string) => ({ ok: false, reason });

describe("verdicts", () => {
  test.each<readonly [string, HealthMonitor, readonly Answer[], unknown]>([
    ["tcp: the handshake is enough", tcp, [opened], good("connected")],
    ["tcp: refused", tcp, [segment(RST | ACK, 0, 101)], bad("connection refused")],
    ["tcp: host unreachable", tcp, [unreachable(1)], bad("host unreachable")],
    ["tcp: refused by a firewall", tcp, [unreachable(13)], bad("administratively prohibited")],
    ["tcp: a small MTU is no verdict", tcp, [unreachable(4)], undefined],
    ["http: 200", http, [opened, segment(ACK, 501, 101, "HTTP/1.1 200 OK\r\n")], good("status 200")],
    ["http: 301", http, [opened, segment(ACK, 501, 101, "HTTP/1.0 301\n")], bad("status 301 not in 200")],
    [
      "http: answered by another protocol",
      http,
      [opened, segment(ACK, 501, 101, "220 mail ready\r\n")],
      bad('not HTTP: begins with "220 mai"'),
    ],
    ["http: closed at once", http, [opened, segment(FIN | ACK, 501, 101)], bad("closed without an answer")],
    [
      "http: closed too early",
      http,
      [opened, segment(FIN | ACK, 501, 101, "HTTP/1.1 2")],
      bad("closed in the middle of the answer"),
    ],
    [
      "http: status and end at once",
      http,
      [opened, segment(FIN | ACK, 501, 101, "HTTP/1.1 200\r\n")],
      good("status 200"),
    ],
    ["http: reset", http, [opened, segment(RST, 501, 0)], bad("reset")],
    ["http: an open connection is not shaken by ICMP", http, [opened, unreachable(1)], undefined],
    ["http: still waiting", http, [opened, segment(ACK, 501, 101, "HTTP/1.1 100 C\r\n\r\n")], undefined],
    ["icmp: answered", icmp, [{ kind: "echo_reply" }], good("answered")],
    ["icmp: unreachable", icmp, [unreachable(0)], bad("network unreachable")],
    ["udp: port unreachable", udp, [unreachable(3)], bad("port unreachable")],
    ["udp: answered", udp, [{ kind: "udp" }], good("answered")],
    ["udp: a strange code", udp, [unreachable(99)], bad("unreachable (ICMP code 99)")],
  ])("%s", (_, monitor, answers, outcome) => {
    expect(play(monitor, ...answers).outcome).toEqual(outcome);
  });

  test("every probe that was connected ends by a reset", () => {
    const ends = [
      play(tcp, opened),
      play(http, opened, segment(ACK, 501, 101, "HTTP/1.1 200 OK\r\n")),
      play(http, opened, segment(FIN | ACK, 501, 101)),
      expire(play(http, opened).next, 1_000),
    ];
    expect(ends.map(flagsSent)).toEqual([[RST | ACK], [RST | ACK], [RST | ACK], [RST | ACK]]);
    expect(flagsSent(expire(play(tcp).next, 1_000))).toEqual([RST]);
    expect(flagsSent(play(tcp, segment(RST | ACK, 0, 101)))).toEqual([]);
  });

  test("when time is over", () => {
    const late = (monitor: HealthMonitor, ...answers: readonly Answer[]) =>
      expire(play(monitor, ...answers).next, 1_500).outcome;
    expect(late(tcp)).toEqual(bad("no answer within 1.5 s"));
    expect(late(http, opened)).toEqual(bad("connected, but no answer within 1.5 s"));
    expect(late(icmp)).toEqual(bad("no answer within 1.5 s"));
    expect(late(udp)).toEqual(good("not refused within 1.5 s"));
  });

  test("pings and datagrams are repeated once, in the middle of the time there is", () => {
    for (const monitor of [icmp, udp]) {
      const first = play(monitor);
      expect(resendAt(first.next)).toBe(500);
      expect(resend(first.next, 499).send).toEqual([]);
      const second = resend(first.next, 500);
      expect(second.send).toHaveLength(1);
      expect(resendAt(second.next)).toBeUndefined();
      expect(resend(second.next, 10_000).send).toEqual([]);
    }
  });
});
