import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { checkMessage } from "../../openflow/check-message.ts";
import { decode, encode } from "../../openflow/codec.ts";
import { Framer } from "../../openflow/framer.ts";
import type { Message } from "../../openflow/messages/all.ts";
import { GroupCommand } from "../../openflow/messages/group.ts";
import { MeterCommand } from "../../openflow/messages/meter.ts";
import { messagesOfCapture } from "../../openflow/packet/openflow-stream.ts";
import { parseFlow } from "../../openflow/text/flow.ts";
import { parseGroup } from "../../openflow/text/group.ts";
import { parseMeter } from "../../openflow/text/meter.ts";
import { ParseError } from "../../openflow/text/parse-error.ts";
import { formatMessage } from "../../openflow/text/print.ts";
import { CliError, type Command, type Invocation, UsageError } from "./command.ts";

/** One message as `ofp-print --json` gives it. */
interface Printed {
  /** What ovs-ofctl ofp-print prints, without the newline at the end. */
  readonly text: string;
  /** OVS's name of the error with which the message must be refused. */
  readonly error?: string;
  /** The message taken apart; numbers over 53 bits are decimal strings, bytes are hex. */
  readonly message?: Message;
}

function print(bytes: Buffer): Printed {
  const text = formatMessage(bytes).replace(/\n+$/, "");
  const decoded = decode(bytes);
  if (!decoded.ok) return { text, error: decoded.error.code };
  const refused = checkMessage(decoded.message);
  return { text, ...(refused ? { error: refused.code } : {}), message: decoded.message };
}

const json = (value: unknown): string =>
  JSON.stringify(value, (_key, v: unknown) => {
    if (typeof v === "bigint") return v.toString();
    if (Buffer.isBuffer(v)) return v.toString("hex");
    // Buffers have a toJSON of their own, which has run by the time this function sees them.
    if (
      typeof v === "object" &&
      v !== null &&
      "type" in v &&
      v.type === "Buffer" &&
      "data" in v &&
      Array.isArray(v.data)
    ) {
      return Buffer.from(v.data as number[]).toString("hex");
    }
    return v;
  });

function bytesOf(hex: string, what: string): Buffer {
  const digits = hex.replace(/[\s:.]/g, "");
  const bad = /[^0-9a-fA-F]/.exec(digits);
  if (bad) throw new CliError(`${what}: "${bad[0]}" is not a hex digit`);
  if (digits.length === 0) throw new CliError(`${what}: no hex digits`);
  if (digits.length % 2 !== 0) throw new CliError(`${what}: an odd number of hex digits`);
  return Buffer.from(digits, "hex");
}

/** Several messages may stand in one string of bytes, as in a TCP stream; what is left over is one more. */
function messagesIn(bytes: Buffer): Buffer[] {
  const framer = new Framer();
  const messages = framer.push(bytes);
  const used = messages.reduce((sum, m) => sum + m.length, 0);
  return used === bytes.length ? messages : [bytes];
}

export const ofpPrintCommand: Command = {
  name: "ofp-print",
  summary: "print OpenFlow messages as ovs-ofctl ofp-print does",
  usage: "HEX... | - | --pcap FILE  [--json]",
  options: { json: { type: "boolean" }, pcap: { type: "string" } },
  optionHelp: [
    ["HEX", "the bytes of a message"],
    ["-", "hex on standard input, one message a line"],
    ["--pcap FILE", "every OpenFlow message of a capture, TCP put together (port 6653, or 6633)"],
    ["--json", 'one JSON object a message: "text", "error" where it must be refused, "message"'],
  ],
  examples: [
    "lbctl ofp-print 0400000800000001",
    "lbctl ofp-print --pcap /tmp/pub0.pcap",
    "cat hex.txt | lbctl ofp-print --json -",
  ],
  operands: [0, 1024],
  run: async (call) => {
    const file = call.values["pcap"] as string | undefined;
    if ((file !== undefined) === call.positionals.length > 0) throw new UsageError("HEX, -, or --pcap FILE is wanted");
    if (file !== undefined) return printCapture(call, file);
    if (call.positionals.length === 1 && call.positionals[0] === "-") return await printLines(call);
    for (const m of messagesIn(bytesOf(call.positionals.join(""), "HEX"))) show(call, print(m));
    return 0;
  },
};

function show(call: Invocation, printed: Printed, heading?: string): void {
  if (call.values["json"]) call.io.out(json(printed));
  else call.io.out(heading === undefined ? printed.text : `${heading}\n${printed.text}`);
}

async function printLines(call: Invocation): Promise<number> {
  let failed = 0;
  let number = 0;
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    number++;
    if (line.trim() === "") continue;
    try {
      show(call, print(bytesOf(line, `line ${number}`)));
    } catch (e) {
      if (!(e instanceof CliError)) throw e;
      failed++;
      if (call.values["json"]) call.io.out(json({ text: "", error: e.message }));
      else call.io.err(e.message);
    }
  }
  return failed > 0 ? 1 : 0;
}

function printCapture(call: Invocation, path: string): number {
  let file: Buffer;
  try {
    file = readFileSync(path);
  } catch (e) {
    throw new CliError(`--pcap: cannot read ${path}: ${(e as NodeJS.ErrnoException).code}`);
  }
  const found = messagesOfCapture(file);
  if (!found)
    throw new CliError(
      `--pcap: ${path} is not a capture in pcap format (pcapng is not read: tcpdump -w, or editcap -F pcap)`,
    );
  for (const { at, from, to, bytes } of found.messages) {
    const time = new Date(at / 1000).toISOString();
    show(call, print(bytes), `# ${time} ${from} > ${to}`);
  }
  for (const warning of found.warnings) call.io.err(warning);
  return 0;
}

export const ofpParseCommand: Command = {
  name: "ofp-parse",
  summary: "turn a flow, group or meter in ovs-ofctl's words into the bytes of its message",
  usage: "FLOW [--delete|--modify] | --group GROUP | --meter METER",
  options: {
    group: { type: "boolean" },
    meter: { type: "boolean" },
    delete: { type: "boolean" },
    modify: { type: "boolean" },
  },
  optionHelp: [
    ["FLOW", "as ovs-ofctl add-flow takes it"],
    ["--delete, --modify", "the command of the flow mod; it is ADD without"],
    ["--group", "a group, as ovs-ofctl add-group takes it"],
    ["--meter", "a meter, as ovs-ofctl add-meter takes it"],
  ],
  examples: [
    "lbctl ofp-parse 'table=0,priority=10,tcp,tp_dst=80,actions=output:1'",
    "lbctl ofp-parse --group 'group_id=9,type=all,bucket=output:1'",
  ],
  operands: [1, 1],
  run: async (call) => {
    const [text = ""] = call.positionals;
    try {
      call.io.out(encode(messageOf(call, text)).toString("hex"));
      return 0;
    } catch (e) {
      if (!(e instanceof ParseError)) throw e;
      throw new CliError(`${e.message}\n  ${text}\n  ${" ".repeat(e.column)}^`, 2);
    }
  },
};

function messageOf({ values }: Invocation, text: string): Message {
  if (values["group"]) return { type: "group_mod", xid: 0, command: GroupCommand.add, ...parseGroup(text) };
  if (values["meter"]) return { type: "meter_mod", xid: 0, command: MeterCommand.add, ...parseMeter(text) };
  const command = values["delete"] ? "delete" : values["modify"] ? "modify" : "add";
  return { type: "flow_mod", xid: 0, ...parseFlow(text, command) };
}
