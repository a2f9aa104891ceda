import { describe, expect, test } from "vitest";
import {
  cookie,
  featureSelector,
  isLearned,
  isOurs,
  ownerCookie,
  ownerMask,
  parseCookie,
} from "../../pipeline/cookies.ts";
import { floodGroup, ownsGroup, ownsMeter, puntMeter } from "../../pipeline/ownership.ts";
import { punt, puntClasses, puntMeters, puntOf } from "../../pipeline/punt.ts";

describe("cookies", () => {
  test("hold owner, feature, kind of object and object, each in its own bits", () => {
    expect(cookie("slot", { kind: "pool", id: 0x1234 })).toBe(0x4c42_07_05_00001234n);
    expect(cookie("vip", { kind: "address", id: 0xc0a80515 })).toBe(0x4c42_05_03_c0a80515n);
    expect(parseCookie(0x4c42_05_03_c0a80515n)).toEqual({
      feature: "vip",
      object: { kind: "address", id: 0xc0a80515 },
    });
  });

  test("of others are not ours, and unknown features of ours are not guessed at", () => {
    expect(isOurs(0x4c43_05_03_c0a80515n)).toBe(false);
    expect(parseCookie(0x4c43_05_03_c0a80515n)).toBeUndefined();
    expect(isOurs(0x4c42_ff_00_00000000n)).toBe(true);
    expect(parseCookie(0x4c42_ff_00_00000000n)).toBeUndefined();
    expect(isOurs(0n)).toBe(false);
  });

  test("tell learned flows from installed ones", () => {
    expect(isLearned(cookie("learned-fdb", { kind: "segment", id: 7 }))).toBe(true);
    expect(isLearned(cookie("learned-adjacency"))).toBe(true);
    expect(isLearned(cookie("adjacency"))).toBe(false);
    expect(isLearned(cookie("probe"))).toBe(false);
    expect(isLearned(0x4c43_20_00_00000000n)).toBe(false);
  });

  test("selectors match all of a feature and nothing else", () => {
    const { cookie: want, mask } = featureSelector("learned-fdb");
    expect(cookie("learned-fdb", { kind: "segment", id: 0xffff }) & mask).toBe(want);
    expect(cookie("learned-adjacency") & mask).not.toBe(want);
    expect(cookie("learned-fdb") & ownerMask).toBe(ownerCookie);
  });
});

describe("numbers of groups and meters", () => {
  test("are ours in our ranges only", () => {
    expect(floodGroup(2)).toBe(653002);
    expect([653000, 653001, 718535, 718536].map(ownsGroup)).toEqual([false, true, true, false]);
    expect([6530, 6531, 6545, 6546].map(ownsMeter)).toEqual([false, true, true, false]);
  });

  test("every class of packet-ins has a meter of its own and is known again by its userdata", () => {
    const names = Object.keys(puntClasses) as (keyof typeof puntClasses)[];
    expect(new Set(puntMeters.map((m) => m.meterId)).size).toBe(names.length);
    for (const name of names) {
      const { userdata, meterId } = punt(name);
      expect(puntOf(userdata!)).toBe(name);
      expect(meterId).toBe(puntMeter(puntClasses[name].id));
    }
    expect(puntOf(Buffer.from("00000063", "hex"))).toBeUndefined();
    expect(puntOf(Buffer.from("0001", "hex"))).toBeUndefined();
  });
});
