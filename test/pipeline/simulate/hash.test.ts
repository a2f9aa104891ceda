import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Multipath } from "../../../openflow/action-values-nx.ts";
import { lookup3, multipathLink } from "../../../pipeline/simulate/hash.ts";
import { stateOf } from "../../../pipeline/simulate/packet.ts";
import { packet } from "../../support/flows.ts";

const lines = readFileSync(new URL("../../../fixtures/multipath.txt", import.meta.url), "utf8")
  .trim()
  .split("\n");

const actions = lines
  .flatMap((line) => /^# (\S+,\d+,\w+,\d+,\d+)$/.exec(line)?.[1] ?? [])
  .map((text) => {
    const [fields, basis, algorithm, links, arg] = text.split(",");
    // The words in the file are those of ovs-actions(7).
    return { fields, basis: Number(basis), algorithm, links: Number(links), arg: Number(arg) } as Omit<
      Multipath,
      "kind" | "dst"
    >;
  });

const vectors = lines.flatMap((line) => {
  const [match, registers] = line.split(" | ");
  if (match === undefined || registers === undefined) return [];
  const links = Object.fromEntries(registers.split(" ").map((r) => r.split("=")));
  return [{ match, links: actions.map((_, i) => Number(links[`reg${i}`] ?? 0)) }];
});

describe("multipath", () => {
  test("there are vectors", () => {
    expect(actions).toHaveLength(11);
    expect(vectors).toHaveLength(12);
  });

  test.each(vectors)("chooses as the switch does: $match", ({ match, links }) => {
    const state = stateOf(packet(match));
    expect(actions.map((a) => multipathLink(state, a))).toEqual(links);
  });

  test("one link is always chosen", () => {
    const state = stateOf(packet(vectors[0]?.match ?? ""));
    for (const algorithm of ["modulo_n", "hash_threshold", "hrw", "iter_hash"] as const) {
      expect(multipathLink(state, { fields: "symmetric_l4", basis: 3, algorithm, links: 1, arg: 0 })).toBe(0);
    }
  });

  test("symmetric hashes are symmetric", () => {
    const there = stateOf(
      packet("tcp,dl_src=02:00:00:00:00:01,dl_dst=02:00:00:00:00:02,nw_src=10.0.0.1,nw_dst=10.0.0.2,tp_src=5,tp_dst=6"),
    );
    const back = stateOf(
      packet("tcp,dl_src=02:00:00:00:00:02,dl_dst=02:00:00:00:00:01,nw_src=10.0.0.2,nw_dst=10.0.0.1,tp_src=6,tp_dst=5"),
    );
    for (const fields of ["symmetric_l4", "symmetric_l3l4", "symmetric_l3l4+udp", "symmetric_l3"] as const) {
      const action = { fields, basis: 0, algorithm: "modulo_n", links: 65_536, arg: 0 } as const;
      expect(multipathLink(there, action)).toBe(multipathLink(back, action));
    }
  });

  test("lookup3 of nothing is its seed", () => {
    expect(lookup3(Buffer.alloc(0), 0)).toBe(0xdead_beef);
  });
});
