import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { LabError, run } from "../../src/lab/shell.ts";
import { buildForGuest } from "./build.ts";
import { KernelError } from "./error.ts";
import { readKernel } from "./image.ts";
import { runInGuest } from "./machine.ts";

const usage = `npm run test:kernel                    the tests on the kernel's datapath, all checks of lbctl verify among them
npm run test:kernel -- -- COMMAND ...  any command on this machine's files, under that kernel

  --out DIR        keep results, captures and logs there (default: a new folder, kept after a failure only)
  --limit SECONDS  stop the guest then (default: 2400)
  --memory MIB     (default: 2048)`;

/**
 * How many times slower than the machine itself the guest is taken to be, see src/lab/patience.ts: 6 on idle processors,
 * up to 15 where others use them.
 */
function slowness(): string {
  const waiting = (loadavg()[0] ?? 0) / availableParallelism();
  return process.env["OFLB_SLOW"] ?? String(Math.round(6 * Math.min(2.5, Math.max(1, waiting))));
}

const options = {
  out: { type: "string" },
  limit: { type: "string", default: "2400" },
  memory: { type: "string", default: "2048" },
  help: { type: "boolean", short: "h", default: false },
} as const;

const repository = fileURLToPath(new URL("../../", import.meta.url));

async function main(): Promise<number> {
  const { values, positionals } = readArguments();
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const started = Date.now();
  const out = values.out === undefined ? mkdtempSync(join(tmpdir(), "openflow-lb-kernel-")) : resolve(values.out);
  mkdirSync(out, { recursive: true });
  const setup = join(repository, "src/setup/kernel.mjs");
  const kernel = readKernel((await run([process.execPath, setup], { timeoutMs: 600_000 })).trim());
  const command = positionals.length === 0 ? suite(await buildForGuest(repository)) : positionals.map(quote).join(" ");
  const ready = Date.now();
  const status = await runInGuest({
    kernel,
    command,
    folder: positionals.length === 0 ? repository : process.cwd(),
    environment: guestEnvironment(),
    out,
    limitMs: wholeNumber(values.limit, "--limit") * 1000,
    memoryMiB: wholeNumber(values.memory, "--memory"),
  });
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  console.log(
    `kernel ${kernel.version}; preparations: ${seconds(ready - started)}, guest: ${seconds(Date.now() - ready)}`,
  );
  if (values.out === undefined && status === 0) rmSync(out, { recursive: true });
  else console.log(`results are in ${out}`);
  return status;
}

function readArguments() {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new KernelError(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
}

/** What the lab and the tests read, besides PATH and the like, which the guest sets itself. */
function guestEnvironment(): Readonly<Record<string, string>> {
  const { CI } = process.env;
  return {
    OFLB_SLOW: slowness(),
    OFLB_DATAPATH: "system",
    OFLB_ARTEFACTS: "/out",
    ...(CI === undefined ? {} : { CI }),
  };
}

function suite(build: string): string {
  const vitest = quote(join(repository, "node_modules/vitest/vitest.mjs"));
  return `node ${vitest} run --config ${quote(join(build, "test/kernel/vitest.config.js"))}`;
}

function wholeNumber(text: string, option: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new KernelError(`${option} is a whole number, not "${text}"`);
  return Number(text);
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

// The guest ends with this process (see machine.ts), so a signal needs no more than an orderly exit.
for (const [name, number] of [
  ["SIGHUP", 1],
  ["SIGINT", 2],
  ["SIGTERM", 15],
] as const) {
  process.once(name, () => process.exit(128 + number));
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof KernelError || error instanceof LabError)) throw error;
  console.error(`test:kernel: ${error.message}`);
  process.exitCode = 1;
}
