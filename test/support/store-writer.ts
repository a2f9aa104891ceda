/**
 * A process to be killed: opens the store in argv[2], says what it found, then changes rows without pause and says of each
 * change when it is acknowledged. Lines: `found {"w0":12,…}`, then `w0 13`.
 */
import { writeSync } from "node:fs";
import { openFileStore } from "../../controller/store/file-store.ts";
import { memberRow } from "../controller/store/rows.ts";

const folder = process.argv[2]!;
// New state files as often as possible: most of what can go wrong at a kill happens there.
const store = await openFileStore(folder, { journalLimit: () => 20_000 });
const found = [...store.read().all("members")].map((m) => [m.id, m.protocol_port] as const);
writeSync(1, `found ${JSON.stringify(Object.fromEntries(found))}\n`);

const writer = async (id: string): Promise<never> => {
  for (;;) {
    const { value } = await store.transact((draft) => {
      const port = (draft.get("members", id)?.protocol_port ?? 0) + 1;
      draft.put("members", memberRow(id, "pool", { protocol_port: port }));
      return port;
    });
    // Not through a stream: what is acknowledged must be out before the kill.
    writeSync(1, `${id} ${value}\n`);
  }
};
await Promise.all(Array.from({ length: 8 }, (_, n) => writer(`w${n}`)));
