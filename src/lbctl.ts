#!/usr/bin/env node
import { applyCommands } from "./cli/apply/commands.ts";
import { CliError, type Command, commandHelp, type Io, parseCall } from "./cli/command.ts";
import { completionCommand } from "./cli/completion.ts";
import { connsCommand } from "./cli/conns.ts";
import { healthCommands } from "./cli/health.ts";
import { inspectCommands } from "./cli/inspect.ts";
import { fdbCommand } from "./cli/learned.ts";
import { metricsCommand } from "./cli/metrics.ts";
import { ofpParseCommand, ofpPrintCommand } from "./cli/ofp.ts";
import { serveCommand } from "./cli/serve.ts";
import { traceCommand } from "./cli/trace.ts";
import { verifyCommand } from "./cli/verify.ts";

const COMMANDS: readonly Command[] = [
  serveCommand,
  ...applyCommands,
  ...inspectCommands,
  ...healthCommands,
  traceCommand,
  connsCommand,
  fdbCommand,
  metricsCommand,
  verifyCommand,
  ofpPrintCommand,
  ofpParseCommand,
  completionCommand(() => shown),
];

const shown = COMMANDS.filter((c) => c.hidden !== true);

const io: Io = {
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
};

function overview(): string {
  const width = Math.max(...shown.map((c) => c.name.length));
  return [
    "lbctl: the OpenFlow load-balancing node's daemon and its command line",
    "",
    ...shown.map((c) => `  ${c.name.padEnd(width)}  ${c.summary}`),
    "",
    "lbctl COMMAND --help shows options and examples.",
  ].join("\n");
}

async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    io.out(overview());
    return name === undefined ? 2 : 0;
  }
  const command = COMMANDS.find((c) => c.name === name);
  if (!command) {
    io.err(`lbctl: there is no command "${name}" (commands: ${shown.map((c) => c.name).join(", ")})`);
    return 2;
  }
  try {
    const call = parseCall(command, rest, io);
    if (call.values["help"]) {
      io.out(commandHelp(command));
      return 0;
    }
    return await command.run(call);
  } catch (e) {
    if (!(e instanceof CliError)) throw e;
    io.err(`lbctl ${name}: ${e.message}`);
    return e.exitCode;
  }
}

// A pipe that closes early (lbctl flows | head) is not an error.
process.stdout.on("error", (e: NodeJS.ErrnoException) => {
  if (e.code === "EPIPE") process.exit(0);
});

process.exitCode = await main(process.argv.slice(2)).catch((e: unknown) => {
  io.err(`lbctl: internal error: ${e instanceof Error ? e.message : String(e)}`);
  return 70;
});
