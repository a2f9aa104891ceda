import { UnixctlError, vswitchdSocket } from "../../controller/unixctl.ts";
import { CliError, type Command, type Invocation } from "./command.ts";

/** Options of commands that ask the switch itself, on the machine it runs on. */
export const SOCKET_OPTIONS = { unixctl: { type: "string" } } as const satisfies Command["options"];

export const SOCKET_OPTION_HELP: Command["optionHelp"] = [
  ["--unixctl PATH", "ovs-vswitchd's management socket (default: from ovs-vswitchd.pid in OVS_RUNDIR)"],
];

/** Runs `use` with the path of the switch's socket; what goes wrong with it becomes a message for the operator. */
export async function withSwitch<T>(call: Invocation, use: (socket: string) => Promise<T>): Promise<T> {
  try {
    return await use((call.values["unixctl"] as string | undefined) ?? (await vswitchdSocket()));
  } catch (e) {
    if (e instanceof UnixctlError) throw new CliError(e.message);
    throw e;
  }
}
