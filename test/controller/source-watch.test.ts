import { expect, test } from "vitest";
import { SourceWatch } from "../../controller/source-watch.ts";
import { compile } from "../../pipeline/compile.ts";
import { type Suspicion, suspicionOf } from "../../pipeline/features/guard.ts";
import { seedState } from "../support/topology.ts";

const { flows } = compile(seedState(64));

/** The switch's flows as if port 10 had these counts, and all other ports none. */
const counted = (counts: Partial<Record<Suspicion, number>>) =>
  flows.map((f) => {
    const found = suspicionOf(f);
    return { ...f, packetCount: BigInt(found?.ofport === 10 ? (counts[found.suspicion] ?? 0) : 0) };
  });

test("tells what has grown since the look before, and nothing of the time before the first", () => {
  const watch = new SourceWatch();
  expect(watch.counts(10)).toBeUndefined();
  expect(watch.look(counted({ macs: 900 }))).toEqual([]);
  expect(watch.counts(10)).toEqual({ claims: 0, macs: 900, clients: 0 });
  expect(watch.look(counted({ macs: 900 }))).toEqual([]);
  expect(watch.look(counted({ macs: 903, claims: 2 }))).toEqual([
    { ofport: 10, suspicion: "claims", frames: 2 },
    { ofport: 10, suspicion: "macs", frames: 3 },
  ]);
  expect(watch.counts(10)).toEqual({ claims: 2, macs: 903, clients: 0 });
});

test("takes a smaller count for a counter that began anew", () => {
  const watch = new SourceWatch();
  watch.look(counted({ clients: 50 }));
  expect(watch.look(counted({ clients: 4 }))).toEqual([{ ofport: 10, suspicion: "clients", frames: 4 }]);
});

test("forgets a port with its flows, and counts all of one that comes later", () => {
  const watch = new SourceWatch();
  watch.look(counted({ macs: 5 }));
  expect(watch.look([])).toEqual([]);
  expect(watch.counts(10)).toBeUndefined();
  expect(watch.look(counted({ macs: 2 }))).toEqual([{ ofport: 10, suspicion: "macs", frames: 2 }]);
});
