import { execFile } from "node:child_process";
import { patience } from "./patience.ts";

/** Debian keeps `ip`, `ethtool`, `ovs-vswitchd` in sbin, which an ordinary user's PATH lacks. */
export const toolPath = `${process.env["PATH"] ?? ""}:/usr/local/sbin:/usr/sbin:/sbin`;

/** What the lab tells its user in one line: no stack trace, no internals. */
export class LabError extends Error {
  override name = "LabError";
}

/** A command that could not be started or ended with a status other than 0. */
export class CommandError extends LabError {
  override name = "CommandError";
  readonly argv: readonly string[];
  readonly result: CommandResult;

  constructor(argv: readonly string[], result: CommandResult) {
    const why = (result.stderr.trim() || result.stdout.trim() || "no output").split("\n").slice(0, 8).join("\n  ");
    super(`\`${argv.join(" ")}\` failed (status ${result.code}): ${why}`);
    this.argv = argv;
    this.result = result;
  }
}

export interface CommandResult {
  /** Exit status; 127 when the program does not exist, 124 when it ran out of time, 128 when a signal ended it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  /** Text for the command's standard input; without it the input is closed at once. */
  readonly input?: string;
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Milliseconds (see {@link patience}); 30 s unless told. The command is killed when they are over. */
  readonly timeoutMs?: number;
}

/** Runs a command to its end and gives its outcome, whatever that is. */
export function attempt(argv: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const [program = "", ...args] = argv;
  return new Promise((resolve) => {
    const child = execFile(
      program,
      args,
      {
        env: { ...process.env, ...options.env, PATH: toolPath },
        timeout: patience(options.timeoutMs ?? 30_000),
        killSignal: "SIGKILL",
        maxBuffer: 256 * 1024 * 1024,
      },
      (error, stdout, stderr) => resolve({ code: exitCode(error), stdout, stderr: stderr || spawnProblem(error) }),
    );
    // A command that ends without reading its input closes the pipe: its status tells, not the EPIPE.
    child.stdin?.on("error", () => {});
    child.stdin?.end(options.input ?? "");
  });
}

/**
 * Runs a command to its end and gives what it printed.
 *
 * @throws CommandError when it cannot be started or does not end with status 0.
 */
export async function run(argv: readonly string[], options: CommandOptions = {}): Promise<string> {
  const result = await attempt(argv, options);
  if (result.code !== 0) throw new CommandError(argv, result);
  return result.stdout;
}

/** Runs many `ip` commands in one process, in the network namespace `namespace` or in the present one. */
export async function ipBatch(lines: readonly string[], namespace?: string): Promise<void> {
  const argv = ["ip", ...(namespace === undefined ? [] : ["-n", namespace]), "-batch", "-"];
  await run(argv, { input: `${lines.join("\n")}\n` });
}

type ExecError = Parameters<NonNullable<Parameters<typeof execFile>[3]>>[0];

function exitCode(error: ExecError): number {
  if (error === null) return 0;
  if (typeof error.code === "number") return error.code;
  if (error.killed === true) return 124;
  return error.signal ? 128 : 127;
}

function spawnProblem(error: ExecError): string {
  if (error === null || typeof error.code === "number") return "";
  if (error.killed === true) return "it did not end in time";
  return error.code === "ENOENT" ? "no such program" : error.message;
}
