import { copyFile, mkdtemp, open, readdir, readFile, rm, truncate, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Disk, nodeDisk } from "../../../controller/store/disk.ts";
import { type FileStoreOptions, openFileStore } from "../../../controller/store/file-store.ts";
import { emptySnapshot } from "../../../controller/store/snapshot.ts";
import { decodeState, encodeState } from "../../../controller/store/state-file.ts";
import { type Store, StoreUnavailable } from "../../../controller/store/store.ts";
import { loadBalancerRow, memberRow } from "./rows.ts";

let folder: string;
const opened: Store[] = [];
const openHere = async (options: FileStoreOptions = {}): Promise<Store> => {
  const store = await openFileStore(folder, options);
  opened.push(store);
  return store;
};
const file = (name: string): string => join(folder, name);
const put = (store: Store, id: string, weight = 1) =>
  store.transact((draft) => draft.put("members", memberRow(id, "pool", { weight })));
const idsIn = (store: Store): string[] => [...store.read().all("members")].map((m) => m.id);
const journals = async (): Promise<string[]> => (await readdir(folder)).filter((n) => n.startsWith("journal-")).sort();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "store-"));
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  await rm(folder, { recursive: true, force: true });
});

/** Fills three generations: a, b, c, d, the last only in the journal. */
const threeGenerations = async (): Promise<void> => {
  const store = await openHere({ journalLimit: () => 0 });
  for (const id of ["a", "b", "c"]) await put(store, id);
  await store.close();
  const again = await openHere();
  await put(again, "d");
  await again.close();
};

describe("a folder as store", () => {
  it("has everything again after it is opened anew", async () => {
    const store = await openHere();
    await put(store, "a");
    await put(store, "b", 0);
    await store.transact((draft) => draft.remove("members", "a"));
    await store.close();
    const again = await openHere();
    expect([...again.read().all("members")]).toEqual([memberRow("b", "pool", { weight: 0 })]);
    expect(again.read().version).toBe(3);
  });

  it("folds a journal that has grown into a new state file and keeps the copy and its journal", async () => {
    await threeGenerations();
    // 1 at the start, then one more after each of three writes.
    expect(decodeState(await readFile(file("state.json"))).generation).toBeGreaterThanOrEqual(3);
    expect(decodeState(await readFile(file("state.json.bak"))).generation).toBe(
      decodeState(await readFile(file("state.json"))).generation - 1,
    );
    expect(await journals()).toHaveLength(2);
    expect(idsIn(await openHere())).toEqual(["a", "b", "c", "d"]);
  });

  it("writes names of any script, and what looks like a line or an escape, as they are", async () => {
    const names = ["баланс", "负载", "\u0000\n\r\u2028", "\ud800", '"\\', "__proto__", ""];
    const store = await openHere();
    for (const name of names) {
      await store.transact((draft) => draft.put("members", { ...memberRow(`m-${name}`), name }));
    }
    await store.close();
    const again = await openHere();
    expect([...again.read().all("members")].map((m) => m.name)).toEqual(names);
  });

  it("loses nothing to a record that a crash cut short, at whichever byte", async () => {
    const store = await openHere();
    await put(store, "a");
    const { length } = await readFile(file("journal-1.log"));
    await put(store, "b");
    await store.close();
    const whole = await readFile(file("journal-1.log"));
    for (const cut of [length, length + 1, length + 8, length + 9, length + 100, whole.length - 1]) {
      await writeFile(file("journal-1.log"), whole.subarray(0, cut));
      const again = await openHere();
      expect(idsIn(again)).toEqual(["a"]);
      await put(again, "c");
      await again.close();
      const third = await openHere();
      expect(idsIn(third)).toEqual(["a", "c"]);
      await third.close();
    }
  });

  it("refuses a journal that is damaged before its end", async () => {
    const store = await openHere();
    for (const id of ["a", "b", "c"]) await put(store, id);
    await store.close();
    const handle = await open(file("journal-1.log"), "r+");
    await handle.write("X", 40);
    await handle.close();
    await expect(openHere()).rejects.toThrow(/journal-1\.log: the record at byte 0 is damaged.*Restore the folder/s);
  });
});

describe("a state file that cannot be trusted", () => {
  const spoil: Record<string, () => Promise<void>> = {
    "is empty": () => truncate(file("state.json"), 0),
    "is not whole": () => truncate(file("state.json"), 200),
    "does not match its checksum": async () => {
      const text = await readFile(file("state.json"), "utf8");
      await writeFile(file("state.json"), text.replace('"weight":1', '"weight":7'));
    },
    "is not a state file": () => writeFile(file("state.json"), '{"hello":"world"}'),
    "is missing": () => unlink(file("state.json")),
  };
  for (const [reason, act] of Object.entries(spoil)) {
    it(`${reason}: is refused with the way back, which loses nothing`, async () => {
      await threeGenerations();
      await act();
      const refusal: Error = await openHere().then(
        () => new Error("was opened"),
        (error: Error) => error,
      );
      expect(refusal.message).toContain(`${file("state.json")} ${reason}`);
      expect(refusal.message).toMatch(/The copy before it is good \(generation \d+, 0 load balancers\)/);
      expect(refusal.message).toContain(`cp ${file("state.json.bak")} ${file("state.json")}`);
      await copyFile(file("state.json.bak"), file("state.json"));
      const again = await openHere();
      expect(idsIn(again)).toEqual(["a", "b", "c", "d"]);
      await put(again, "e");
      await again.close();
      expect(idsIn(await openHere())).toEqual(["a", "b", "c", "d", "e"]);
    });
  }

  it("says so when there is nothing to go back to", async () => {
    await (await openHere()).close();
    await writeFile(file("state.json"), "{");
    await expect(openHere()).rejects.toThrow(/no copy of it to go back to. To begin with an empty state, move/);
  });

  it("lets go of the folder after a refusal", async () => {
    await (await openHere()).close();
    const good = await readFile(file("state.json"));
    await writeFile(file("state.json"), "{");
    await expect(openHere()).rejects.toThrow(/is not whole/);
    await writeFile(file("state.json"), good);
    expect(idsIn(await openHere())).toEqual([]);
  });

  it("accepts one edited by hand whose checksum was removed", async () => {
    await threeGenerations();
    const text = await readFile(file("state.json"), "utf8");
    await writeFile(file("state.json"), text.replace(/,"sha256":"\w+"/, "").replace('"weight":1', '"weight":7'));
    expect((await openHere()).read().get("members", "a")?.weight).toBe(7);
  });
});

describe("schemas", () => {
  it("refuses a file of a newer program", async () => {
    await writeFile(file("state.json"), encodeState(emptySnapshot, 1, 9));
    await expect(openHere()).rejects.toThrow(/has schema 9, this program knows schemas up to 1/);
  });

  it("brings an older file up, its journal included, and writes the new schema", async () => {
    const old = await openHere({ schema: 1 });
    await put(old, "a");
    await old.close();
    const migrations = {
      1: (tables: Readonly<Record<string, readonly unknown[]>>) => ({
        ...tables,
        members: (tables["members"] ?? []).map((m) => ({ ...(m as object), weight: 100 })),
      }),
    };
    const store = await openHere({ schema: 2, migrations });
    expect(store.read().get("members", "a")?.weight).toBe(100);
    await store.close();
    expect(decodeState(await readFile(file("state.json"))).schema).toBe(2);
    // A second start finds nothing to migrate.
    expect((await openHere({ schema: 2, migrations: {} })).read().get("members", "a")?.weight).toBe(100);
  });

  it("refuses a file there is no migration for", async () => {
    await (await openHere({ schema: 1 })).close();
    await expect(openHere({ schema: 3, migrations: { 1: (t) => t } })).rejects.toThrow(/no way from 2 up/);
  });
});

describe("a disk that refuses", () => {
  const failing = (code: string) => Object.assign(new Error(`${code}: refused`), { code });
  /** A disk whose appends put only half of the bytes there and fail while `broken` is set. */
  const brokenDisk = () => {
    const state = { broken: undefined as string | undefined, truncate: false, renew: false };
    const disk: Disk = {
      ...nodeDisk,
      append: async (path) => {
        const real = await nodeDisk.append(path);
        return {
          ...real,
          append: async (data) => {
            if (state.broken === undefined) return real.append(data);
            await real.append(data.subarray(0, data.length / 2));
            throw failing(state.broken);
          },
          truncate: async (length) => {
            if (state.truncate) throw failing("EIO");
            return real.truncate(length);
          },
        };
      },
      write: async (path, data) => {
        if (state.renew && path.endsWith(".tmp")) throw failing("ENOSPC");
        return nodeDisk.write(path, data);
      },
    };
    return { state, disk };
  };

  it("gets the write refused, the state left alone, and the folder good", async () => {
    const { state, disk } = brokenDisk();
    const store = await openHere({ disk });
    await put(store, "a");
    state.broken = "ENOSPC";
    const refusal = await put(store, "b").catch((e: unknown) => e);
    expect(refusal).toBeInstanceOf(StoreUnavailable);
    expect(refusal).toMatchObject({ full: true });
    state.broken = "EIO";
    await expect(put(store, "b")).rejects.toMatchObject({ full: false });
    expect(idsIn(store)).toEqual(["a"]);
    state.broken = undefined;
    await put(store, "c");
    await store.close();
    expect(idsIn(await openHere())).toEqual(["a", "c"]);
  });

  it("that will not even shorten the journal: writes nothing until a new generation stands", async () => {
    const { state, disk } = brokenDisk();
    const store = await openHere({ disk });
    await put(store, "a");
    Object.assign(state, { broken: "EIO", truncate: true });
    await expect(put(store, "b")).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(put(store, "b")).rejects.toBeInstanceOf(StoreUnavailable);
    Object.assign(state, { broken: undefined, truncate: false });
    await put(store, "c");
    await store.close();
    expect(idsIn(await openHere())).toEqual(["a", "c"]);
  });

  it("does not refuse a change whose record is durable when only the new state file fails", async () => {
    const { state, disk } = brokenDisk();
    const reports: unknown[] = [];
    const store = await openHere({ disk, journalLimit: () => 0, report: (e) => reports.push(e) });
    state.renew = true;
    await put(store, "a");
    expect(reports).toHaveLength(1);
    await put(store, "b");
    state.renew = false;
    await put(store, "c");
    await store.close();
    expect(idsIn(await openHere())).toEqual(["a", "b", "c"]);
  });

  for (const step of ["rename", "syncFolder"] as const) {
    it(`fails at ${step} of a new state file: loses nothing acknowledged before or after`, async () => {
      for (const nth of [1, 2, 3]) {
        await rm(folder, { recursive: true, force: true });
        let calls = 0;
        let armed = false;
        const disk: Disk = {
          ...nodeDisk,
          [step]: async (...args: [string, string]) => {
            if (armed && ++calls === nth) throw failing("EIO");
            return nodeDisk[step](...args);
          },
        };
        const store = await openHere({ disk, journalLimit: () => 0, report: () => undefined });
        armed = true;
        const kept: string[] = [];
        for (const id of ["a", "b", "c", "d"]) {
          await put(store, id).then(
            () => kept.push(id),
            () => undefined,
          );
          // As after kill -9: another store on a copy of the folder.
          const copy = await mkdtemp(join(tmpdir(), "store-copy-"));
          for (const name of await readdir(folder)) {
            if (name !== "lock") await copyFile(file(name), join(copy, name));
          }
          const other = await openFileStore(copy);
          expect(idsIn(other)).toEqual(kept);
          await other.close();
          await rm(copy, { recursive: true, force: true });
        }
        expect(kept.length).toBeGreaterThanOrEqual(3);
        await store.close();
      }
    });
  }
});

it("shows how many load balancers the copy has", async () => {
  const store = await openHere({ journalLimit: () => 0 });
  await store.transact((draft) => draft.put("loadBalancers", loadBalancerRow("x")));
  await put(store, "a");
  await store.close();
  await writeFile(file("state.json"), "");
  await expect(openHere()).rejects.toThrow(/generation \d+, 1 load balancers/);
});
