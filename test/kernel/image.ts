import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { KernelError } from "./error.ts";

/** A kernel to boot and the modules that it needs, in the order in which they are to be loaded. */
export interface Kernel {
  /** Such as "6.1.0-49-amd64". */
  readonly version: string;
  readonly image: string;
  readonly modules: readonly string[];
}

/** The kernel in a folder that src/setup/kernel.mjs has filled, and compared with its checksums. */
export function readKernel(folder: string): Kernel {
  const files = readdirSync(folder).sort();
  const image = files.find((file) => file.startsWith("vmlinuz-"));
  if (image === undefined) throw new KernelError(`${folder} holds no kernel`);
  return {
    version: image.slice("vmlinuz-".length),
    image: join(folder, image),
    modules: files.filter((file) => file.endsWith(".ko")).map((file) => join(folder, file)),
  };
}

const busybox = "/bin/busybox";
const applets = ["sh", "mount", "insmod", "switch_root", "mkdir", "echo"];

/** Writes the initial ramdisk: init.sh, a shell for it, and the modules. */
export function writeRamdisk(kernel: Kernel, init: string, path: string): void {
  const tree = `${path}.tree`;
  for (const folder of ["bin", "modules", "dev", "proc", "sys", "lower", "changes", "root"]) {
    mkdirSync(join(tree, folder), { recursive: true });
  }
  copyFileSync(busybox, join(tree, "bin/busybox"));
  for (const applet of applets) symlinkSync("busybox", join(tree, "bin", applet));
  for (const module of kernel.modules) copyFileSync(module, join(tree, "modules", basename(module)));
  writeFileSync(join(tree, "init"), readFileSync(init));
  chmodSync(join(tree, "init"), 0o755);
  const list = execFileSync("find", ["."], { cwd: tree });
  const archive = execFileSync(busybox, ["cpio", "-o", "-H", "newc"], {
    cwd: tree,
    input: list,
    stdio: ["pipe", "pipe", "ignore"],
    maxBuffer: 256 * 1024 * 1024,
  });
  writeFileSync(path, archive);
  rmSync(tree, { recursive: true });
}
