import { describe, expect, test } from "vitest";
import { compile } from "../../pipeline/compile.ts";
import { cookie } from "../../pipeline/cookies.ts";
import { type Explainable, explainer } from "../../pipeline/explain.ts";
import { matchOf, tcp } from "../../pipeline/match.ts";
import { T } from "../../pipeline/tables.ts";
import { ip, seedState } from "../support/topology.ts";

const state = seedState(64);
const program = compile(state);
const explain = explainer(state, program);
const flow = (tableId: number, value: bigint, over: Partial<Explainable> = {}): Explainable => ({
  tableId,
  priority: 5,
  match: [],
  cookie: value,
  ...over,
});

describe("explainer", () => {
  test("names table, feature and object of a compiled flow and gives its sentence", () => {
    const wanted = matchOf({ ...tcp, ip_dst: ip("10.20.0.100"), tcp_dst: 80 });
    const listener = program.flows.find((f) => f.tableId === T.listeners && f.priority === 100);
    expect(explain({ ...listener!, match: wanted })).toEqual({
      table: "listeners",
      feature: "listener",
      object: "listener http",
      why: "Listener http on 10.20.0.100:80 chooses a slot of pool web.",
    });
  });

  test("has a sentence for every flow of the program", () => {
    for (const f of program.flows) {
      expect(explain(f).why).toMatch(/^[A-Z0-9].*[.?]$/);
      expect(explain(f).why).not.toMatch(/undefined|NaN|Not wanted/);
    }
  });

  test("knows learned flows, which no program holds", () => {
    expect(explain(flow(T.fdb, cookie("learned-fdb", { kind: "segment", id: 2 })))).toMatchObject({
      feature: "learned-fdb",
      object: "segment p2",
      why: "The switch saw this MAC as a source on that port.",
    });
  });

  test("says when a flow of ours is not wanted any more", () => {
    const stale = explain(flow(T.slots, cookie("slot", { kind: "pool", id: 99 })));
    expect(stale).toMatchObject({ feature: "slot", object: "pool 99" });
    expect(stale.why).toMatch(/^Not wanted any more; was for: Slot to member/);
  });

  test("does not claim what is not ours", () => {
    expect(explain(flow(97, 0xbeefn))).toEqual({
      table: "table 97",
      feature: "foreign",
      object: "",
      why: "Made by somebody else.",
    });
    expect(explain(flow(1, 0x4c42_7f_00_00000000n)).why).toBe("Made by another version of this program.");
  });
});
