/**
 * `npm run bench -- [--only NAME] [--json]`: how fast, beside others. Without a name every bench of the table below; the
 * benches that are programs of their own run only when named.
 */
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { codec } from "./codec.ts";

/** Things per second, by us and by the peer; null where there is no peer. */
export interface Result {
  readonly name: string;
  readonly us: number;
  readonly peer: number | null;
  readonly ratio: number | null;
}

export type Bench = () => Promise<{ readonly results: readonly Result[]; readonly note?: string }>;

const benches: Readonly<Record<string, Bench>> = { codec };
const programs = ["store", "kill-store", "slots", "probes"];

const { values } = parseArgs({ options: { only: { type: "string" }, json: { type: "boolean", default: false } } });
const { only, json } = values;

if (only !== undefined && programs.includes(only)) {
  const script = new URL(`${only}.ts`, import.meta.url).pathname;
  process.exit(spawnSync(process.execPath, ["--import", "tsx", script], { stdio: "inherit" }).status ?? 1);
}
const chosen = Object.entries(benches).filter(([name]) => only === undefined || name === only);
if (chosen.length === 0) {
  console.error(`no bench ${only}; there are ${[...Object.keys(benches), ...programs].join(", ")}`);
  process.exit(2);
}

const count = (n: number | null): string => (n === null ? "-" : Math.round(n).toLocaleString("en"));
const results: Result[] = [];
for (const [name, bench] of chosen) {
  const done = await bench();
  if (done.note !== undefined) console.error(`${name}: ${done.note}`);
  results.push(...done.results);
}
if (json) console.log(JSON.stringify({ results }));
else {
  console.log(`${"per second of CPU time".padEnd(28)}${"us".padStart(12)}${"peer".padStart(12)}${"ratio".padStart(9)}`);
  for (const { name, us, peer, ratio } of results) {
    console.log(
      `${name.padEnd(28)}${count(us).padStart(12)}${count(peer).padStart(12)}${(ratio?.toFixed(1) ?? "-").padStart(9)}`,
    );
  }
}
