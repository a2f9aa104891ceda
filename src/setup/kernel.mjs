// Debian's kernel for the guest of the kernel tests: node kernel.mjs prints the folder that holds it.
//
// The kernel comes with apt, which checks what it fetches against Debian's signatures, and is kept between runs in
// /var/cache/openflow-lb/kernel for root, else in the user's cache; OFLB_CACHE names another folder. Only the image and
// the modules that the tests want are kept, 12 MB of 400: `vmlinuz-VERSION`, `NN-MODULE.ko` in the order in which they
// are to be loaded, and `sha256sums`, with which every run compares them. Plain JavaScript, as ensure.mjs.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The full flavour: the one for clouds has no 9p. */
const metaPackage = "linux-image-amd64";
/** The root file system, the datapath with its tunnel and conntrack's netlink, the hosts' links, bad links for tests. */
const wantedModules = [
  ...["virtio_pci", "9pnet_virtio", "9p", "overlay"],
  ...["openvswitch", "vport_vxlan", "nf_conntrack_netlink"],
  ...["veth", "tun", "sch_netem"],
];
const sums = "sha256sums";

/** The newest kernel of the cache that is whole, or else one that is fetched now. @returns {string} its folder */
export function ensureKernel() {
  if (process.arch !== "x64") throw new Error(`the guest is an x86-64 machine; this is ${process.arch}`);
  const cache = cacheFolder();
  const cached = existsSync(cache) ? readdirSync(cache).filter((name) => name.startsWith("linux-image-")) : [];
  const newestFirst = cached.sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
  const whole = newestFirst.map((name) => join(cache, name)).find(isWhole);
  return whole ?? fetchKernel(cache);
}

function cacheFolder() {
  const user = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const base = process.getuid?.() === 0 ? "/var/cache" : user;
  return join(process.env["OFLB_CACHE"] ?? join(base, "openflow-lb"), "kernel");
}

/** @param {string} cache */
function fetchKernel(cache) {
  mkdirSync(cache, { recursive: true });
  removeDraftsOfTheDead(cache);
  // Another run may be doing the same: each works in a folder of its own, and whole ones only get their name.
  const draft = mkdtempSync(join(cache, `.draft-${process.pid}-`));
  try {
    const name = packageName();
    console.error(`setup: fetching ${name}`);
    const kernel = unpack(download(name, draft), draft);
    const folder = join(cache, name);
    for (let tries = 0; !isWhole(folder); tries++) {
      // Whatever has the name is broken. A run that reads it at this moment sees files that do not fit the sums.
      if (existsSync(folder)) renameSync(folder, join(draft, `broken-${tries}`));
      try {
        renameSync(kernel, folder);
      } catch (error) {
        if (tries > 2) throw error;
      }
    }
    return folder;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** @param {string} cache */
function removeDraftsOfTheDead(cache) {
  for (const name of readdirSync(cache)) {
    const pid = /^\.draft-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join(cache, name), { recursive: true, force: true });
  }
}

/** Name of the package with the kernel of the day, such as "linux-image-6.1.0-49-amd64". */
function packageName() {
  const known = () => /Depends: (linux-image-\d\S+)/.exec(command("apt-cache", ["depends", metaPackage]))?.[1];
  let name = known();
  if (name === undefined) {
    updateLists();
    name = known();
  }
  if (name === undefined) throw new Error(`apt knows no package ${metaPackage}: the guest needs Debian's kernel`);
  return name;
}

function updateLists() {
  command("apt-get", ["-q", "update"]);
}

/** @param {string} name @param {string} folder @returns {string} the archive */
function download(name, folder) {
  const fetch = () => command("apt-get", ["-q", "download", name], folder);
  try {
    fetch();
  } catch {
    // Lists that are out of date name files that are gone.
    updateLists();
    fetch();
  }
  const archive = readdirSync(folder).find((file) => file.endsWith(".deb"));
  if (archive === undefined) throw new Error(`apt-get download ${name} brought no package`);
  return join(folder, archive);
}

/** @param {string} archive @param {string} draft @returns {string} folder with what is kept */
function unpack(archive, draft) {
  const tree = join(draft, "tree");
  command("dpkg-deb", ["-x", archive, tree]);
  const [version = ""] = readdirSync(join(tree, "lib/modules"));
  command("/sbin/depmod", ["-b", tree, version]);
  const kernel = join(draft, "kernel");
  mkdirSync(kernel);
  copyFileSync(join(tree, "boot", `vmlinuz-${version}`), join(kernel, `vmlinuz-${version}`));
  const listed = command("/sbin/modprobe", ["-d", tree, "-S", version, "-D", "-a", ...wantedModules]);
  const paths = new Set(Array.from(listed.matchAll(/^insmod (\S+)/gm), ([, path = ""]) => path));
  for (const [order, path] of [...paths].entries()) {
    copyFileSync(path, join(kernel, `${String(order).padStart(2, "0")}-${basename(path)}`));
  }
  writeFileSync(join(kernel, sums), sumsOf(kernel));
  return kernel;
}

/** @param {string} folder */
function isWhole(folder) {
  try {
    return readFileSync(join(folder, sums), "utf8") === sumsOf(folder);
  } catch {
    return false;
  }
}

/** As sha256sum(1) prints them. @param {string} folder */
function sumsOf(folder) {
  const names = readdirSync(folder).filter((name) => name !== sums);
  const sum = (/** @type {string} */ name) =>
    createHash("sha256")
      .update(readFileSync(join(folder, name)))
      .digest("hex");
  return names
    .sort()
    .map((name) => `${sum(name)}  ${name}\n`)
    .join("");
}

/** @param {string} program @param {string[]} args @param {string} [cwd] */
function command(program, args, cwd) {
  return execFileSync(program, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    console.log(ensureKernel());
  } catch (error) {
    console.error(`setup: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}
