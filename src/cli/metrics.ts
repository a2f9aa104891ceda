import { getText } from "./client.ts";
import { CLIENT_OPTION_HELP, CLIENT_OPTIONS, type Command } from "./command.ts";

/** Whether a line of the exposition format is about a metric whose name has `part` in it. */
const isAbout = (line: string, part: string): boolean => {
  const name = /^(?:# (?:HELP|TYPE) )?([a-zA-Z_:][\w:]*)/.exec(line)?.[1];
  return name?.includes(part) ?? false;
};

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const unescaped = (text: string): string => text.replace(/\\(["\\n])/g, (_, c: string) => (c === "n" ? "\n" : c));

/** One sample line; undefined for comments. */
const sample = (line: string): Sample | undefined => {
  const [, name, labels = "", value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
  if (name === undefined || value === undefined) return undefined;
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
  return {
    name,
    labels: Object.fromEntries(pairs.map(([, key = "", text = ""]) => [key, unescaped(text)])),
    value: Number(value),
  };
};

export const metricsCommand: Command = {
  name: "metrics",
  summary: "the daemon's metrics as Prometheus reads them",
  usage: "[NAME] [--json] [--server URL]",
  options: CLIENT_OPTIONS,
  optionHelp: CLIENT_OPTION_HELP,
  examples: ["lbctl metrics", "lbctl metrics flow_mods", "lbctl metrics --json | jq '.[].name'"],
  operands: [0, 1],
  run: async (call) => {
    const [part] = call.positionals;
    const all = (await getText(call, "/metrics")).trimEnd().split("\n");
    const lines = part === undefined ? all : all.filter((line) => isAbout(line, part));
    if (call.values["json"])
      call.io.out(
        JSON.stringify(
          lines.flatMap((line) => sample(line) ?? []),
          null,
          2,
        ),
      );
    else call.io.out(lines.join("\n"));
    if (lines.length > 0) return 0;
    call.io.err(`lbctl metrics: there is no metric with "${part}" in its name`);
    return 1;
  },
};
