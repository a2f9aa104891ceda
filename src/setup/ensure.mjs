// Makes sure that what a command needs is installed: node ensure.mjs [lab|test|kernel]
//
// Without an argument: Node's version and the npm packages. With `lab` or `test`: also the Debian packages of the
// private Open vSwitch and of its hosts; with `test` those of the tests, a browser among them; with `kernel` the virtual machine's
// and its kernel. Plain JavaScript without imports from packages, since it runs before
// anything is installed; does nothing, quickly, when all is there.

import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureKernel } from "./kernel.mjs";

const repository = fileURLToPath(new URL("../../", import.meta.url));
const purpose = process.argv[2];

/** Programs, or files, that tell whether a Debian package (or another package that provides the same) is installed. */
const labPackages = {
  "openvswitch-switch": ["ovs-vswitchd", "ovsdb-server", "ovs-vsctl", "ovs-ofctl"],
  iproute2: ["ip"],
  "iputils-ping": ["ping"],
  "iputils-arping": ["arping"],
  ethtool: ["ethtool"],
  tcpdump: ["tcpdump"],
  curl: ["curl"],
  procps: ["ps"],
};
/** What a purpose needs besides. */
const furtherPackages = {
  lab: {},
  test: {
    tshark: ["tshark"],
    openssl: ["openssl"],
    chromium: ["chromium"],
    prometheus: ["promtool"],
    "docker-compose": ["docker-compose"],
    "python3-openstackclient": ["openstack"],
    "python3-octaviaclient": ["/usr/lib/python3/dist-packages/octaviaclient/osc/plugin.py"],
  },
  kernel: {
    "qemu-system-x86": ["qemu-system-x86_64"],
    "busybox-static": ["busybox"],
    kmod: ["depmod", "modprobe"],
    "util-linux": ["setpriv"],
  },
};

/**
 * Only Open vSwitch's programs are wanted. Its package would start a service for the whole host: policy-rc.d(8) forbids
 * that while it is installed, and afterwards the service is switched off, for the next boot too. A service that is
 * there already is not touched, since then the package is not installed anew.
 */
const installScript = `
set -e
export DEBIAN_FRONTEND=noninteractive
policy=/usr/sbin/policy-rc.d
had_ovs=no
if dpkg-query -W -f '\${db:Status-Status}' openvswitch-switch 2>/dev/null | grep -qx installed; then had_ovs=yes; fi
if [ ! -e $policy ]; then
  trap 'rm -f $policy' EXIT
  printf '#!/bin/sh\\nexit 101\\n' >$policy
  chmod 755 $policy
fi
apt-get -q update
apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=120 install "$@"
if [ $had_ovs = no ] && command -v systemctl >/dev/null; then
  systemctl disable openvswitch-switch.service 2>/dev/null || true
fi
`;

requireNode(20, 19);
ensureNpmPackages();
if (purpose === "lab" || purpose === "test" || purpose === "kernel") {
  ensureDebianPackages({ ...labPackages, ...furtherPackages[purpose] });
} else if (purpose !== undefined) {
  fail(`unknown purpose "${purpose}": lab, test, kernel, or nothing`);
}
if (purpose === "kernel") {
  try {
    ensureKernel();
  } catch (error) {
    fail(`no kernel for the virtual machine: ${error instanceof Error ? error.message : error}`);
  }
}

/** @param {number} major @param {number} minor */
function requireNode(major, minor) {
  const [haveMajor = 0, haveMinor = 0] = process.versions.node.split(".").map(Number);
  if (haveMajor < major || (haveMajor === major && haveMinor < minor)) {
    fail(`Node.js ${major}.${minor} or later is needed; this is ${process.versions.node}`);
  }
}

function ensureNpmPackages() {
  if (npmPackagesMatch()) return;
  const folder = join(repository, "node_modules");
  // `npm ci` empties the folder, which somebody else uses if it is a link.
  if (existsSync(folder) && lstatSync(folder).isSymbolicLink()) {
    fail("node_modules is a link, and does not hold what package-lock.json asks for: run npm ci where it points to");
  }
  say("installing npm packages");
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: repository, stdio: "inherit" });
  if (status !== 0) fail("npm ci failed; its messages are above");
}

/**
 * npm writes what it has installed in the lock file's form. The comparison is one of versions, not of file times: a
 * checkout gives old content a new time.
 */
function npmPackagesMatch() {
  const wanted = readPackages(join(repository, "package-lock.json"));
  const installed = readPackages(join(repository, "node_modules/.package-lock.json"));
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === "") return true;
    const there = installed[path];
    // Packages for other platforms are not installed.
    return there === undefined ? entry.optional === true : there.version === entry.version;
  });
}

/** @param {string} path @returns {Record<string, {version?: string, optional?: boolean}>} */
function readPackages(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).packages ?? {};
  } catch {
    return {};
  }
}

/** @param {Record<string, string[]>} packages */
function ensureDebianPackages(packages) {
  const missing = Object.entries(packages)
    .filter(([, programs]) => !programs.every(isInstalled))
    .map(([name]) => name);
  if (missing.length === 0) return;
  const list = missing.join(" ");
  const byHand = `install them by hand: apt-get install ${list}`;
  if (!isInstalled("apt-get")) fail(`these Debian packages are missing, and there is no apt-get; ${byHand}`);
  const isRoot = process.getuid?.() === 0;
  if (!isRoot && spawnSync("sudo", ["-n", "true"]).status !== 0) {
    fail(`these Debian packages are missing: ${list}; run this command as root or with sudo`);
  }
  say(`installing Debian packages: ${list}`);
  const argv = ["sh", "-c", installScript, "install", ...missing];
  const [program = "", ...args] = isRoot ? argv : ["sudo", "-n", ...argv];
  const { status } = spawnSync(program, args, { stdio: ["ignore", "inherit", "inherit"] });
  const still = missing.filter((name) => !(packages[name] ?? []).every(isInstalled));
  if (status !== 0 || still.length > 0) fail(`apt-get could not install ${list} (its messages are above); ${byHand}`);
}

/** @param {string} program */
function isInstalled(program) {
  if (program.startsWith("/")) return existsSync(program);
  // The programs of an administrator are outside an ordinary user's PATH.
  const folders = [...(process.env["PATH"] ?? "").split(":"), "/usr/local/sbin", "/usr/sbin", "/sbin"];
  return folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** @param {string} text */
function say(text) {
  console.log(`setup: ${text}`);
}

/** @param {string} text @returns {never} */
function fail(text) {
  console.error(`setup: ${text}`);
  process.exit(1);
}
