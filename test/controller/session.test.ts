import pino from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sendBundle } from "../../controller/reconcile/bundle.ts";
import { ListenError, OpenFlowListener } from "../../controller/session/listener.ts";
import type { SwitchError } from "../../controller/session/requests.ts";
import { DEFAULT_TIMEOUTS, type Session, type SessionTimeouts } from "../../controller/session/session.ts";
import { encode } from "../../openflow/codec.ts";
import type { Message } from "../../openflow/messages/all.ts";
import { FakeSwitch, type FakeSwitchOptions } from "../support/fake-switch.ts";

const log = pino({ level: "silent" });
const until = async (what: string, check: () => boolean, ms = 3_000): Promise<void> => {
  const deadline = Date.now() + ms;
  while (!check()) {
    if (Date.now() > deadline) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((r) => setTimeout(r, 5));
  }
};

describe("OpenFlow sessions", () => {
  let listener: OpenFlowListener;
  let port: number;
  let ready: Session[];
  let messages: Message[];
  let errors: SwitchError[];
  let reasons: string[];
  const switches: FakeSwitch[] = [];

  const start = async (timeouts: Partial<SessionTimeouts> = {}): Promise<void> => {
    ready = [];
    messages = [];
    errors = [];
    reasons = [];
    listener = new OpenFlowListener(
      {
        ready: (s) => void ready.push(s),
        message: (_s, m) => void messages.push(m),
        error: (_s, e) => void errors.push(e),
        closed: (_s, reason) => void reasons.push(reason),
      },
      log,
      { ...DEFAULT_TIMEOUTS, ...timeouts },
    );
    ({ port } = await listener.listen({ host: "127.0.0.1", port: 0 }));
  };
  const join = (options: FakeSwitchOptions = {}): FakeSwitch => {
    const s = new FakeSwitch(port, options);
    switches.push(s);
    return s;
  };

  beforeEach(() => start());
  afterEach(async () => {
    for (const s of switches.splice(0)) s.end();
    await listener.close();
  });

  test.each([undefined, 1, 3])("handshake with pieces of %s bytes", async (chunk) => {
    join({ datapathId: 0xabcn, ...(chunk === undefined ? {} : { chunk }) });
    await until("ready", () => ready.length === 1);
    expect(ready[0]?.features.datapathId).toBe("0000000000000abc");
  });

  test("many messages in one write: each is handled, and an echo comes back with its xid and payload", async () => {
    const sw = join();
    await until("ready", () => ready.length === 1);
    const port_status = { type: "port_status", xid: 0, reason: 0, port: somePort(7) } as const;
    sw.write(
      Buffer.concat([
        encode(port_status),
        encode({ type: "echo_request", xid: 77, data: Buffer.from("ping") }),
        encode({ ...port_status, reason: 1 }),
      ]),
    );
    await until("echo", () => sw.of("echo_reply").length === 1 && messages.length === 2);
    expect(sw.of("echo_reply")[0]).toMatchObject({ xid: 77, data: Buffer.from("ping") });
    expect(messages.map((m) => m.type === "port_status" && m.reason)).toEqual([0, 1]);
  });

  test.each([
    ["eight zero bytes", "0000000000000000", "OFPBRC_BAD_VERSION"],
    ["length 0", "0402000000000001", "OFPBRC_BAD_LEN"],
    ["length 4", "0402000400000001", "OFPBRC_BAD_LEN"],
    ["length 7", "0402000700000001", "OFPBRC_BAD_LEN"],
    ["version 1 in mid-session", "010d000800000001", "OFPBRC_BAD_VERSION"],
  ])("%s ends this session with an OFPT_ERROR and no other", async (_name, hex, code) => {
    const other = join({ datapathId: 2n });
    const sw = join();
    await until("both ready", () => ready.length === 2);
    sw.write(Buffer.from(hex, "hex"));
    await until("closed", () => sw.closed);
    expect(sw.of("error").map((m) => [m.error.errorType, m.error.code])).toEqual([
      [1, code === "OFPBRC_BAD_VERSION" ? 0 : 6],
    ]);
    expect(other.closed).toBe(false);
    join({ datapathId: 3n });
    await until("a new connection is accepted", () => ready.length === 3);
  });

  test("a message that is well framed but bad inside is answered and survived", async () => {
    const sw = join();
    await until("ready", () => ready.length === 1);
    // A PORT_STATUS of 16 bytes: its description is missing.
    sw.write(Buffer.from("040c0010000000050000000000000000", "hex"));
    await until("error", () => sw.of("error").length === 1);
    expect(sw.of("error")[0]?.xid).toBe(5);
    expect(sw.closed).toBe(false);
  });

  test("a peer without 1.3 gets HELLO_FAILED in words, then the end", async () => {
    const sw = join({ hello: Buffer.from("050000100000000100010008 00000022".replace(" ", ""), "hex") });
    await until("closed", () => sw.closed);
    const [error] = sw.of("error");
    expect([error?.error.errorType, error?.error.code]).toEqual([0, 0]);
    expect(error?.error.data.toString("ascii")).toMatch(/only OpenFlow 1\.3.*1\.0, 1\.4/);
  });

  test("silence in the handshake ends it", async () => {
    await listener.close();
    await start({ handshakeMs: 150, echoMs: 100 });
    const sw = join({ on: () => true });
    await until("closed", () => sw.closed);
    expect(reasons[0]).toContain("no complete handshake within 0.15 s");
  });

  test("a switch that falls silent is asked by echo and then given up", async () => {
    await listener.close();
    await start({ echoMs: 60, deadMs: 300 });
    let silent = false;
    const sw = join({ on: () => silent });
    await until("ready", () => ready.length === 1);
    silent = true;
    await until("closed", () => sw.closed);
    expect(sw.of("echo_request").length).toBeGreaterThan(0);
    expect(reasons[0]).toContain("silent");
  });

  test("length 65535 and then nothing: the session ends by the dead timer, memory stays bounded", async () => {
    await listener.close();
    await start({ echoMs: 60, deadMs: 200 });
    const sw = join();
    await until("ready", () => ready.length === 1);
    sw.write(Buffer.from("040affff00000001", "hex"));
    await until("closed", () => sw.closed);
  });

  test("an error is named after the object it is about", async () => {
    const sw = join({
      on: (m, self) => {
        if (m.type !== "flow_mod") return false;
        self.send({ type: "error", xid: m.xid, error: { errorType: 5, code: 1, data: Buffer.alloc(64) } });
        return true;
      },
    });
    await until("ready", () => ready.length === 1);
    ready[0]?.send(emptyFlowMod, "listener http of web, table 10");
    await until("error", () => errors.length === 1);
    expect(errors[0]?.code).toBe("OFPFMFC_TABLE_FULL");
    expect(errors[0]?.message).toBe("listener http of web, table 10: the switch answers OFPFMFC_TABLE_FULL");
    expect(sw.closed).toBe(false);
  });

  test("a bundle whose message is refused at ADD time is discarded, not committed", async () => {
    const sw = join({
      on: (m, self) => {
        if (m.type !== "bundle_add_message" || m.message.type !== "flow_mod" || m.message.priority !== 2) return false;
        self.send({ type: "error", xid: m.xid, error: { errorType: 2, code: 0, data: Buffer.alloc(64) } });
        return true;
      },
    });
    await until("ready", () => ready.length === 1);
    const items = [1, 2, 3].map((priority) => ({ message: { ...emptyFlowMod, priority }, what: `flow ${priority}` }));
    const result = await sendBundle(ready[0] as Session, items);
    expect(result).toEqual({ kind: "refused", refusals: [{ index: 1, code: "OFPBAC_BAD_TYPE", what: "flow 2" }] });
    expect(sw.of("bundle_control").map((m) => m.controlType)).toEqual([0, 6]);
    for (const m of sw.of("bundle_add_message")) expect(m.message.xid).toBe(m.xid);
  });

  test("a connection lost around the commit leaves the result unknown", async () => {
    join({
      on: (m, self) => {
        if (m.type !== "bundle_control" || m.controlType !== 4) return false;
        self.end();
        return true;
      },
    });
    await until("ready", () => ready.length === 1);
    const result = await sendBundle(ready[0] as Session, [{ message: emptyFlowMod, what: "flow" }]);
    expect(result.kind).toBe("unknown");
  });

  test("a multipart answer that breaks off is a failure, not a short list", async () => {
    join({
      on: (m, self) => {
        if (m.type !== "flow_stats_request") return false;
        self.send({ type: "flow_stats_reply", xid: m.xid, flags: 1, flows: [] });
        self.end();
        return true;
      },
    });
    await until("ready", () => ready.length === 1);
    const { dumpFlows } = await import("../../controller/reconcile/observe.ts");
    await expect(dumpFlows(ready[0] as Session, { cookie: 0n, cookieMask: 0n })).rejects.toThrow(/closed|ended/);
  });

  test("a port that is taken is one clear sentence", async () => {
    const second = new OpenFlowListener(
      { ready: () => undefined, message: () => undefined, error: () => undefined, closed: () => undefined },
      log,
    );
    const failure = second.listen({ host: "127.0.0.1", port });
    await expect(failure).rejects.toThrow(ListenError);
    await expect(failure).rejects.toThrow(
      `OpenFlow cannot listen on 127.0.0.1:${port}: the port is taken by another program`,
    );
  });
});

const emptyFlowMod = {
  type: "flow_mod",
  cookie: 0n,
  cookieMask: 0n,
  tableId: 10,
  command: 0,
  idleTimeout: 0,
  hardTimeout: 0,
  priority: 1,
  bufferId: 0xffff_ffff,
  outPort: 0xffff_ffff,
  outGroup: 0xffff_ffff,
  flags: 0,
  match: [],
  instructions: [],
} as const;

const somePort = (portNo: number) => ({
  portNo,
  hwAddr: 0x020000000001,
  name: `p${portNo}`,
  config: 0,
  state: 4,
  curr: 0,
  advertised: 0,
  supported: 0,
  peer: 0,
  currSpeed: 0,
  maxSpeed: 0,
});
