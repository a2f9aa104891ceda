import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { LabError } from "../../src/lab/shell.ts";
import { KernelError } from "./error.ts";
import { fetchKernel } from "./image.ts";
import { runInGuest } from "./machine.ts";

const usage = `npm run test:kernel                    the tests on the kernel's datapath
npm run test:kernel -- -- COMMAND ...  any command on this machine's files, under that kernel

  --out DIR        keep results, captures and logs there (default: a new folder, kept after a failure only)
  --limit SECONDS  stop the guest then (default: 900)
  --memory MIB     (default: 2048)`;

/** How many times slower than the machine itself the guest is taken to be: see src/lab/patience.ts. */
const slowness = process.env["OFLB_SLOW"] ?? "6";

const options = {
  out: { type: "string" },
  limit: { type: "string", default: "900" },
  memory: { type: "string", default: "2048" },
  help: { type: "boolean", short: "h", default: false },
} as const;

const suite = "node node_modules/vitest/vitest.mjs run --config dist/test/kernel/vitest.config.js";

async function main(): Promise<number> {
  const { values, positionals } = readArguments();
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const started = Date.now();
  const out = values.out === undefined ? mkdtempSync(join(tmpdir(), "openflow-lb-kernel-")) : resolve(values.out);
  mkdirSync(out, { recursive: true });
  const kernel = await fetchKernel(cacheFolder());
  const ready = Date.now();
  const status = await runInGuest({
    kernel,
    command: positionals.length === 0 ? suite : positionals.map(quote).join(" "),
    folder: process.cwd(),
    environment: guestEnvironment(),
    out,
    limitMs: wholeNumber(values.limit, "--limit") * 1000,
    memoryMiB: wholeNumber(values.memory, "--memory"),
  });
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  console.log(`kernel ${kernel.version}: ${seconds(ready - started)}; guest: ${seconds(Date.now() - ready)}`);
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
    OFLB_SLOW: slowness,
    OFLB_DATAPATH: "system",
    OFLB_ARTEFACTS: "/out",
    ...(CI === undefined ? {} : { CI }),
  };
}

/** Kernels are kept between runs: /var/cache/openflow-lb for root, else in the user's cache; OFLB_CACHE overrides. */
function cacheFolder(): string {
  const user = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const base = process.getuid?.() === 0 ? "/var/cache" : user;
  return join(process.env["OFLB_CACHE"] ?? join(base, "openflow-lb"), "kernel");
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
