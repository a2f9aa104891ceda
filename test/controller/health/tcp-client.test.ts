import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  abort,
  connect,
  receive,
  resend,
  resetFor,
  type SegmentOut,
  type TcpClient,
  type TcpEvent,
  type TcpStep,
} from "../../../controller/health/tcp-client.ts";
import { mssOption, TCP_FLAG } from "../../../openflow/packet/tcp.ts";
import { asReceived, type PeerScript, TcpPeer } from "../../support/tcp-peer.ts";

const { syn: SYN, ack: ACK, fin: FIN, rst: RST } = TCP_FLAG;
const seg = (flags: number, seq: number, ack: number, text = "") =>
  asReceived({ flags, seq, ack, payload: Buffer.from(text) }, 1_000);
const opened = (request = "GET", iss = 100): TcpStep =>
  receive(connect(iss, Buffer.from(request), 0, 250).next, seg(SYN | ACK, 500, iss + 1), 10);
const brief = (s: SegmentOut) => [s.flags, s.seq, s.ack, Buffer.from(s.payload).toString()];

describe("opening", () => {
  test("SYN; then the request confirms the answer to it", () => {
    const first = connect(100, Buffer.from("GET"), 0, 250);
    expect(first.send.map(brief)).toEqual([[SYN, 100, 0, ""]]);
    const second = opened();
    expect(second.send.map(brief)).toEqual([[ACK | TCP_FLAG.psh, 101, 501, "GET"]]);
    expect(second.events).toEqual([{ kind: "connected" }]);
    expect(opened("").send.map(brief)).toEqual([[ACK, 101, 501, ""]]);
  });

  test("a reset that confirms the SYN refuses; one that does not is ignored", () => {
    const { next } = connect(100, Buffer.alloc(0), 0, 250);
    expect(receive(next, seg(RST | ACK, 0, 101), 1).events).toEqual([{ kind: "ended", how: "refused" }]);
    for (const forged of [seg(RST | ACK, 0, 102), seg(RST, 101, 0), seg(ACK | RST, 0, 100)]) {
      expect(receive(next, forged, 1)).toEqual({ next, send: [], events: [] });
    }
  });

  test("somebody of an older connection is reset, and the SYN stays good", () => {
    const { next } = connect(100, Buffer.alloc(0), 0, 250);
    const told = receive(next, seg(ACK, 7_000, 9_000), 1);
    expect(told.send.map(brief)).toEqual([[RST, 9_000, 0, ""]]);
    expect(told.next).toBe(next);
    expect(receive(next, seg(SYN, 7_000, 0), 1)).toEqual({ next, send: [], events: [] });
  });

  test("a SYN is repeated with growing pauses, and so is the request", () => {
    let { next }: TcpStep = connect(100, Buffer.from("GET"), 0, 250);
    const at: number[] = [];
    for (let now = 0; now < 2_000; now += 10) {
      const step = resend(next, now);
      ({ next } = step);
      if (step.send.length > 0) at.push(now);
    }
    expect(at).toEqual([250, 750, 1_750]);
    const { next: open } = opened();
    expect(resend(open, 259).send).toEqual([]);
    expect(resend(open, 260).send.map(brief)).toEqual([[ACK | TCP_FLAG.psh, 101, 501, "GET"]]);
  });

  test("the peer's segment size and window bound what is sent", () => {
    const { next } = connect(100, Buffer.from("0123456789abcdef"), 0, 250);
    const answer = {
      ...asReceived({ flags: SYN | ACK, seq: 500, ack: 101, payload: Buffer.alloc(0) }, 10, mssOption(4)),
    };
    const open = receive(next, answer, 1);
    expect(open.send.map((s) => Buffer.from(s.payload).toString())).toEqual(["0123", "4567", "89"]);
    const more = receive(open.next, seg(ACK, 501, 105), 2);
    expect(more.send.map((s) => Buffer.from(s.payload).toString())).toEqual(["abcd", "ef"]);
    const closedWindow = receive(open.next, { ...seg(ACK, 501, 111), window: 0 }, 2);
    expect(closedWindow.send).toEqual([]);
    expect(resend(closedWindow.next, 1_000).send.map(brief)).toEqual([[ACK | TCP_FLAG.psh, 111, 501, "a"]]);
  });
});

describe("ending", () => {
  test("a reset at the expected number ends, elsewhere in the window it is questioned, outside ignored", () => {
    const { next } = opened();
    expect(receive(next, seg(RST, 501, 0), 1).events).toEqual([{ kind: "ended", how: "reset" }]);
    expect(receive(next, seg(RST, 600, 0), 1)).toMatchObject({ send: [{ flags: ACK }], events: [] });
    expect(receive(next, seg(RST, 400, 0), 1)).toEqual({ next, send: [], events: [] });
  });

  test("a FIN ends only when all before it has come", () => {
    const { next } = opened();
    const early = receive(next, seg(FIN | ACK, 504, 104, "de"), 1);
    expect(early.events).toEqual([]);
    const rest = receive(early.next, seg(ACK, 501, 104, "abc"), 2);
    expect(rest.events.map((e) => (e.kind === "data" ? Buffer.from(e.bytes).toString() : e))).toEqual([
      "abc",
      "de",
      { kind: "ended", how: "closed" },
    ]);
    expect(rest.send.map(brief)).toEqual([[ACK, 104, 507, ""]]);
  });

  test("giving up resets: bare before the peer has answered, confirming after", () => {
    expect(abort(connect(100, Buffer.alloc(0), 0, 250).next).send.map(brief)).toEqual([[RST, 101, 0, ""]]);
    expect(abort(opened().next).send.map(brief)).toEqual([[RST | ACK, 104, 501, ""]]);
  });

  test("segments of nobody's connection are reset so that the sender takes it", () => {
    expect(brief(resetFor(seg(ACK, 500, 900, "late")))).toEqual([RST, 900, 0, ""]);
    expect(brief(resetFor(seg(SYN, 500, 0)))).toEqual([RST | ACK, 0, 501, ""]);
    expect(brief(resetFor(seg(FIN, 0xffff_ffff, 0, "x")))).toEqual([RST | ACK, 0, 1, ""]);
  });
});

interface Fate {
  readonly lost: boolean;
  readonly twice: boolean;
  readonly delay: number;
}

/** Lets client and peer talk over a bad network until the whole answer has come, or `limit` ms. */
function talk(
  script: PeerScript,
  request: Buffer,
  iss: readonly [number, number],
  fates: readonly Fate[],
  limit: number,
) {
  const peer = new TcpPeer(script, iss[1]);
  const events: TcpEvent[] = [];
  const wire: { at: number; to: "client" | "peer"; segment: SegmentOut }[] = [];
  let count = 0;
  let now = 0;
  const put = (to: "client" | "peer", segments: readonly SegmentOut[]): void => {
    for (const segment of segments) {
      // When the list of misfortunes is used up, the network is good.
      const fate = fates[count++] ?? { lost: false, twice: false, delay: 1 };
      if (!fate.lost) wire.push({ at: now + fate.delay, to, segment });
      if (fate.twice) wire.push({ at: now + fate.delay + 7, to, segment });
    }
  };
  const first = connect(iss[0], request, now, 250);
  let client: TcpClient = first.next;
  const apply = (step: TcpStep): void => {
    client = step.next;
    events.push(...step.events);
    put("peer", step.send);
  };
  apply(first);
  const received = (): number => events.reduce((n, e) => n + (e.kind === "data" ? e.bytes.length : 0), 0);
  const run = (until: () => boolean): void => {
    for (; now < limit && !until(); now++) {
      for (const w of wire.filter((x) => x.at <= now)) {
        wire.splice(wire.indexOf(w), 1);
        if (w.to === "peer") put("client", peer.receive(asReceived(w.segment, 0xffff)));
        else if (client.phase !== "ended") apply(receive(client, asReceived(w.segment, script.window), now));
        else if ((w.segment.flags & RST) === 0) put("peer", [resetFor(asReceived(w.segment, 0))]);
      }
      if (now % 300 === 299) put("client", peer.pending());
      apply(resend(client, now));
    }
  };
  run(() => received() === script.answer.length && (!script.thenClose || client.phase === "ended"));
  const before = client;
  if (client.phase !== "ended") apply(abort(client));
  // Should the reset get lost, the peer finds out when it closes.
  peer.close();
  run(() => wire.length === 0 && peer.pending().length === 0);
  return { peer, events, client: before, now };
}

describe("over a bad network", () => {
  const fate = fc.record({
    lost: fc.boolean(),
    twice: fc.boolean(),
    delay: fc.integer({ min: 1, max: 60 }),
  });
  const script = fc.record({
    answer: fc.uint8Array({ minLength: 1, maxLength: 600 }).map((b) => Buffer.from(b)),
    thenClose: fc.boolean(),
    segment: fc.integer({ min: 1, max: 200 }),
    window: fc.integer({ min: 1, max: 400 }),
  });
  const number = fc.oneof(fc.nat(0xffff_ffff), fc.integer({ min: 0xffff_ff00, max: 0xffff_ffff }));

  test("lost, doubled and reordered segments change nothing of what is read, and leave no connection behind", () => {
    const request = fc.uint8Array({ maxLength: 900 }).map((b) => Buffer.from(b));
    fc.assert(
      fc.property(script, request, fc.tuple(number, number), fc.array(fate, { maxLength: 25 }), (s, r, iss, fates) => {
        const { peer, events } = talk({ ...s, requestLength: r.length }, r, iss, fates, 400_000);
        const data = events.flatMap((e) => (e.kind === "data" ? [e.bytes] : []));
        expect(Buffer.concat(data)).toEqual(s.answer);
        expect(peer.request).toEqual(r);
        expect(events.filter((e) => e.kind === "connected")).toHaveLength(1);
        expect(events.filter((e) => e.kind === "ended")).toEqual(s.thenClose ? [{ kind: "ended", how: "closed" }] : []);
        if (!s.thenClose) expect(peer.state).toBe("closed");
      }),
      { numRuns: 150 },
    );
  });

  test("any segment in any state neither throws nor goes back", () => {
    const any = fc.record({
      flags: fc.nat(0x3f),
      seq: fc.oneof(fc.integer({ min: 480, max: 540 }), fc.nat(0xffff_ffff)),
      ack: fc.oneof(fc.integer({ min: 95, max: 110 }), fc.nat(0xffff_ffff)),
      payload: fc.uint8Array({ maxLength: 30 }),
      window: fc.nat(0xffff),
    });
    fc.assert(
      fc.property(fc.array(any, { maxLength: 30 }), (segments) => {
        let client = connect(100, Buffer.from("GET /"), 0, 250).next;
        let ended = 0;
        segments.forEach((s, i) => {
          const before = client;
          const step = receive(client, asReceived(s, s.window), i);
          client = step.next;
          ended += step.events.filter((e) => e.kind === "ended").length;
          if (before.phase === "open") {
            expect((client.rcvNxt - before.rcvNxt) | 0).toBeGreaterThanOrEqual(0);
            expect((client.sndUna - before.sndUna) | 0).toBeGreaterThanOrEqual(0);
            expect((client.sndNxt - client.sndUna) | 0).toBeGreaterThanOrEqual(0);
          }
          if (before.phase === "ended") expect(step).toEqual({ next: before, send: [], events: [] });
        });
        expect(ended).toBeLessThanOrEqual(1);
      }),
    );
  });
});
