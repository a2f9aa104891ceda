import type { OxmField } from "../../openflow/match.ts";
import { parseInstructions } from "../../openflow/text/parse-actions.ts";
import { parseMatch } from "../../openflow/text/parse-match.ts";
import type { PacketFields } from "../../pipeline/simulate/packet.ts";
import type { SimulatedFlow } from "../../pipeline/simulate/tables.ts";

/** A flow in ovs-ofctl's words: "table=1,priority=5,MATCH actions=ACTIONS". */
export const flow = (text: string): SimulatedFlow => {
  const [, head = "", actions = ""] = /^(.*?)\s*\bactions=(.*)$/.exec(text) ?? [];
  let tableId = 0;
  let priority = 32_768;
  let cookie = 0n;
  const match = head.split(",").filter((part) => {
    const [name, value = ""] = part.trim().split("=");
    if (name === "table") tableId = Number(value);
    else if (name === "priority") priority = Number(value);
    else if (name === "cookie") cookie = BigInt(value);
    else return name !== "";
    return false;
  });
  return {
    tableId,
    priority,
    cookie,
    match: parseMatch(match.join(",")),
    instructions: actions === "drop" ? [] : parseInstructions(actions),
  };
};

/** The fields of a packet in the words of a match. */
export const packet = (text: string): PacketFields =>
  Object.fromEntries((parseMatch(text) as readonly OxmField[]).map((f) => [f.field, f.value]));
