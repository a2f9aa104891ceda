import type { TraceView } from "../../controller/api/trace-views.ts";
import { readPortNumbers, readTrace } from "../../controller/switch-trace.ts";
import { unixctl } from "../../controller/unixctl.ts";
import { disagreements } from "../trace-agreement.ts";
import { get } from "./client.ts";
import { CLIENT_OPTION_HELP, CLIENT_OPTIONS, CliError, type Command, type Invocation, UsageError } from "./command.ts";
import { SOCKET_OPTION_HELP, SOCKET_OPTIONS, withSwitch } from "./switch-socket.ts";
import { showSwitchTrace, showTrace } from "./trace-text.ts";

/** Options that go to the API under their own names. */
const PASSED = ["proto", "sport", "ttl", "segment", "port", "packet", "node"] as const;

/** "A.B.C.D" or "A.B.C.D:PORT". */
function target(text: string): { readonly dst: string; readonly dport?: string } {
  const [, dst = "", dport] = /^([\d.]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (dst === "") throw new UsageError(`"${text}" is not an address or ADDRESS:PORT`);
  return dport === undefined ? { dst } : { dst, dport };
}

/** The question as a query of `/v1/trace`. */
function query(call: Invocation): string {
  const { values, positionals } = call;
  const q = new URLSearchParams();
  for (const name of PASSED) if (values[name] !== undefined) q.set(name, String(values[name]));
  for (const state of String(values["state"] ?? "").split(/\s+/)) if (state !== "") q.append("state", state);
  if (values["reply"]) q.set("reply", "true");
  const [src, dst] = positionals;
  if (values["packet"] !== undefined) {
    if (src !== undefined) throw new UsageError("--packet says everything: no SRC and DST beside it");
    return q.toString();
  }
  if (src === undefined || dst === undefined) throw new UsageError("SRC and DST are missing (or --packet)");
  q.set("src", src);
  for (const [name, value] of Object.entries(target(dst))) q.set(name, value);
  return q.toString();
}

/** The bridge to ask: the only one, unless told. */
async function bridgeOf(call: Invocation, socket: string): Promise<string> {
  const told = call.values["bridge"] as string | undefined;
  if (told !== undefined) return told;
  const all = (await unixctl(socket, "ofproto/list")).split("\n").filter((name) => name !== "");
  const [only] = all;
  if (only !== undefined && all.length === 1) return only;
  throw new CliError(
    only === undefined ? "the switch has no bridge" : `the switch has several bridges, say --bridge: ${all.join(", ")}`,
  );
}

/** The switch's own account, and whether the simulation says the same. */
async function askSwitch(call: Invocation, view: TraceView): Promise<number> {
  return await withSwitch(call, async (socket) => {
    const bridge = await bridgeOf(call, socket);
    const text = await unixctl(socket, "ofproto/trace", [bridge, ...view.switchArguments]);
    const passes = readTrace(text);
    const ofports = readPortNumbers(await unixctl(socket, "dpif/show"), bridge);
    const differences = disagreements(view, passes, ofports);
    if (call.values["json"]) call.io.out(JSON.stringify({ bridge, text, differences }, null, 2));
    else call.io.out(showSwitchTrace(view, bridge, passes, ofports, differences));
    return differences.length === 0 ? 0 : 1;
  });
}

export const traceCommand: Command = {
  name: "trace",
  summary: "the way of a packet through the tables, with what each flow is for",
  usage: "SRC DST[:PORT] [OPTIONS]",
  options: {
    ...CLIENT_OPTIONS,
    ...SOCKET_OPTIONS,
    proto: { type: "string" },
    sport: { type: "string" },
    ttl: { type: "string" },
    segment: { type: "string" },
    port: { type: "string" },
    state: { type: "string" },
    reply: { type: "boolean" },
    packet: { type: "string" },
    node: { type: "string" },
    switch: { type: "boolean" },
    bridge: { type: "string" },
  },
  optionHelp: [
    ["--proto tcp|udp|icmp", "default: tcp with a PORT, a ping without"],
    ["--sport N", "source port (default 40000)"],
    ["--ttl N", "TTL (default 64)"],
    ["--segment NAME", "segment it comes in by (default: where SRC is)"],
    ["--port NAME", "port it comes in by (default: where SRC was seen)"],
    ['--state "STATE …"', "what conntrack says at its first, second … look: est,rpl (default: new)"],
    ["--reply", "follow the answer of whoever gets the packet"],
    ["--packet MATCH", "any other packet, in place of SRC and DST: in_port=be1,arp,arp_tpa=…"],
    ["--node NAME", "one of several nodes"],
    ["--switch", "ask the switch on this machine (ofproto/trace) and compare; ends with 1 when they differ"],
    ["--bridge NAME", "its bridge, if it has several"],
    ...SOCKET_OPTION_HELP,
    ...CLIENT_OPTION_HELP,
  ],
  examples: [
    "lbctl trace 192.168.5.13 192.168.5.21:80",
    "lbctl trace 10.20.0.10 10.20.0.100:80 --sport 40001 --reply",
    "lbctl trace 10.20.0.2 8.8.8.8 --segment p2 --switch",
  ],
  operands: [0, 2],
  run: async (call) => {
    const asked = query(call);
    if (call.values["switch"] && call.values["reply"]) {
      throw new UsageError("--reply is simulated only: the switch's trace knows nothing of connections");
    }
    const view = await get<TraceView>(call, `/v1/trace?${asked}`);
    if (call.values["switch"]) return await askSwitch(call, view);
    call.io.out(call.values["json"] ? JSON.stringify(view, null, 2) : showTrace(view));
    return 0;
  },
};
