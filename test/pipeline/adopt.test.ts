import { describe, expect, test } from "vitest";
import { setField } from "../../openflow/build.ts";
import { readNeighbours } from "../../pipeline/adopt.ts";
import { compile } from "../../pipeline/compile.ts";
import type { DesiredState } from "../../pipeline/model.ts";
import { ip, mac, seedState } from "../support/topology.ts";

const read = (s: DesiredState) => readNeighbours(compile(s).flows, s);
const byAddress = (s: DesiredState) => s.neighbours.toSorted((a, b) => a.ip - b.ip);

describe("readNeighbours", () => {
  test("gets back what was compiled, members and routers alike", () => {
    const s = seedState(64);
    expect(read(s)).toEqual(byAddress(s));
  });

  test("does not depend on the order of the dump", () => {
    const s = seedState(64);
    expect(readNeighbours(compile(s).flows.toReversed(), s)).toEqual(byAddress(s));
  });

  test("leaves out entries the operator gave", () => {
    const s = seedState(64);
    const given = { segment: 2, ip: ip("10.20.0.2"), mac: mac("02:00:00:00:00:99"), port: "be1" };
    expect(read({ ...s, staticNeighbours: [given] })).toEqual(byAddress(s).filter((n) => n.ip !== given.ip));
  });

  test("leaves out foreign flows, addresses outside every segment, and flows that do more than deliver", () => {
    const s = seedState(64);
    const flows = compile(s).flows;
    expect(
      readNeighbours(
        flows.map((f) => ({ ...f, cookie: 1n })),
        s,
      ),
    ).toEqual([]);
    expect(
      readNeighbours(flows, { ...s, segments: s.segments.filter((x) => x.id !== 2) }).map((n) => n.segment),
    ).toEqual([3, 3, 1]);
    const odd = flows.map((f) => ({
      ...f,
      instructions: f.instructions.map((i) =>
        i.kind === "apply_actions" ? { ...i, actions: [...i.actions, setField("ip_dst", 1)] } : i,
      ),
    }));
    expect(readNeighbours(odd, s)).toEqual([]);
  });
});
