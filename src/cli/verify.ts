import { attach } from "../lab/lab.ts";
import { LabError } from "../lab/shell.ts";
import { checkLine, summaryLine } from "../lab/verify/check.ts";
import { groups } from "../lab/verify/groups.ts";
import { restoreLab, verify } from "../lab/verify/run.ts";
import { CliError, type Command, UsageError } from "./command.ts";

export const verifyCommand: Command = {
  name: "verify",
  summary: "check a running lab, on captured packets and on the switch's own state",
  usage: "[--lab NAME] [--group NAME]... [--json]",
  options: {
    lab: { type: "string" },
    group: { type: "string" },
    json: { type: "boolean" },
  },
  optionHelp: [
    ["--lab NAME", "which lab (default: lab); it is as before when the checks are over"],
    ["--group NAMES", `only these, separated by commas: ${groups.map((group) => group.name).join(", ")}`],
    ["--json", "JSON for programs, when all is done"],
  ],
  examples: [
    "lbctl verify",
    "lbctl verify --group arp,private",
    "lbctl verify --json | jq '.results[] | select(.ok | not)'",
  ],
  operands: [0, 0],
  run: async ({ values, io }) => {
    const names = (values["group"] as string | undefined)?.split(",");
    const unknown = names?.find((name) => !groups.some((group) => group.name === name));
    if (unknown !== undefined) throw new UsageError(`--group: there is no group "${unknown}"`);
    const stop = (): void => void restoreLab().finally(() => process.exit(130));
    process.once("SIGINT", stop).once("SIGTERM", stop);
    try {
      const lab = attach({ name: (values["lab"] as string | undefined) ?? "lab" });
      const report = await verify(lab, {
        ...(names === undefined ? {} : { groups: names }),
        ...(values["json"] === true
          ? {}
          : {
              onGroup: ({ name, about }) => io.out(`${name}: ${about}`),
              onResult: (result) => io.out(checkLine(result)),
            }),
      });
      io.out(values["json"] === true ? JSON.stringify(report, null, 2) : summaryLine(report));
      return report.passed === report.total ? 0 : 1;
    } catch (e) {
      if (e instanceof LabError) throw new CliError(e.message);
      throw e;
    } finally {
      process.removeListener("SIGINT", stop).removeListener("SIGTERM", stop);
    }
  },
};
