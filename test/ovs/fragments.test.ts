import { afterAll, beforeAll, expect, test } from "vitest";
import { defaultDatapath } from "../../src/lab/ovs.ts";
import { patience } from "../../src/lab/patience.ts";
import type { HostName } from "../../src/lab/topology.ts";
import { countPackets } from "../../src/lab/verify/dump.ts";
import { onWire } from "../../src/lab/verify/wire.ts";
import { eventually, type NodeUnderTest, startNode } from "../support/node-under-test.ts";
import { describeOvs } from "../support/ovs.ts";
import { python } from "../support/python.ts";

const config = new URL("./fragments-topology.yaml", import.meta.url).pathname;
const program = new URL("../support/fragments.py", import.meta.url).pathname;

const PUBLIC = "192.168.5.21";
const PRIVATE = "10.20.0.100";
const MIXED = "192.168.5.22";
const ALONE = "10.20.0.101";
const ROUTER = { client: "02:42:c0:a8:05:14", cli2: "02:42:0a:14:00:01" } as const;
const MEMBERS = ["be1", "be2", "be3", "be4"] as const;
const SIZE = 4000;

/** An answer that a client got. */
interface Answer {
  readonly length: number;
  readonly from: string;
  readonly backend: string;
  readonly client: string;
}

const parse = (text: string): readonly (Answer | "silence")[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [, length, ip, port, backend, client] = /^(\d+) (\S+) (\d+) backend=(\S+) .*client=(\S+)/.exec(line) ?? [];
      if (line === "silence") return "silence";
      return { length: Number(length), from: `${ip}:${port}`, backend: backend!, client: client! };
    });

/** Linux goes on with whole datagrams, see pipeline/README. */
const kernel = defaultDatapath() === "system";

describeOvs("datagrams in fragments", () => {
  let node: NodeUnderTest;
  let port = 20_000;

  beforeAll(async () => {
    node = await startNode("tfrag", { config });
  });
  afterAll(async () => node?.end());

  const run = async (host: HostName, ...args: readonly (string | number)[]) =>
    parse(await node.lab.exec(host, [python.path, program, ...args.map(String)], { timeoutMs: patience(60_000) }));
  const appctl = (...args: readonly string[]) => node.lab.exec("ovs", ["ovs-appctl", ...args]);
  const captured = (host: HostName, during: () => Promise<readonly (Answer | "silence")[]>) =>
    onWire(node.lab, [host, ...MEMBERS], during, { filter: "udp" });
  /** What a client asks a VIP, and what may be said about each answer. */
  const expected = (ip: string, at: number, address: string, source: number, backend: unknown = expect.anything()) => ({
    length: SIZE,
    from: `${ip}:${at}`,
    client: `${address}:${source}`,
    backend,
  });

  test("reach one member as they are and are answered in fragments by the VIP, from the first one on", async () => {
    const source = ++port;
    const { wire, result } = await captured("client", () => run("client", "ask", PUBLIC, 5300, source, SIZE, SIZE));
    const first = result[0] as Answer;
    expect(result).toEqual([1, 2].map(() => expected(PUBLIC, 5300, "192.168.5.13", source, first.backend)));
    for (const name of MEMBERS) {
      const there = wire(name).filter((f) => f.ipSrc === "192.168.5.13");
      expect(there.map((f) => [f.ipFragmentOffset, f.ipMoreFragments, f.ipTtl])).toEqual(
        name === first.backend
          ? [1, 2].flatMap(() => [
              [0, true, 63],
              [1480, true, 63],
              [2960, false, 63],
            ])
          : [],
      );
    }
    const back = wire("client").filter((f) => f.ipDst === "192.168.5.13");
    expect(back.map((f) => [f.ipSrc, f.ipFragmentOffset, f.ipTtl])).toEqual(
      [1, 2].flatMap(() => [0, 1480, 2960].map((offset) => [PUBLIC, offset, 63])),
    );
    expect(back.filter((f) => f.ipChecksumOk === false)).toEqual([]);
  });

  test("that open connections: one member for each client in userspace; the kernel has them whole and sees ports", async () => {
    const answers: (Answer | "silence")[] = [];
    for (const listener of [5300, 5310, 5300, 5310, 5300, 5310, 5300, 5310])
      answers.push(...(await run("client", "ask", PUBLIC, listener, ++port, SIZE)));
    expect(answers).not.toContain("silence");
    const met = new Set(answers.map((a) => (a === "silence" ? a : a.backend)));
    if (kernel) expect(met.size).toBeGreaterThan(1);
    else expect(met.size).toBe(1);
  });

  test.each([
    ["in order", "0,1,2"],
    ["reversed", "2,1,0"],
    ["the first one last", "1,2,0"],
    ["the first one twice", "0,0,1,2"],
    ["a later one twice", "0,1,1,2"],
  ])("are delivered once: %s", async (_name, order) => {
    for (const [host, ip, address] of [
      ["client", PUBLIC, "192.168.5.13"],
      ["cli2", PRIVATE, "10.20.0.10"],
    ] as const) {
      const source = ++port;
      const answers = await run(host, "cut", ip, 5300, source, SIZE, ROUTER[host], order);
      expect(answers).toEqual([expected(ip, 5300, address, source), "silence"]);
    }
  });

  test.each([
    ["the first one", "1,2"],
    ["the last one", "0,1"],
    ["one in the middle", "0,2"],
  ])("reach nobody while %s is missing", async (_name, order) => {
    const { wire, result } = await captured("client", () =>
      run("client", "cut", PUBLIC, 5300, ++port, SIZE, ROUTER.client, order),
    );
    expect(result).toEqual(["silence", "silence"]);
    for (const name of MEMBERS) expect(wire(name).filter((f) => f.ipSrc === "192.168.5.13")).toEqual([]);
  });

  test("in a connection that began with a small one stay with its member: neighbours by TTL 64, others by TTL 63", async () => {
    const met = new Set<string>();
    for (let i = 0; i < 40 && met.size < MEMBERS.length; i++) {
      const source = ++port;
      const { wire, result } = await captured("cli2", () => run("cli2", "ask", PRIVATE, 5300, source, 10, SIZE, 10));
      const backend = (result[0] as Answer).backend as (typeof MEMBERS)[number];
      met.add(backend);
      expect(result).toMatchObject([
        { backend, from: `${PRIVATE}:5300` },
        expected(PRIVATE, 5300, "10.20.0.10", source, backend),
        { backend, from: `${PRIVATE}:5300` },
      ]);
      const ttl = backend === "be1" || backend === "be3" ? 64 : 63;
      const there = wire(backend).filter((f) => f.ipSrc === "10.20.0.10");
      expect(there.map((f) => f.ipTtl)).toEqual([ttl, ttl, ttl, ttl, ttl]);
      const back = wire("cli2").filter((f) => f.ipDst === "10.20.0.10");
      expect(back.map((f) => [f.ipSrc, f.ipTtl])).toEqual(Array.from({ length: 5 }, () => [PRIVATE, ttl]));
    }
    expect(met.size).toBe(4);
  });

  test("from another segment than the VIP's are served, too", async () => {
    const source = ++port;
    expect(await run("be4", "ask", ALONE, 5300, source, SIZE, SIZE)).toEqual(
      [1, 2].map(() => expected(ALONE, 5300, "10.30.0.3", source, "be1")),
    );
  });

  test("of a member that calls itself come back to it", async () => {
    const whole = { length: SIZE, backend: "be1", from: `${ALONE}:5300` };
    const first = await run("be1", "ask", ALONE, 5300, ++port, SIZE, SIZE);
    expect(first).toMatchObject([whole, whole]);
    expect(await run("be1", "ask", ALONE, 5300, ++port, 10, SIZE)).toMatchObject([{ backend: "be1" }, whole]);
    expect((first[0] as Answer).client).toBe(`${ALONE}:${port - 1}`);
  });

  test("to a port without a listener, or with one that is off, are dropped and counted in table 8", async () => {
    const dropped = () => countPackets(node.lab, "table=8", (f) => f.priority === 0);
    const before = await dropped();
    for (const closed of [5999, 5320])
      expect(await run("client", "ask", PUBLIC, closed, ++port, SIZE)).toEqual(["silence"]);
    await eventually("the first fragments are counted", 5_000, async () =>
      (await dropped()) >= before + 2 ? true : undefined,
    );
  });

  test("where listeners lead to several pools: in known connections; in userspace others are dropped in table 9", async () => {
    const near = { backend: "be1", length: SIZE, from: `${MIXED}:5310` };
    const dropped = () => countPackets(node.lab, "table=9", (f) => f.priority === 0);
    const before = await dropped();
    const first = await run("client", "ask", MIXED, 5310, ++port, SIZE);
    if (kernel) expect(first).toMatchObject([near]);
    else {
      expect(first).toEqual(["silence"]);
      await eventually("they are counted", 5_000, async () => ((await dropped()) >= before + 3 ? true : undefined));
    }
    expect(await run("client", "ask", MIXED, 5310, ++port, 10, SIZE)).toMatchObject([{ backend: "be1" }, near]);
  });

  test("of TCP: a segment of an open connection is delivered", async () => {
    const [answer] = await run("client", "tcp", "192.168.5.77", PUBLIC, 80, ++port, ROUTER.client);
    expect(answer).toMatchObject({ from: `${PUBLIC}:80`, client: `192.168.5.77:${port}` });
  });

  test("below 1,200 bytes are dropped by userspace, which can be told to want less", async () => {
    const ask = () => run("client", "cut", PUBLIC, 5300, ++port, SIZE, ROUTER.client, "0,1,2,3,4,5,6", 600);
    const served = () => [expected(PUBLIC, 5300, "192.168.5.13", port), "silence"];
    if (kernel) expect(await ask()).toEqual(served());
    else {
      expect(await ask()).toEqual(["silence", "silence"]);
      await appctl("dpctl/ipf-set-min-frag", "v4", "400");
      expect(await ask()).toEqual(served());
      await appctl("dpctl/ipf-set-min-frag", "v4", "1200");
    }
  });

  test("that never become whole take a bounded room for a bounded time", async () => {
    await run("client", "flood", PUBLIC, 5300, ROUTER.client, 20_000);
    if (!kernel) {
      expect(await appctl("dpctl/ipf-get-status")).toMatch(/max num frags .*: 1000\s+num frag: (1000|\d{3})\n/);
    }
    await eventually("there is room again", 60_000, async () => {
      const [answer] = await run("client", "ask", PUBLIC, 5300, ++port, SIZE);
      return answer === "silence" ? undefined : answer;
    });
  });
});
