/** `node --import tsx test/bench/kill-store.ts [KILLS=300]`: kills a writing store so often and exits 1 if anything was lost. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { killTrial } from "../support/kill-trial.ts";

const kills = Number(process.argv[2] ?? 300);
const folder = await mkdtemp(join(tmpdir(), "store-kill-"));
const begin = performance.now();
const report = await killTrial(folder, kills - 1, Math.random);
const seconds = ((performance.now() - begin) / 1000).toFixed(0);
console.log(
  `${report.kills} kills in ${seconds} s, ${report.acknowledged} changes acknowledged, ${report.faults.length} faults`,
);
for (const fault of report.faults) console.log(fault);
await rm(folder, { recursive: true, force: true });
process.exitCode = report.faults.length === 0 ? 0 : 1;
