import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../src/lab/shell.ts";

/**
 * Compiles the repository into a new folder of its own below it, `.guest/PID-…`, so that the guest does not see what
 * others build meanwhile. Removed with this process; what killed runs have left behind is removed, too.
 *
 * @throws CommandError with the compiler's messages.
 */
export async function buildForGuest(repository: string): Promise<string> {
  const base = join(repository, ".guest");
  mkdirSync(base, { recursive: true });
  for (const name of readdirSync(base)) {
    if (!existsSync(`/proc/${name.split("-")[0]}`)) rmSync(join(base, name), { recursive: true, force: true });
  }
  const folder = mkdtempSync(join(base, `${process.pid}-`));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const node = (...args: string[]) => run([process.execPath, ...args], { timeoutMs: 300_000 });
  await node(
    join(repository, "node_modules/typescript/bin/tsc"),
    "-p",
    join(repository, "tsconfig.json"),
    "--outDir",
    folder,
  );
  await node(join(repository, "src/setup/copy-files.mjs"), folder);
  return folder;
}
