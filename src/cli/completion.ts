/** Completion for shells, made from the table of commands. */
import { type Command, UsageError } from "./command.ts";

const flagsOf = (command: Command): readonly string[] => [
  ...Object.entries(command.options).flatMap(([name, { short }]) =>
    short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`],
  ),
  "--help",
];

/** Options with a value: what follows them is no operand and no option. */
const valued = (commands: readonly Command[]): readonly string[] => {
  const flags = commands.flatMap((c) =>
    Object.entries(c.options)
      .filter(([, { type }]) => type === "string")
      .flatMap(([name, { short }]) => (short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`])),
  );
  return [...new Set(flags)];
};

/** Commands whose operand is lb/NAME. */
const named = (commands: readonly Command[]): readonly string[] =>
  commands.filter((c) => c.usage.includes("lb/NAME") || c.usage.startsWith("lb[")).map((c) => c.name);

const names = (commands: readonly Command[]): string => commands.map((c) => c.name).join(" ");

const bash = (commands: readonly Command[]): string => `# lbctl completion bash
_lbctl() {
  local cur=\${COMP_WORDS[COMP_CWORD]} words=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "${names(commands)}" -- "$cur"))
    return
  fi
  # Behind an option with a value, readline completes file names.
  case \${COMP_WORDS[COMP_CWORD - 1]} in
    ${valued(commands).join(" | ")}) return ;;
  esac
  if [[ $cur == -* ]]; then
    case \${COMP_WORDS[1]} in
${commands.map((c) => `      ${c.name}) words="${flagsOf(c).join(" ")}" ;;`).join("\n")}
    esac
  else
    case \${COMP_WORDS[1]} in
      ${named(commands).join(" | ")}) words=$("\${COMP_WORDS[0]}" __names 2>/dev/null) ;;
      completion) words="bash zsh" ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _lbctl lbctl`;

const zsh = (commands: readonly Command[]): string => `#compdef lbctl
_lbctl() {
  if ((CURRENT == 2)); then
    compadd -- ${names(commands)}
    return
  fi
  case $words[CURRENT-1] in
    ${valued(commands).join("|")}) _files; return ;;
  esac
  if [[ $words[CURRENT] == -* ]]; then
    case $words[2] in
${commands.map((c) => `      ${c.name}) compadd -- ${flagsOf(c).join(" ")} ;;`).join("\n")}
    esac
    return
  fi
  case $words[2] in
    ${named(commands).join("|")}) compadd -- \${(f)"$($words[1] __names 2>/dev/null)"} ;;
    completion) compadd -- bash zsh ;;
    *) _files ;;
  esac
}
compdef _lbctl lbctl`;

/** @param commands the table, which this command itself is in */
export const completionCommand = (commands: () => readonly Command[]): Command => ({
  name: "completion",
  summary: "a script that makes the shell complete commands, options and names",
  usage: "bash|zsh",
  options: {},
  optionHelp: [],
  examples: ["source <(lbctl completion bash)"],
  operands: [1, 1],
  run: async ({ positionals: [shell], io }) => {
    if (shell !== "bash" && shell !== "zsh") throw new UsageError(`"${shell}" is not bash or zsh`);
    io.out(shell === "bash" ? bash(commands()) : zsh(commands()));
    return 0;
  },
});
