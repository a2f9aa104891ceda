import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type MemberHealth, newMember, type ProbeResult, step } from "../../../controller/health/machine.ts";

const limits = { rise: 2, fall: 3 };
const result = (ok: boolean, at = 0): ProbeResult => ({ ok, reason: ok ? "connected" : "reset", ms: 1, at });
const played = (word: string, from = newMember(0), lim = limits): MemberHealth =>
  [...word].reduce((m, c, i) => {
    if (c === "a") return step(m, { kind: "adopted", at: i }, lim);
    return step(m, { kind: "probed", result: result(c === "+", i) }, lim);
  }, from);

/** The state by definition: the latest run of results that was long enough decides. */
const decided = (word: string, rise: number, fall: number): MemberHealth["state"] => {
  let state: MemberHealth["state"] = word.startsWith("a") ? "up" : "unknown";
  const results = word.replaceAll("a", "");
  for (let i = 1; i <= results.length; i++) {
    if (results.slice(0, i).endsWith("+".repeat(rise))) state = "up";
    if (results.slice(0, i).endsWith("-".repeat(fall))) state = "down";
  }
  return state;
};

describe("rise and fall", () => {
  test("every sequence of up to eight results, from unknown and adopted, at all limits up to four", () => {
    for (let rise = 1; rise <= 4; rise++) {
      for (let fall = 1; fall <= 4; fall++) {
        for (let length = 0; length <= 8; length++) {
          for (let bits = 0; bits < 1 << length; bits++) {
            const results = Array.from({ length }, (_, i) => (bits & (1 << i) ? "+" : "-")).join("");
            for (const word of [results, `a${results}`]) {
              const state = played(word, newMember(0), { rise, fall }).state;
              if (state !== decided(word, rise, fall))
                expect([word, rise, fall, state]).toBe(decided(word, rise, fall));
            }
          }
        }
      }
    }
    expect(played("+++---").state).toBe("down");
  });

  test.each([
    ["", "unknown"],
    ["+", "unknown"],
    ["++", "up"],
    ["+-+", "unknown"],
    ["---", "down"],
    ["++--", "up"],
    ["++---", "down"],
    ["++---+", "down"],
    ["++---++", "up"],
    ["a", "up"],
    ["a--", "up"],
    ["a---", "down"],
    ["a-+--", "up"],
  ])("%s is %s", (word, state) => {
    expect(played(word).state).toBe(state);
  });
});

describe("adoption", () => {
  test("holds until the probes decide", () => {
    expect(["a", "a+", "a-", "a++", "a---"].map((w) => played(w).adopted)).toEqual([true, true, true, false, false]);
  });

  test("comes too late once a probe has spoken", () => {
    expect([played("-a").state, played("---a").state, played("++---a").state]).toEqual(["unknown", "down", "down"]);
  });
});

describe("the record", () => {
  test("counts all probes and keeps the last ten, the newest first", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("+", "-"), { maxLength: 40 }), (word) => {
        const m = played(word.join(""));
        expect([m.probes, m.failures]).toEqual([word.length, word.filter((c) => c === "-").length]);
        expect(m.history.map((r) => (r.ok ? "+" : "-"))).toEqual(word.toReversed().slice(0, 10));
      }),
    );
  });

  test("remembers when the state was entered", () => {
    expect(played("++---").since).toBe(4);
    expect(played("++--+").since).toBe(1);
    expect(played("a").since).toBe(0);
  });
});
