import { setTimeout as sleep } from "node:timers/promises";
import { currentDaemon, type Daemon } from "../daemon.ts";
import type { Lab } from "../handle.ts";
import { patience } from "../patience.ts";
import { LabError } from "../shell.ts";
import type { HostName } from "../topology.ts";
import type { CheckResult } from "./check.ts";
import { countSlots, readSlots } from "./dump.ts";
import { type Facts, hostSpec } from "./facts.ts";
import { onWire, type Seen } from "./wire.ts";

/** When a condition came true, in milliseconds since the waiting began: a look at a switch takes time itself. */
interface Took {
  /** When the last look began that still found it false. */
  readonly falseAt: number;
  /** When the first look ended that found it true. */
  readonly trueAt: number;
}

/** What a group of checks works with. */
export interface Bench {
  readonly lab: Lab;
  readonly facts: Facts;
  daemon(): Daemon;
  /** Records a check. */
  check(name: string, expected: string, saw: string, ok: boolean): void;
  /** Records a check that holds when both texts or numbers are the same. */
  same(name: string, expected: string | number, saw: string | number): void;
  /** Records a check that holds when something took no longer than `limit` milliseconds. */
  within(name: string, limit: number, took: Took | undefined): void;
  /** Registers what sets the lab right again; run in reverse order when the group is over, however it ended. */
  undo(step: () => Promise<unknown>): void;
  /** Captures on hosts while `during` runs. */
  watch<T>(
    hosts: readonly HostName[],
    during: () => Promise<T>,
    filter?: string,
  ): Promise<{ readonly wire: (host: HostName) => readonly Seen[]; readonly result: T }>;
  /** Gives frames to the switch as if they had come in at a host's port. */
  inject(host: HostName, frames: readonly Uint8Array[]): Promise<void>;
  /**
   * Waits for a condition, far longer than any check allows, so that what comes after a late one is not late as well.
   * Undefined when it never came true.
   */
  until(holds: () => Promise<boolean>): Promise<Took | undefined>;
  /** Waits until the switch sends connections to exactly these members. */
  untilServing(hosts: readonly HostName[]): Promise<Took | undefined>;
  pause(ms: number): Promise<void>;
  /** The controller's HTTP API. A body is sent as JSON. */
  api<T>(path: string, method?: "GET" | "POST" | "PUT" | "DELETE", body?: unknown): Promise<T>;
}

export interface Group {
  readonly name: string;
  readonly about: string;
  run(bench: Bench): Promise<void>;
}

/** Pause between two looks (see patience.ts); more of them would take the time of what they wait for. */
const pollMs = 80;

export function makeBench(
  lab: Lab,
  facts: Facts,
  group: string,
  record: (result: CheckResult) => void,
  undo: (() => Promise<unknown>)[],
): Bench {
  const check: Bench["check"] = (name, expected, saw, ok) => record({ group, name, expected, saw, ok });
  const until: Bench["until"] = async (holds) => {
    const begin = performance.now();
    for (let falseAt = 0; ; ) {
      const lookedAt = performance.now() - begin;
      if (await holds()) return { falseAt, trueAt: performance.now() - begin };
      falseAt = lookedAt;
      if (lookedAt > patience(30_000)) return undefined;
      await sleep(patience(pollMs));
    }
  };
  return {
    lab,
    facts,
    daemon: () => currentDaemon(lab),
    check,
    same: (name, expected, saw) => check(name, `${expected}`, `${saw}`, `${expected}` === `${saw}`),
    within: (name, limit, took) => {
      const seconds = (ms: number) => (ms / 1000).toFixed(2);
      check(
        name,
        `at most ${patience(limit) / 1000} s`,
        took === undefined ? "it did not happen" : `between ${seconds(took.falseAt)} and ${seconds(took.trueAt)} s`,
        // Too late for certain only if it was still false when the time was over.
        took !== undefined && took.falseAt <= patience(limit),
      );
    },
    undo: (step) => void undo.push(step),
    watch: (hosts, during, filter) => onWire(lab, hosts, during, { filter, started: (stop) => undo.push(stop) }),
    inject: async (host, frames) => {
      const hex = frames.map((frame) => Buffer.from(frame).toString("hex"));
      const { port } = hostSpec(host);
      // The old form of the command takes many packets; the port's name stays right when its number changes.
      await lab.ovs.ofctlWith("OpenFlow10", ["--names", "packet-out", lab.bridge, port, "resubmit(,0)", ...hex]);
    },
    until,
    untilServing: (hosts) => {
      const wanted = [...hosts].sort().join(" ");
      return until(async () => {
        const layout = await readSlots(lab, facts);
        return [...new Set(layout.values())].sort().join(" ") === wanted;
      });
    },
    pause: (ms) => sleep(patience(ms)),
    api: async (path, method = "GET", body) => {
      const response = await fetch(new URL(path, currentDaemon(lab).web), {
        method,
        ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(patience(10_000)),
      });
      if (!response.ok) throw new LabError(`${path}: ${response.status} ${await response.text()}`);
      const text = await response.text();
      return (text === "" ? undefined : JSON.parse(text)) as never;
    },
  };
}

/** What every group may take for granted: all members serve. @throws LabError when they do not. */
export async function requireAllServing(bench: Bench): Promise<void> {
  const all = bench.facts.members.map(({ host }) => host);
  if ((await bench.untilServing(all)) !== undefined) return;
  throw new LabError(`not all backends serve: ${countSlots(await readSlots(bench.lab, bench.facts))}`);
}
