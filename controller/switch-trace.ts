/** `ofproto/trace` (ovs-vswitchd(8)): what the switch itself says of a packet, read back into tables, fields and ports. */
import { type FieldName, fieldByName } from "../openflow/fields.ts";
import { widenPort } from "../openflow/text/output.ts";
import { formatValue } from "../openflow/text/value.ts";
import type { PacketFields } from "../pipeline/simulate/packet.ts";
import { splitList } from "./ovs-text.ts";

/** A table in the switch's own account. */
interface SwitchStep {
  readonly tableId: number;
  /** Match and priority as printed; "" when no flow matched. */
  readonly flow: string;
  readonly cookie: bigint;
  /** What it printed of the actions, one a line. */
  readonly lines: readonly string[];
}

/** The way up to conntrack or to the end. */
export interface SwitchPass {
  readonly steps: readonly SwitchStep[];
  /** The packet at the end as the switch prints it: field names are its own, values text. */
  readonly final: Readonly<Record<string, string>>;
  readonly datapathActions: string;
}

/** The argument of `ofproto/trace` for a packet. Fields have their full names, since short ones depend on their neighbours. */
export const traceArgument = (packet: PacketFields): string =>
  Object.entries(packet)
    .map(([name, value]) => {
      const def = fieldByName(name as FieldName);
      return def === undefined ? "" : `${name}=${formatValue(def, value)}`;
    })
    .filter((text) => text !== "")
    .join(",");

/** A printed packet, "a=1,b=2,word", as a record; words have the value "". */
export const readFinal = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .trim()
      .split(",")
      .map((part) => {
        const at = part.indexOf("=");
        return at < 0 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)];
      }),
  );

interface OpenPass {
  readonly start: Record<string, string>;
  readonly steps: { tableId: number; flow: string; cookie: bigint; lines: string[] }[];
  final: Record<string, string>;
  datapathActions: string;
}

/** " 0. ip,in_port=1, priority 110, cookie 0x4c42…" or " 7. No match." */
const STEP = /^\s*(\d+)\. (.*)$/;
const COOKIE = /^(.*?)(?:, cookie (0x[0-9a-f]+))?$/;

/** Reads the whole text; lines it does not know belong to the step before them. */
export const readTrace = (text: string): readonly SwitchPass[] => {
  const passes: OpenPass[] = [];
  for (const line of text.split("\n")) {
    const pass = passes.at(-1);
    if (line.startsWith("Flow: ")) {
      passes.push({ start: readFinal(line.slice(6)), steps: [], final: {}, datapathActions: "" });
    } else if (line.startsWith("Final flow: ")) {
      if (pass) pass.final = line === "Final flow: unchanged" ? pass.start : readFinal(line.slice(12));
    } else if (line.startsWith("Datapath actions: ")) {
      if (pass) pass.datapathActions = line.slice(18).trim();
    } else if (pass && pass.datapathActions === "") {
      const step = STEP.exec(line);
      if (step) {
        const [, flow = "", cookie = "0"] = COOKIE.exec(step[2] ?? "") ?? [];
        pass.steps.push({
          tableId: Number(step[1]),
          flow: flow === "No match." ? "" : flow,
          cookie: BigInt(cookie),
          lines: [],
        });
      } else if (line.trim() !== "" && !line.startsWith("Megaflow: ")) pass.steps.at(-1)?.lines.push(line.trim());
    }
  }
  return passes.map(({ steps, final, datapathActions }) => ({ steps, final, datapathActions }));
};

/** What a pass sends where, in order: datapath port numbers, and how many copies go to the controller. */
export const datapathOutputs = (actions: string): { readonly ports: readonly number[]; readonly punts: number } => {
  const ports: number[] = [];
  let punts = 0;
  for (const part of splitList(actions)) {
    if (/^\d+$/.test(part)) ports.push(Number(part));
    else if (/^clone\(/.test(part)) {
      const inner = datapathOutputs(part.slice(6, -1));
      ports.push(...inner.ports);
      punts += inner.punts;
    } else if (/\bcontroller\(/.test(part)) punts++;
  }
  return { ports, punts };
};

/** OpenFlow port numbers by datapath port number, of one bridge, from the text of `dpif/show`. */
export const readPortNumbers = (text: string, bridge: string): ReadonlyMap<number, number> => {
  const found = new Map<number, number>();
  let here = false;
  for (const line of text.split("\n")) {
    const heading = /^ {2}(\S+):\s*$/.exec(line);
    if (heading) here = heading[1] === bridge;
    const port = /^ {4}\S+ (\d+)\/(\d+):/.exec(line);
    if (here && port) found.set(Number(port[2]), widenPort(Number(port[1])));
  }
  return found;
};
