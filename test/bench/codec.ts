/**
 * The codec beside os-ken, in turns on one machine, by CPU time: a busy neighbour then costs little. Numbers are medians
 * of the rounds. Both sides encode values that are built before, and what they make or read is compared first.
 */
import { strictEqual } from "node:assert";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { decode, encode } from "../../openflow/codec.ts";
import type { Message } from "../../openflow/messages/all.ts";
import { python } from "../support/python.ts";
import { bytesOf, COUNT, dnats, flowStats, packetIn, packetIn2, slots } from "./codec-messages.ts";
import type { Bench, Result } from "./main.ts";
import { rawSlot } from "./raw-flow-mod.ts";

const rounds = 5;
const seconds = 0.4;

interface Answer {
  readonly perSecond: number;
  readonly seen: unknown;
}

interface Peer {
  ask(op: string, duration: number, hex?: string): Promise<Answer>;
  stop(): void;
}

function startPeer(): Peer | undefined {
  if (!python.has("os_ken")) return undefined;
  const child = spawn(python.path, [new URL("codec_peer.py", import.meta.url).pathname], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(op, duration, hex) {
      child.stdin.write(`${JSON.stringify({ op, seconds: duration, hex })}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`codec_peer.py ended at ${op}`);
      return JSON.parse(value) as Answer;
    },
    stop: () => child.stdin.end(),
  };
}

/** `things` times the calls of `run` per second of CPU time. */
function rate(run: () => void, things: number): number {
  const begin = process.cpuUsage();
  let calls = 0;
  let used = 0;
  while (used < seconds * 1e6) {
    for (let i = 0; i < 10; i++) run();
    calls += 10;
    const { user, system } = process.cpuUsage(begin);
    used = user + system;
  }
  return (calls * things * 1e6) / used;
}

const median = (list: readonly number[]): number => list.toSorted((a, b) => a - b)[list.length >> 1] as number;

interface Trial {
  readonly name: string;
  /** What it is to the peer, which may have no such thing. */
  readonly op?: string;
  readonly hex?: string;
  readonly things: number;
  readonly run: () => void;
  /** What the peer must have seen, in JSON. */
  readonly expected?: unknown;
}

const encoding = (name: string, op: string, list: readonly Message[]): Trial => ({
  name,
  op,
  things: list.length,
  run: () => {
    for (const m of list) encode(m);
  },
  expected: bytesOf(list).toString("hex"),
});

function decoding(name: string, op: string, message: Message, things: number, expected: unknown): Trial {
  const bytes = encode(message);
  strictEqual(decode(bytes).ok, true);
  const hundred = 100;
  const times = things === 1 ? hundred : 1;
  return {
    name,
    op,
    hex: bytes.toString("hex"),
    things: things * times,
    run: () => {
      for (let i = 0; i < times; i++) decode(bytes);
    },
    expected,
  };
}

function trials(): Trial[] {
  const raw = Buffer.concat(slots.map((m, i) => rawSlot(m.xid, i)));
  strictEqual(raw.equals(bytesOf(slots)), true);
  const { flows } = flowStats;
  const flowsSeen = flows.map((f, i) => [f.priority, Number(f.cookie % 65536n), i]);
  const { totalLen, tableId, data } = packetIn;
  return [
    encoding("encode flow_mod slot", "slot", slots),
    encoding("encode flow_mod dnat", "dnat", dnats),
    {
      name: "raw writes flow_mod slot",
      things: COUNT,
      run: () => {
        for (let i = 0; i < COUNT; i++) rawSlot(i, i);
      },
    },
    decoding("decode flow_stats, flows", "flow_stats", flowStats, flows.length, flowsSeen),
    decoding("decode packet_in", "packet_in", packetIn, 1, [totalLen, tableId, 3, data.toString("hex")]),
    decoding("decode packet_in2", "packet_in2", packetIn2, 1, "NXTPacketIn2"),
  ];
}

/** Ours, and os-ken's where it is installed. */
export const codec: Bench = async () => {
  const peer = startPeer();
  const results: Result[] = [];
  for (const { name, op, hex, things, run, expected } of trials()) {
    const asked = op === undefined ? undefined : peer;
    if (asked && op !== undefined) {
      const { seen } = await asked.ask(op, 0, hex);
      // The two are long: which trial it was says more than where they differ.
      strictEqual(JSON.stringify(seen) === JSON.stringify(expected), true, `${name}: os-ken's is another`);
    }
    rate(run, things);
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      ours.push(rate(run, things));
      if (asked && op !== undefined) theirs.push((await asked.ask(op, seconds, hex)).perSecond);
    }
    const us = median(ours);
    const other = theirs.length > 0 ? median(theirs) : null;
    results.push({ name, us, peer: other, ratio: other === null ? null : us / other });
  }
  peer?.stop();
  return { results, ...(peer ? {} : { note: "no peer: install python3-os-ken" }) };
};
