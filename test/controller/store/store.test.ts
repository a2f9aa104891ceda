import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openFileStore } from "../../../controller/store/file-store.ts";
import { emptySnapshot } from "../../../controller/store/snapshot.ts";
import { type Batch, memoryStore, StoreUnavailable, storeOn } from "../../../controller/store/store.ts";
import { storeContract } from "./contract.ts";
import { memberRow } from "./rows.ts";

storeContract("memory", async () => memoryStore(emptySnapshot));
storeContract("folder", async () => openFileStore(await mkdtemp(join(tmpdir(), "store-"))));

it("lets the transactions that wait share one write", async () => {
  const batches: Batch[] = [];
  const log = {
    append: async (batch: Batch) => {
      batches.push(batch);
      await new Promise((resolve) => setTimeout(resolve, 5));
    },
    close: async () => undefined,
  };
  const store = storeOn(log, emptySnapshot, () => undefined);
  await Promise.all(
    Array.from({ length: 100 }, (_, n) => store.transact((draft) => draft.put("members", memberRow(`m${n}`)))),
  );
  expect(batches.map((b) => b.changes.length)).toEqual([1, 99]);
});

it("when a write is refused, refuses what depends on it and nothing else, and goes on afterwards", async () => {
  let broken = false;
  const log = {
    append: async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (broken) throw new StoreUnavailable("no space left", true);
    },
    close: async () => undefined,
  };
  const store = storeOn(log, emptySnapshot, () => undefined);
  await store.transact((draft) => draft.put("members", memberRow("a")));
  broken = true;
  const put = (id: string) => store.transact((draft) => draft.put("members", memberRow(id)));
  const results = await Promise.allSettled([
    store.transact(() => "a look before any write"),
    put("b"),
    put("c"),
    store.transact((draft) => draft.get("members", "c")?.id),
    store.transact((draft) => {
      if (draft.get("members", "c") !== undefined) throw new Error("c exists");
    }),
  ]);
  expect(results.map((r) => (r.status === "fulfilled" ? r.value.value : (r.reason as Error).message))).toEqual([
    "a look before any write",
    "no space left",
    "no space left",
    "no space left",
    "no space left",
  ]);
  expect(store.read().version).toBe(1);
  broken = false;
  await put("d");
  expect([...store.read().all("members")].map((m) => m.id)).toEqual(["a", "d"]);
});

it("goes on when a subscriber throws", async () => {
  const reports: unknown[] = [];
  const store = storeOn({ append: async () => undefined, close: async () => undefined }, emptySnapshot, (e) =>
    reports.push(e),
  );
  store.subscribe(() => {
    throw new Error("subscriber");
  });
  await store.transact((draft) => draft.put("members", memberRow("a")));
  expect(reports).toHaveLength(1);
  expect(store.read().get("members", "a")).toBeDefined();
});
