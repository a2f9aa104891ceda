import { afterAll, beforeAll, expect, test } from "vitest";
import type { PlanView, SlotsView } from "../../controller/api/views.ts";
import { eventually, type NodeUnderTest, startNode } from "../support/node-under-test.ts";
import { describeOvs } from "../support/ovs.ts";

const config = new URL("./cases-topology.yaml", import.meta.url).pathname;
const VIP = "192.168.5.21";

/** Connections kept open; `ask` resolves to whether one is answered within 1.5 s, and says nothing of a socket that is not open. */
const HOLD = `
const net = require("net");
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const open = (port) => {
  const s = net.connect(port, "${VIP}");
  s.on("error", () => {});
  return s;
};
const ask = (s) => new Promise((resolve) => {
  const wait = setTimeout(() => resolve(false), 1500);
  s.once("data", () => { clearTimeout(wait); resolve(true); });
  s.write("GET / HTTP/1.1\\r\\nHost: lab\\r\\n\\r\\n");
});
const report = (value) => { console.log(JSON.stringify(value)); process.exit(0); };
`;

const LIMITED = `${HOLD}
(async () => {
  const first = [open(86), open(86)];
  const held = [await ask(first[0]), await ask(first[1])];
  const third = open(86);
  const refused = await ask(third);
  third.destroy();
  first[0].end();
  await sleep(7000);
  const later = open(86);
  report({ held, refused, later: await ask(later), stillHeld: await ask(first[1]) });
})();
`;

const SILENT = `${HOLD}
(async () => {
  const s = open(87);
  const answers = [await ask(s)];
  for (let i = 0; i < 3; i++) { await sleep(1000); answers.push(await ask(s)); }
  await sleep(5000);
  report({ answers, afterSilence: await ask(s), fresh: await ask(open(87)) });
})();
`;

const DATAGRAMS = `
const dgram = require("dgram");
const ask = () => new Promise((resolve) => {
  const s = dgram.createSocket("udp4");
  const wait = setTimeout(() => resolve(false), 1000);
  s.on("message", () => { clearTimeout(wait); resolve(true); });
  s.send("x", 5302, "${VIP}");
});
(async () => { console.log(JSON.stringify([await ask(), await ask(), await ask()])); process.exit(0); })();
`;

/** Opens connections until 40 are with one member, and closes those with others; then asks 60 times anew. */
const FEWEST = `${HOLD}
const whose = (s) => new Promise((resolve) => {
  s.once("data", (d) => resolve(/backend=(\\w+)/.exec(String(d))?.[1]));
  s.write("GET / HTTP/1.1\\r\\nHost: lab\\r\\n\\r\\n");
});
(async () => {
  const held = [];
  while (held.length < 40) {
    const s = open(88);
    if ((await whose(s)) === "be1") held.push(s);
    else s.end();
  }
  await sleep(10000);
  const seen = {};
  for (let i = 0; i < 60; i++) {
    const s = open(88);
    const name = await whose(s);
    seen[name] = (seen[name] ?? 0) + 1;
    s.end();
  }
  const kept = await Promise.all(held.map(whose));
  report({ seen, moved: kept.filter((name) => name !== "be1").length });
})();
`;

describeOvs("a listener that counts its connections", () => {
  let node: NodeUnderTest;

  beforeAll(async () => {
    node = await startNode("tcon", { config });
  });
  afterAll(async () => node?.end());

  const fromClient = async (script: string): Promise<unknown> =>
    JSON.parse(await node.lab.exec("client", [process.execPath, "-e", script]));

  /** Packets that flows of table 11 dropped because a listener was full or a connection was unknown. */
  const dropped = async (): Promise<number> => {
    const dump = await node.lab.ovs.ofctl("dump-flows", node.lab.bridge, "table=11");
    const counts = [...dump.matchAll(/n_packets=(\d+).*priority=200.*actions=drop/g)].map((m) => Number(m[1]));
    expect(counts).toHaveLength(3);
    return counts.reduce((a, b) => a + b);
  };

  const learned = async (): Promise<number> => {
    const dump = await node.lab.ovs.ofctl("dump-flows", node.lab.bridge, "table=13");
    return [...dump.matchAll(/idle_timeout=/g)].length;
  };

  test("lets in as many as it may, and another when one has ended", async () => {
    const before = await dropped();
    expect(await fromClient(LIMITED)).toEqual({ held: [true, true], refused: false, later: true, stillHeld: true });
    expect(await dropped()).toBeGreaterThan(before);
  });

  test("ends a connection that was silent for too long, and no other", async () => {
    expect(await fromClient(SILENT)).toEqual({
      answers: [true, true, true, true],
      afterSilence: false,
      fresh: true,
    });
  });

  test("counts clients' UDP ports too", async () => {
    expect(await fromClient(DATAGRAMS)).toEqual([true, true, false]);
  });

  test("a pool that prefers few open connections sends less to a member that has many, and moves none", async () => {
    const { seen, moved } = (await fromClient(FEWEST)) as { seen: Record<string, number>; moved: number };
    expect(moved).toBe(0);
    expect(seen["be1"] ?? 0).toBeLessThan(6);
    expect(Object.values(seen).reduce((a, b) => a + b)).toBe(60);
    await eventually("its slots come back when they have ended", 20_000, async () => {
      const pools = await node.api<readonly SlotsView[]>("/v1/slots");
      const fewest = pools.find((p) => p.pool === "fewest");
      return fewest?.members.every((m) => m.slots === 16) ? true : undefined;
    });
  });

  test("what the switch learned is no drift", async () => {
    expect(await learned()).toBeGreaterThan(0);
    const plans = await node.api<readonly PlanView[]>("/v1/plan");
    expect(plans.map((p) => p.error)).toEqual([null]);
    // Slots of the pool of the test before may be on the move, as its connections have just ended.
    const others = plans.flatMap((p) => p.operations).filter(({ text }) => !text.startsWith("table=11,"));
    expect(others).toEqual([]);
    expect(await learned()).toBeGreaterThan(0);
  });
});
