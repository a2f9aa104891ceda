import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { applyCommands } from "../../../src/cli/apply/commands.ts";
import type { Command } from "../../../src/cli/command.ts";
import { completionCommand } from "../../../src/cli/completion.ts";

const scriptFor = async (shell: string): Promise<string> => {
  const commands: readonly Command[] = [
    ...applyCommands.filter((c) => c.hidden !== true),
    completionCommand(() => commands),
  ];
  const lines: string[] = [];
  const io = { out: (text: string) => void lines.push(text), err: () => {} };
  await commands.at(-1)!.run({ values: {}, positionals: [shell], io });
  return lines.join("\n");
};

/** What a real bash offers for the last word; `lbctl` is a function that answers as the program does. */
const offered = async (...words: readonly string[]): Promise<string> => {
  const script = `
    lbctl() { [[ $1 == __names ]] && printf '%s\\n' lb/shop lb/web; }
    ${await scriptFor("bash")}
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _lbctl
    echo "\${COMPREPLY[*]}"`;
  return execFileSync("bash", ["--norc", "-c", script, "bash", ...words], { encoding: "utf8" }).trimEnd();
};

test.each([
  [["lbctl", "d"], "diff delete"],
  [["lbctl", "apply", "--d"], "--dry-run"],
  [["lbctl", "get", "lb/s"], "lb/shop"],
  [["lbctl", "delete", ""], "lb/shop lb/web"],
  [["lbctl", "completion", "z"], "zsh"],
  [["lbctl", "apply", "-f", "x"], ""],
])("bash offers for %j: %s", async (words, expected) => {
  expect(await offered(...words)).toBe(expected);
});

test("the function is registered for the command", async () => {
  const text = execFileSync("bash", ["--norc", "-c", `${await scriptFor("bash")}\ncomplete -p lbctl`], {
    encoding: "utf8",
  });
  expect(text.trim()).toBe("complete -o default -F _lbctl lbctl");
});

test("the script for zsh has every command and option", async () => {
  const script = await scriptFor("zsh");
  for (const command of applyCommands.filter((c) => c.hidden !== true)) {
    expect(script).toContain(`${command.name}) compadd -- ${Object.keys(command.options).map((o) => `--${o}`)[0]}`);
  }
});
