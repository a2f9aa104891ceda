import { spawn } from "node:child_process";

/** What kills came to. */
export interface KillReport {
  readonly kills: number;
  readonly acknowledged: number;
  /** Sentences, one per thing that went wrong. */
  readonly faults: readonly string[];
}

interface Life {
  readonly found: Readonly<Record<string, number>>;
  readonly acknowledged: ReadonlyMap<string, number>;
  readonly errors: string;
}

/** One life of the writer: from its start to `afterMs` after it has opened the store. */
const live = (folder: string, afterMs: number): Promise<Life> =>
  new Promise((resolve) => {
    const script = new URL("./store-writer.ts", import.meta.url).pathname;
    const child = spawn(process.execPath, ["--import", "tsx", script, folder], { stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    let errors = "";
    let armed = false;
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (!armed && text.includes("\n")) {
        armed = true;
        setTimeout(() => child.kill("SIGKILL"), afterMs);
      }
    });
    child.stderr.on("data", (chunk: Buffer) => {
      errors += chunk.toString();
    });
    child.on("close", () => {
      const [first, ...lines] = text.split("\n");
      const acknowledged = new Map<string, number>();
      // The kill may have cut the last line short.
      for (const line of lines.slice(0, -1)) {
        const [id, value] = line.split(" ");
        acknowledged.set(id!, Number(value));
      }
      const found = first?.startsWith("found ") ? JSON.parse(first.slice(6)) : {};
      resolve({ found, acknowledged, errors: first?.startsWith("found ") ? "" : errors || "no answer" });
    });
  });

/** Kills a writer again and again at moments spread over `spreadMs`, and compares what each finds with what the last was told. */
export const killTrial = async (
  folder: string,
  kills: number,
  random: () => number,
  spreadMs = 120,
): Promise<KillReport> => {
  const faults: string[] = [];
  let told = new Map<string, number>();
  let acknowledged = 0;
  for (let n = 0; n <= kills; n++) {
    const life = await live(folder, random() * spreadMs);
    if (life.errors !== "") faults.push(`start ${n}: ${life.errors}`);
    for (const [id, value] of told) {
      const now = life.found[id] ?? 0;
      if (now < value) faults.push(`start ${n}: ${id} is ${now}, ${value} was acknowledged`);
      if (now > value + 1) faults.push(`start ${n}: ${id} is ${now}, beyond anything asked for after ${value}`);
    }
    told = new Map([...told, ...Object.entries(life.found), ...life.acknowledged]);
    acknowledged +=
      life.acknowledged.size === 0
        ? 0
        : [...life.acknowledged].reduce((s, [id, v]) => s + v - (life.found[id] ?? 0), 0);
  }
  return { kills: kills + 1, acknowledged, faults };
};
