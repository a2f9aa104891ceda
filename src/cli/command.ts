import { type ParseArgsConfig, parseArgs } from "node:util";

/** What went wrong, for a person: printed as it is, without a stack trace. */
export class CliError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A wrong command line. */
export class UsageError extends CliError {
  constructor(message: string) {
    super(message, 2);
  }
}

export interface Io {
  out(text: string): void;
  err(text: string): void;
}

export interface Invocation {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
  readonly io: Io;
}

export interface Command {
  readonly name: string;
  /** For programs: not in the list of commands. */
  readonly hidden?: boolean;
  /** One line for the list of commands. */
  readonly summary: string;
  /** After "lbctl NAME". */
  readonly usage: string;
  readonly options: NonNullable<ParseArgsConfig["options"]>;
  /** What each option means, in the order they are shown. */
  readonly optionHelp: readonly (readonly [option: string, meaning: string])[];
  readonly examples: readonly string[];
  /** Least and most operands. */
  readonly operands: readonly [number, number];
  run(call: Invocation): Promise<number>;
}

/** Options every command that asks the daemon has. */
export const CLIENT_OPTIONS = {
  server: { type: "string" },
  "token-file": { type: "string" },
  json: { type: "boolean" },
} as const satisfies NonNullable<ParseArgsConfig["options"]>;

export const CLIENT_OPTION_HELP: Command["optionHelp"] = [
  ["--server URL", "the daemon's HTTP address (default http://127.0.0.1:9876, or LBCTL_SERVER)"],
  ["--token-file FILE", "file with the token for it, if it asks for one (or LBCTL_TOKEN_FILE)"],
  ["--json", "JSON for programs instead of a table"],
];

/** Parses the words after the command's name; throws {@link UsageError}. */
export function parseCall(command: Command, args: readonly string[], io: Io): Invocation {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { ...command.options, help: { type: "boolean", short: "h" } },
      allowPositionals: true,
      strict: true,
    });
    const [least, most] = command.operands;
    if (!values["help"] && (positionals.length < least || positionals.length > most)) {
      const wanted = least === most ? `${least}` : `${least} to ${most}`;
      throw new UsageError(`${positionals.length} operands given, ${wanted} wanted`);
    }
    return { values: values as Invocation["values"], positionals, io };
  } catch (e) {
    if (e instanceof CliError) throw e;
    throw new UsageError(e instanceof Error ? (e.message.split(". To specify")[0] as string) : String(e));
  }
}

export function commandHelp(command: Command): string {
  const lines = [`lbctl ${command.name}: ${command.summary}`, "", `  lbctl ${command.name} ${command.usage}`.trimEnd()];
  if (command.optionHelp.length > 0) {
    const width = Math.max(...command.optionHelp.map(([o]) => o.length));
    lines.push("", ...command.optionHelp.map(([o, meaning]) => `  ${o.padEnd(width)}  ${meaning}`));
  }
  if (command.examples.length > 0) lines.push("", "Examples", ...command.examples.map((e) => `  ${e}`));
  return lines.join("\n");
}
