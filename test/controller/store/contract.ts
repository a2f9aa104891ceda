import { afterEach, describe, expect, it } from "vitest";
import type { Store, StoreEvent } from "../../../controller/store/store.ts";
import { memberRow } from "./rows.ts";

/** What every kind of store must do. `open` gives an empty one; it is closed after each test. */
export const storeContract = (kind: string, open: () => Promise<Store>): void => {
  describe(`${kind}: the contract of stores`, () => {
    const opened: Store[] = [];
    const fresh = async (): Promise<Store> => {
      const store = await open();
      opened.push(store);
      return store;
    };
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });

    it("begins empty at version 0", async () => {
      const store = await fresh();
      expect(store.read().version).toBe(0);
      expect([...store.read().all("members")]).toEqual([]);
    });

    it("shows a row once the transaction has resolved, and not before", async () => {
      const store = await fresh();
      const done = store.transact((draft) => draft.put("members", memberRow("a")));
      expect(store.read().get("members", "a")).toBeUndefined();
      const { version } = await done;
      expect(version).toBe(1);
      expect(store.read().get("members", "a")).toEqual(memberRow("a"));
    });

    it("gives back the value of the transaction", async () => {
      const store = await fresh();
      await expect(store.transact(() => 42)).resolves.toEqual({ value: 42, version: 0 });
    });

    it("runs transactions one after the other, each on what the earlier ones left", async () => {
      const store = await fresh();
      await store.transact((draft) => draft.put("members", memberRow("a", "pool", { weight: 0 })));
      const add = () =>
        store.transact((draft) => {
          const row = draft.get("members", "a")!;
          draft.put("members", { ...row, weight: row.weight + 1 });
        });
      await Promise.all(Array.from({ length: 200 }, add));
      expect(store.read().get("members", "a")?.weight).toBe(200);
      expect(store.read().version).toBe(201);
    });

    it("undoes all of a transaction that throws, and only that one", async () => {
      const store = await fresh();
      await store.transact((draft) => draft.put("members", memberRow("old")));
      const results = await Promise.allSettled([
        store.transact((draft) => draft.put("members", memberRow("before"))),
        store.transact((draft) => {
          draft.put("members", memberRow("bad"));
          draft.put("members", memberRow("old", "pool", { weight: 9 }));
          draft.put("members", memberRow("before", "pool", { weight: 9 }));
          draft.remove("members", "old");
          throw new Error("no");
        }),
        store.transact((draft) => draft.put("members", memberRow("after"))),
      ]);
      expect(results.map((r) => r.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect([...store.read().all("members")].map((m) => [m.id, m.weight])).toEqual([
        ["old", 1],
        ["before", 1],
        ["after", 1],
      ]);
    });

    it("lists children oldest first, in a draft as at rest", async () => {
      const store = await fresh();
      await store.transact((draft) => {
        for (const id of ["c", "a", "b"]) draft.put("members", memberRow(id, "p1"));
      });
      const { value } = await store.transact((draft) => {
        draft.put("members", memberRow("d", "p1"));
        draft.put("members", memberRow("e", "p2"));
        draft.remove("members", "a");
        draft.put("members", memberRow("c", "p1", { weight: 7 }));
        return [draft.children("members", "p1").map((m) => m.id), draft.size("members"), draft.all("members")] as const;
      });
      expect(value[0]).toEqual(["c", "b", "d"]);
      expect(value[1]).toBe(4);
      expect([...value[2]].map((m) => m.id)).toEqual(["c", "b", "d", "e"]);
      expect(
        store
          .read()
          .children("members", "p1")
          .map((m) => [m.id, m.weight]),
      ).toEqual([
        ["c", 7],
        ["b", 1],
        ["d", 1],
      ]);
      expect(
        store
          .read()
          .children("members", "p2")
          .map((m) => m.id),
      ).toEqual(["e"]);
      expect(store.read().children("members", "nobody")).toEqual([]);
    });

    it("leaves an old snapshot as it was", async () => {
      const store = await fresh();
      await store.transact((draft) => draft.put("members", memberRow("a")));
      const old = store.read();
      await store.transact((draft) => draft.remove("members", "a"));
      expect(old.get("members", "a")).toEqual(memberRow("a"));
      expect(old.children("members", "pool")).toHaveLength(1);
      expect(store.read().children("members", "pool")).toEqual([]);
    });

    it("tells subscribers what changed, when it can be read", async () => {
      const store = await fresh();
      const events: (StoreEvent & { readable: boolean })[] = [];
      const stop = store.subscribe((event) =>
        events.push({ ...event, readable: store.read().get("members", "a") !== undefined }),
      );
      await store.transact((draft) => draft.put("members", memberRow("a")));
      await store.transact(() => "nothing");
      stop();
      await store.transact((draft) => draft.remove("members", "a"));
      expect(events).toEqual([
        { version: 1, changes: [{ table: "members", id: "a", row: memberRow("a") }], readable: true },
      ]);
    });

    it("keeps drafts to their transaction", async () => {
      const store = await fresh();
      let kept: (() => void) | undefined;
      await store.transact((draft) => {
        kept = () => draft.put("members", memberRow("late"));
      });
      expect(kept).toThrow(/only good inside/);
    });

    it("does not count the removal of what is not there", async () => {
      const store = await fresh();
      await store.transact((draft) => draft.remove("members", "nobody"));
      await store.transact((draft) => {
        draft.put("members", memberRow("a"));
        draft.remove("members", "a");
      });
      expect([...store.read().all("members")]).toEqual([]);
    });

    it("refuses transactions after it is closed, but finishes those before", async () => {
      const store = await fresh();
      const before = store.transact((draft) => draft.put("members", memberRow("a")));
      await store.close();
      await expect(before).resolves.toMatchObject({ version: 1 });
      await expect(store.transact(() => 1)).rejects.toThrow(/closed/);
    });
  });
};
