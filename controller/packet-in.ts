import type { FieldValue } from "../openflow/fields.ts";
import type { Message } from "../openflow/messages/all.ts";
import { type PuntName, puntOf } from "../pipeline/punt.ts";

/** A packet the switch sent up, with what the pipeline knew about it. */
export interface PacketIn {
  readonly punt: PuntName;
  /** OpenFlow number of the port it came in by. */
  readonly inPort: number;
  readonly tableId: number;
  readonly frame: Buffer;
  /** Value of a register or other metadata field; 0 when the switch left it out, as it does for zeros. */
  metadata(field: string): FieldValue;
}

/** Reads an NXT_PACKET_IN2; undefined when it is not one of ours or lacks what every one of ours has. */
export function readPacketIn(message: Message): PacketIn | undefined {
  if (message.type !== "nxt_packet_in2") return undefined;
  let frame: Buffer | undefined;
  let punt: PuntName | undefined;
  let tableId = 0;
  const fields = new Map<string, FieldValue>();
  for (const p of message.properties) {
    if (p.kind === "packet") frame = p.data;
    else if (p.kind === "userdata") punt = puntOf(p.data);
    else if (p.kind === "table_id") tableId = p.tableId;
    else if (p.kind === "metadata") for (const f of p.match) if (f.field !== "raw") fields.set(f.field, f.value);
  }
  if (!frame || !punt) return undefined;
  return {
    punt,
    inPort: Number(fields.get("in_port") ?? 0),
    tableId,
    frame,
    metadata: (field) => fields.get(field) ?? 0,
  };
}
