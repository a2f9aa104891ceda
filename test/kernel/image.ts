import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { run } from "../../src/lab/shell.ts";
import { KernelError } from "./error.ts";

/** A kernel to boot and the modules that it needs, in the order in which they are to be loaded. */
export interface Kernel {
  /** Such as "6.1.0-49-amd64". */
  readonly version: string;
  readonly image: string;
  readonly modules: readonly string[];
}

/** The full flavour: the one for clouds has no 9p. */
const metaPackage = "linux-image-amd64";
/** The root file system, the datapath with its tunnel and conntrack's netlink, the hosts' links, bad links for tests. */
const wantedModules = [
  ...["virtio_pci", "9pnet_virtio", "9p", "overlay"],
  ...["openvswitch", "vport_vxlan", "nf_conntrack_netlink"],
  ...["veth", "tun", "sch_netem"],
];

/**
 * Debian's own kernel, from the cache or fetched with apt. Only the image and the modules that are wanted are kept,
 * 14 MB of 400.
 */
export async function fetchKernel(cache: string): Promise<Kernel> {
  if (process.arch !== "x64") throw new KernelError(`the guest is an x86-64 machine; this is ${process.arch}`);
  const name = await imagePackage(cache);
  const folder = join(cache, name);
  if (!existsSync(folder)) {
    mkdirSync(cache, { recursive: true });
    // Another run may be doing the same: each works in a folder of its own, and the first to rename it wins.
    const draft = mkdtempSync(join(cache, ".fetch-"));
    try {
      console.log(`fetching ${name}`);
      await unpack(name, draft);
      renameSync(join(draft, "kernel"), folder);
    } catch (error) {
      if (!existsSync(folder)) throw error;
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  }
  return readKernel(folder);
}

/** Name of the package that the newest kernel is in, or of the newest in the cache when apt does not know. */
async function imagePackage(cache: string): Promise<string> {
  const current = async () =>
    /Depends: (linux-image-\d\S+)/.exec(await run(["apt-cache", "depends", metaPackage]).catch(() => ""))?.[1];
  const known = await current();
  if (known !== undefined) return known;
  const cached = existsSync(cache) ? readdirSync(cache).filter((name) => name.startsWith("linux-image-")) : [];
  const [newest] = cached.sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
  if (newest !== undefined) return newest;
  await run(["apt-get", "-q", "update"], { timeoutMs: 300_000 });
  const updated = await current();
  if (updated === undefined)
    throw new KernelError(`apt knows no package ${metaPackage}: the guest needs Debian's kernel`);
  return updated;
}

/** Leaves `kernel/image` and `kernel/NN-module.ko` in `draft`. */
async function unpack(name: string, draft: string): Promise<void> {
  const download = ["apt-get", "download", "-q", name];
  await run(["sh", "-c", 'cd "$0" && exec "$@"', draft, ...download], { timeoutMs: 600_000 });
  const archive = readdirSync(draft).find((file) => file.endsWith(".deb"));
  if (archive === undefined) throw new KernelError(`apt-get download ${name} brought no package`);
  const tree = join(draft, "tree");
  await run(["dpkg-deb", "-x", join(draft, archive), tree], { timeoutMs: 300_000 });
  const [version = ""] = readdirSync(join(tree, "lib/modules"));
  await run(["depmod", "-b", tree, version], { timeoutMs: 120_000 });
  const kernel = join(draft, "kernel");
  mkdirSync(kernel);
  copyFileSync(join(tree, "boot", `vmlinuz-${version}`), join(kernel, `vmlinuz-${version}`));
  const listed = await run(["modprobe", "-d", tree, "-S", version, "-D", "-a", ...wantedModules]);
  const paths = new Set(Array.from(listed.matchAll(/^insmod (\S+)/gm), ([, path = ""]) => path));
  for (const [order, path] of [...paths].entries()) {
    copyFileSync(path, join(kernel, `${String(order).padStart(2, "0")}-${basename(path)}`));
  }
}

function readKernel(folder: string): Kernel {
  const files = readdirSync(folder).sort();
  const image = files.find((file) => file.startsWith("vmlinuz-"));
  if (image === undefined) throw new KernelError(`${folder} holds no kernel: remove the folder, it is fetched anew`);
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
