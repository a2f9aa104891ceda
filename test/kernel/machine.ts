import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { toolPath } from "../../src/lab/shell.ts";
import { KernelError } from "./error.ts";
import { type Kernel, writeRamdisk } from "./image.ts";

export interface GuestRun {
  readonly kernel: Kernel;
  /** Text for bash, run as root in `folder`. */
  readonly command: string;
  readonly folder: string;
  /** Variables of the command. */
  readonly environment: Readonly<Record<string, string>>;
  /** A folder of the host that the guest sees, and writes to, as /out; `console.log` in it gets what the guest prints. */
  readonly out: string;
  /** Milliseconds after which the guest is stopped. */
  readonly limitMs: number;
  readonly memoryMiB: number;
}

/** Milliseconds until the guest's own file system must be there; it takes 5 s on two idle cores. */
const bootLimitMs = 300_000;

/**
 * Boots the kernel on this machine's own files, which the guest can read but not change, runs the command, prints what
 * the guest prints, and gives the command's status.
 *
 * @throws KernelError when the guest does not come up, runs out of time, or ends without a status.
 */
export async function runInGuest(run: GuestRun): Promise<number> {
  const control = join(run.out, ".guest");
  rmSync(control, { recursive: true, force: true });
  mkdirSync(control, { recursive: true });
  const own = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  writeFileSync(join(control, "guest.sh"), readFileSync(own("guest.sh")));
  writeFileSync(join(control, "command"), `${run.command}\n`);
  writeFileSync(join(control, "folder"), run.folder);
  writeFileSync(join(control, "environment"), environmentFile(run.environment));
  const temporary = mkdtempSync(join(tmpdir(), "openflow-lb-guest-"));
  try {
    const ramdisk = join(temporary, "ramdisk");
    writeRamdisk(run.kernel, own("init.sh"), ramdisk);
    await boot(run, ramdisk);
    const status = join(control, "status");
    if (!existsSync(status)) {
      throw new KernelError(`the guest ended before the command did. ${lastWords(run)}`);
    }
    return Number(readFileSync(status, "utf8"));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
    rmSync(control, { recursive: true, force: true });
  }
}

/** The end of what the guest has printed, and where the whole is. */
function lastWords({ out }: GuestRun): string {
  const path = join(out, "console.log");
  const lines = existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : [];
  return `The last lines of ${path}:\n${lines.slice(-25).join("\n")}`;
}

async function boot(run: GuestRun, ramdisk: string): Promise<void> {
  const console = createWriteStream(join(run.out, "console.log"));
  // A guest must not outlive a runner that is killed: the kernel passes the death on.
  const child = spawn("setpriv", ["--pdeathsig", "KILL", "qemu-system-x86_64", ...qemuArguments(run, ramdisk)], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PATH: toolPath },
  });
  const stop = () => void child.kill("SIGKILL");
  process.once("exit", stop);
  try {
    await ended(child, run, console);
  } finally {
    process.removeListener("exit", stop);
    await new Promise<void>((resolve) => console.end(resolve));
  }
}

function ended(child: ChildProcess, run: GuestRun, console: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve, reject) => {
    let printed = "";
    let problem: string | undefined;
    const giveUp = (why: string) => {
      problem ??= why;
      child.kill("SIGKILL");
    };
    const limit = setTimeout(() => giveUp(`the guest was stopped after ${run.limitMs / 1000} s`), run.limitMs);
    const bootLimit = setTimeout(() => giveUp(`the guest is not up after ${bootLimitMs / 1000} s`), bootLimitMs);
    child.stdout?.setEncoding("utf8").on("data", (bytes: string) => {
      // The serial line ends lines like a teletype.
      const text = bytes.replaceAll("\r", "");
      process.stdout.write(text);
      console.write(text);
      if (printed.length < 65_536) printed += text;
      if (printed.includes("guest: ready")) clearTimeout(bootLimit);
      if (/Kernel panic|^guest: cannot/m.test(printed)) giveUp("the guest did not come up");
    });
    child.stderr?.on("data", (bytes: Buffer) => {
      process.stderr.write(bytes);
      console.write(bytes);
    });
    child.once("error", (error) => giveUp(`cannot start QEMU: ${error.message}`));
    child.once("close", (code) => {
      clearTimeout(limit);
      clearTimeout(bootLimit);
      if (problem === undefined && code !== 0) problem = `QEMU ended with status ${code}`;
      if (problem === undefined) resolve();
      else reject(new KernelError(`${problem}. ${lastWords(run)}`));
    });
  });
}

function qemuArguments(run: GuestRun, ramdisk: string): readonly string[] {
  const share = (id: string, path: string, options: string) => [
    ...["-fsdev", `local,id=${id},path=${path.replaceAll(",", ",,")},security_model=none,multidevs=remap${options}`],
    ...["-device", `virtio-9p-pci,fsdev=${id},mount_tag=${id}`],
  ];
  const kernelOptions = [
    ...["console=ttyS0", "quiet", "panic=-1"],
    // On a busy host the kernel's test of its timer fails, which can end in a panic.
    "no_timer_check",
    // The guest is nobody's target, and each of these costs time.
    ...["mitigations=off", "nokaslr", "random.trust_cpu=on", "audit=0", "apparmor=0"],
  ];
  return [
    ...["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio"],
    ...["-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", `${run.memoryMiB}`],
    ...["-kernel", run.kernel.image, "-initrd", ramdisk, "-append", kernelOptions.join(" ")],
    ...share("host", "/", ",readonly=on"),
    ...share("out", run.out, ""),
  ];
}

/** For the shell's `.`: NAME='value'. */
function environmentFile(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}='${value.replaceAll("'", "'\\''")}'\n`)
    .join("");
}
