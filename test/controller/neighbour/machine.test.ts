import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  DEFAULT_NUD,
  type Moment,
  NEW_NUD,
  type Nud,
  type NudEffect,
  type NudEvent,
  type NudState,
  published,
  step,
} from "../../../controller/neighbour/machine.ts";

const A = 0x02000000000a;
const B = 0x02000000000b;
const NOW = 100_000;

const at = (now: number, mayAskAt = now): Moment => ({ now, random: 0.5, mayAskAt });

const known = { mac: A, port: 1 };
const longAgo = { mode: "broadcast", at: NOW - 50_000, answeredBy: A } as const;

/** One entry of each state; its question is so old that no answer to it can come. */
const entries: Readonly<Record<NudState, Nud>> = {
  none: NEW_NUD,
  incomplete: { ...NEW_NUD, state: "incomplete", probes: 1, asked: { ...longAgo }, deadline: NOW },
  reachable: { ...NEW_NUD, state: "reachable", ...known, asked: longAgo, deadline: NOW },
  stale: { ...NEW_NUD, state: "stale", ...known, asked: longAgo, deadline: NOW },
  probe: { ...NEW_NUD, state: "probe", ...known, probes: 1, asked: longAgo, deadline: NOW },
  failed: { ...NEW_NUD, state: "failed", inUse: true, asked: { ...longAgo }, deadline: NOW },
  permanent: { ...NEW_NUD, state: "permanent", ...known },
};

const events = {
  use: { kind: "use", inUse: true },
  unuse: { kind: "use", inUse: false },
  timer: { kind: "timer" },
  "late reply, same": { kind: "reply", ...known },
  "late reply, other": { kind: "reply", mac: B, port: 2 },
  "hint, same": { kind: "hint", ...known },
  "hint, other port": { kind: "hint", mac: A, port: 2 },
  "hint, other MAC": { kind: "hint", mac: B, port: 2 },
  wanted: { kind: "wanted" },
  adopt: { kind: "adopt", mac: B, port: 2 },
  port_down: { kind: "port_down", port: 1 },
  "other port_down": { kind: "port_down", port: 2 },
  port_up: { kind: "port_up" },
  permanent: { kind: "permanent", mac: B, port: 3 },
  unset: { kind: "unset" },
  reset: { kind: "reset" },
} as const satisfies Record<string, NudEvent>;

const effectText = (effect: NudEffect): string =>
  effect.kind === "solicit"
    ? effect.mode === "broadcast"
      ? "ask all"
      : `ask ${effect.mac === A ? "A" : "B"}@${effect.port}`
    : effect.kind;

/** State and effects after an event, in short. `=` stands for: nothing happened at all. */
const outcome = (n: Nud, event: NudEvent): string => {
  const { next, effects } = step(n, event, at(NOW), DEFAULT_NUD);
  if (effects.length === 0 && JSON.stringify(next) === JSON.stringify(n)) return "=";
  return [next.state, ...effects.map(effectText)].join(", ");
};

// Rows: events; columns: none, incomplete, reachable, stale, probe, failed (in use), permanent.
const TABLE: Readonly<Record<keyof typeof events, readonly string[]>> = {
  use: ["incomplete, ask all", "incomplete", "probe, ask A@1", "probe, ask A@1", "probe", "=", "permanent"],
  unuse: ["=", "=", "=", "=", "=", "none, forget", "="],
  timer: ["=", "incomplete, ask all", "stale", "probe, ask A@1", "probe, ask A@1", "failed, ask all", "="],
  "late reply, same": ["=", "=", "=", "=", "=", "incomplete, ask all", "="],
  "late reply, other": ["=", "=", "probe, ask A@1", "probe, ask A@1", "probe", "incomplete, ask all", "="],
  "hint, same": ["=", "=", "=", "=", "=", "incomplete, ask all", "="],
  "hint, other port": ["=", "=", "probe, ask A@2", "probe, ask A@2", "=", "incomplete, ask all", "permanent"],
  "hint, other MAC": ["=", "=", "probe, ask A@1", "probe, ask A@1", "probe", "incomplete, ask all", "="],
  wanted: ["incomplete, ask all", "=", "=", "probe, ask A@1", "=", "incomplete, ask all", "="],
  adopt: ["stale", "stale", "probe, ask A@1", "probe, ask A@1", "=", "stale", "="],
  port_down: ["=", "=", "none, forget", "none, forget", "none, forget", "=", "="],
  "other port_down": ["=", "=", "=", "=", "=", "=", "="],
  port_up: ["=", "incomplete", "=", "=", "=", "incomplete, ask all", "="],
  permanent: ["permanent", "permanent", "permanent", "permanent", "permanent", "permanent", "permanent"],
  unset: ["=", "=", "=", "=", "=", "=", "none, forget"],
  reset: ["=", "none, forget", "none, forget", "none, forget", "none, forget", "incomplete, ask all", "="],
};

describe("every event in every state", () => {
  const states = Object.keys(entries) as NudState[];
  const cases = Object.entries(TABLE).flatMap(([name, row]) =>
    states.map((state, column) => [name, state, row[column]!] as const),
  );

  test.each(cases)("%s in %s: %s", (name, state, expected) => {
    expect(outcome(entries[state], events[name as keyof typeof events])).toBe(expected);
  });
});

/** Applies events at their times; the entry at the end and all effects with their times. */
const play = (start: Nud, ...script: readonly (readonly [number, NudEvent])[]) => {
  let nud = start;
  const log: string[] = [];
  for (const [now, event] of script) {
    const { next, effects } = step(nud, event, at(now), DEFAULT_NUD);
    nud = next;
    log.push(...effects.map((effect) => `${now} ${effectText(effect)}`));
  }
  return { nud, log };
};

const timer: NudEvent = { kind: "timer" };
const replyOf = (mac: number, port: number): NudEvent => ({ kind: "reply", mac, port });
const inUse: NudEvent = { kind: "use", inUse: true };

describe("resolution", () => {
  test("an answer makes it reachable until its time is over", () => {
    const { nud } = play(NEW_NUD, [0, inUse], [10, replyOf(A, 1)]);
    expect(nud).toMatchObject({ state: "reachable", mac: A, port: 1, confirmedAt: 10 });
    expect(nud.deadline).toBe(10 + 5_000 * 0.9);
  });

  test("jitter only shortens", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (random) => {
        const asked = step(NEW_NUD, inUse, { now: 0, random, mayAskAt: 0 }, DEFAULT_NUD).next;
        const { deadline } = step(asked, replyOf(A, 1), { now: 0, random, mayAskAt: 0 }, DEFAULT_NUD).next;
        expect(deadline).toBeGreaterThanOrEqual(4_000);
        expect(deadline).toBeLessThanOrEqual(5_000);
      }),
    );
  });

  test("one that nobody uses and nobody answers for is forgotten", () => {
    const { nud, log } = play(NEW_NUD, [0, { kind: "wanted" }], [1_000, timer], [2_000, timer], [3_000, timer]);
    expect(nud).toMatchObject({ state: "none", inUse: false });
    expect(log).toEqual(["0 ask all", "1000 ask all", "2000 ask all", "3000 give_up", "3000 forget"]);
  });

  test("one in use is asked for ever: after 1, 2, 4, 8, 16, 30, 30 s", () => {
    let { nud } = play(NEW_NUD, [0, inUse], [1_000, timer], [2_000, timer], [3_000, timer]);
    expect(nud.state).toBe("failed");
    const times = [3_000];
    for (let i = 0; i < 8; i++) {
      const now = nud.deadline!;
      const result = step(nud, timer, at(now), DEFAULT_NUD);
      expect(result.effects.map(effectText)).toEqual(["ask all"]);
      nud = result.next;
      times.push(now);
    }
    const pauses = times.slice(1).map((time, index) => (time - times[index]!) / 1000);
    expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
  });

  test("a packet that wants a failed one has it asked at once, but once a second", () => {
    const dead: Nud = { ...entries.failed, asked: { mode: "broadcast", at: 0 }, deadline: 30_000 };
    expect(play(dead, [999, { kind: "wanted" }]).log).toEqual([]);
    expect(play(dead, [1_000, { kind: "wanted" }]).log).toEqual(["1000 ask all"]);
  });

  test("a port that comes up within a second after a question has it asked when the second is over", () => {
    const dead: Nud = { ...entries.failed, asked: { mode: "broadcast", at: 0 }, deadline: 30_000 };
    const { nud, log } = play(dead, [400, { kind: "port_up" }], [1_000, timer]);
    expect(log).toEqual(["1000 ask all"]);
    expect(nud.state).toBe("incomplete");
  });
});

describe("confirmation", () => {
  const good = play(NEW_NUD, [0, inUse], [10, replyOf(A, 1)]).nud;

  test("the known MAC is asked first, everybody after two questions, and it stays published meanwhile", () => {
    const script = [4_510, 5_010, 5_510, 6_510, 7_510] as const;
    const { nud, log } = play(good, ...script.map((now) => [now, timer] as const));
    expect(log).toEqual(["4510 ask A@1", "5010 ask A@1", "5510 ask all", "6510 ask all", "7510 ask all"]);
    expect(published(nud)).toEqual(known);
    const end = step(nud, timer, at(8_510), DEFAULT_NUD);
    expect(end.effects).toEqual([{ kind: "give_up" }]);
    expect(end.next.state).toBe("failed");
    expect(published(end.next)).toBeUndefined();
  });

  test("another port is believed when the machine itself answers from there", () => {
    const { nud } = play(good, [4_510, timer], [4_511, replyOf(A, 7)]);
    expect(published(nud)).toEqual({ mac: A, port: 7 });
  });

  test("a question to one MAC is not answered by another", () => {
    const { nud } = play(good, [4_510, timer], [4_511, replyOf(B, 2)]);
    expect(published(nud)).toEqual(known);
    const asked = play(nud, [5_010, timer], [5_510, timer], [5_511, replyOf(B, 2)]);
    expect(asked.log.filter((line) => line.includes("conflict"))).toEqual([]);
    expect(published(asked.nud)).toEqual({ mac: B, port: 2 });
  });

  test("a claim is checked with the known MAC for half a second, then with everybody", () => {
    const claim: NudEvent = { kind: "hint", mac: B, port: 2 };
    const { nud, log } = play(good, [1_000, claim], [1_500, timer], [1_501, replyOf(B, 2)]);
    expect(log).toEqual(["1000 ask A@1", "1500 ask all"]);
    expect(nud).toMatchObject({ state: "reachable", mac: B, port: 2 });
  });

  test("a claim while the known MAC still answers is a conflict and changes nothing", () => {
    const claim: NudEvent = { kind: "hint", mac: B, port: 2 };
    const asked = play(good, [1_000, claim]).nud;
    const { next, effects } = step(asked, replyOf(A, 1), at(1_001), DEFAULT_NUD);
    expect(effects).toEqual([{ kind: "conflict", macs: [A, B] }]);
    expect(published(next)).toEqual(known);
  });

  test("the first of two answers is believed; the second is a conflict, said once", () => {
    const second = step(good, replyOf(B, 2), at(20), DEFAULT_NUD);
    expect(second.effects).toEqual([{ kind: "conflict", macs: [A, B] }]);
    expect(published(second.next)).toEqual(known);
    expect(step(second.next, replyOf(B, 2), at(30), DEFAULT_NUD).effects).toEqual([]);
    expect(step(good, replyOf(A, 1), at(20), DEFAULT_NUD).effects).toEqual([]);
  });

  test("two MACs that answer in turn are a conflict", () => {
    const silent = [4_510, 5_010, 5_510].map((now) => [now, timer] as const);
    const moved = play(good, ...silent, [5_511, replyOf(B, 2)]);
    expect(moved.log.at(-1)).toBe("5510 ask all");
    const back = play(moved.nud, [10_011, timer], [10_511, timer], [11_011, timer], [11_012, replyOf(A, 1)]);
    expect(back.log.at(-1)).toBe("11012 conflict");
    expect(published(back.nud)).toEqual(known);
  });

  test("a reply long after the question is no answer", () => {
    const dead: Nud = { ...entries.failed, asked: { mode: "broadcast", at: 0 }, deadline: 30_000 };
    expect(play(dead, [1_000, replyOf(A, 1)]).nud.state).toBe("reachable");
    const late = play(dead, [1_001, replyOf(A, 1)]);
    expect(late.nud.state).toBe("incomplete");
    expect(published(late.nud)).toBeUndefined();
  });

  test("a port that goes down has one in use asked of everybody, and nothing is published", () => {
    const { nud, log } = play(good, [1_000, { kind: "port_down", port: 1 }]);
    expect(log).toEqual(["1000 ask all"]);
    expect(nud.state).toBe("incomplete");
    expect(published(nud)).toBeUndefined();
  });
});

describe("taking over", () => {
  test("what a switch holds is published as it is, and confirmed within a second", () => {
    const adopted = step(NEW_NUD, { kind: "adopt", ...known }, { now: 0, random: 1, mayAskAt: 0 }, DEFAULT_NUD);
    expect(adopted.effects).toEqual([]);
    expect(published(adopted.next)).toEqual(known);
    expect(adopted.next.deadline).toBe(1_000);
    expect(play(adopted.next, [1_000, timer]).log).toEqual(["1000 ask A@1"]);
  });

  test("what we confirmed ourselves is not given up for it", () => {
    const good = play(NEW_NUD, [0, inUse], [10, replyOf(A, 1)]).nud;
    const { nud, log } = play(good, [1_000, { kind: "adopt", mac: B, port: 2 }]);
    expect(log).toEqual(["1000 ask A@1"]);
    expect(published(nud)).toEqual(known);
  });

  test("an answer to a question from before is still one", () => {
    const { nud } = play(NEW_NUD, [0, inUse], [100, { kind: "adopt", ...known }], [200, replyOf(B, 2)]);
    expect(nud).toMatchObject({ state: "reachable", mac: B, port: 2 });
  });
});

describe("permanent", () => {
  test("keeps a place that was heard when the MAC is the same", () => {
    const again = (mac: number) => step(entries.reachable, { kind: "permanent", mac }, at(NOW), DEFAULT_NUD).next;
    expect(published(again(A))).toEqual(known);
    expect(published(again(B))).toBeUndefined();
  });

  test("is confirmed when it is no longer given but in use", () => {
    const used: Nud = { ...entries.permanent, inUse: true };
    expect(outcome(used, { kind: "unset" })).toBe("probe, ask A@1");
    const { port: _port, ...nowhere } = used;
    expect(outcome(nowhere, { kind: "unset" })).toBe("incomplete, ask all");
  });
});

describe("a question that may not be asked yet", () => {
  const askers: readonly (readonly [string, Nud, NudEvent])[] = [
    ["first", NEW_NUD, inUse],
    ["again", entries.incomplete, timer],
    ["confirming", { ...entries.reachable, inUse: true }, timer],
    ["confirming again", entries.probe, timer],
    ["claim", entries.reachable, events["hint, other MAC"]],
    ["failed", entries.failed, timer],
    ["reset", { ...entries.reachable, inUse: true }, { kind: "reset" }],
  ];

  test.each(askers)("%s: is put off, not left out and not counted", (_name, n, event) => {
    const later = NOW + 70;
    const held = step(n, event, at(NOW, later), DEFAULT_NUD);
    expect(held.effects).toEqual([{ kind: "held_back" }]);
    expect(held.next.deadline).toBe(later);
    const atOnce = step(n, event, at(NOW), DEFAULT_NUD);
    const asked = step(held.next, timer, at(later), DEFAULT_NUD);
    expect(asked.effects).toEqual(atOnce.effects);
    expect({ ...asked.next, asked: 0, deadline: 0 }).toEqual({ ...atOnce.next, asked: 0, deadline: 0 });
    expect(asked.next.deadline! - later).toBe(atOnce.next.deadline! - NOW);
  });
});
