import { DecodeError } from "../errors.ts";
import { instructions } from "../instructions.ts";
import { type Codec, pad, rest, u8, u16, u32, u64, type Writer } from "../schema/codec.ts";
import { patchLength } from "../schema/records.ts";
import { compile, type Layout, layout } from "../schema/struct.ts";
import {
  Experimenter,
  experimenterMessage,
  experimenterMultipart,
  MULTIPART_REPLY,
  MULTIPART_REQUEST,
} from "./define.ts";
import { repeatedLengthMatch } from "./padded-match.ts";

/*
 * Flow monitors of OpenFlow 1.4 (§7.3.5.17 there) as the ONF extension EXT-187 for 1.3.
 */

const { onf } = Experimenter;

/** ONFFMF_*, what a monitor wants to hear. */
export const MonitorFlag = { initial: 1, add: 2, delete: 4, modify: 8, actions: 16, own: 32 } as const;

const request = {
  monitorId: u32,
  flags: u16,
  _length: pad(2),
  outPort: u32,
  tableId: u8,
  _: pad(3),
  match: repeatedLengthMatch(10),
} as const;

const full = {
  reason: u16,
  priority: u16,
  idleTimeout: u16,
  hardTimeout: u16,
  _length: pad(2),
  tableId: u8,
  _: pad(1),
  cookie: u64,
  match: repeatedLengthMatch(12),
  instructions,
} as const;

/** ONFFME_*: what happened to a flow. `abbrev` stands for this connection's own change with that transaction id. */
const events = [
  layout(full, ["event", "added"]),
  layout(full, ["event", "deleted"]),
  layout(full, ["event", "modified"]),
  layout({ xid: u32 }, ["event", "abbrev"]),
] as const;
const names = ["added", "deleted", "modified", "abbrev"] as const;
const ABBREV = 3;

type Value<L> = L extends Layout<infer T> ? T : never;
type Full = Value<(typeof events)[0]>;
export type FlowUpdate =
  | ({ readonly event: "added" | "deleted" | "modified" } & Full)
  | { readonly event: "abbrev"; readonly xid: number };

const readers: readonly ((b: Buffer) => unknown)[] = events.map((l) => compile(l as Layout<unknown>));

const UPDATE_HEADER = 4;
/** Where in an update the length of its match stands, and where the match. */
const MATCH_LENGTH = 12;
const MATCH = 24;

/** Whether both lengths of an update's match come to the same with padding. */
function sameLength(b: Buffer, at: number): boolean {
  const padded = (from: number): number => Math.ceil(b.readUInt16BE(from) / 8);
  return padded(at + MATCH_LENGTH) === padded(at + MATCH + 2);
}

/** Each update begins with its length and its event, which decides the rest. */
const updates: Codec<readonly FlowUpdate[]> = rest<readonly FlowUpdate[]>({
  write: (w: Writer, list) => {
    for (const update of list) {
      const start = w.writeOffset;
      const event = names.indexOf(update.event);
      w.writeUInt16BE(0);
      w.writeUInt16BE(event);
      (events[event] as Layout<unknown>).write(w, update);
      patchLength(w, start, start);
    }
  },
  read: (b) => {
    const list: FlowUpdate[] = [];
    let at = 0;
    while (at < b.length) {
      const stop = at + b.readUInt16BE(at);
      const event = b.readUInt16BE(at + 2);
      list.push(readers[event]?.(b.subarray(at + UPDATE_HEADER, stop)) as FlowUpdate);
      at = stop;
    }
    return list;
  },
  check: (b, at, end) => {
    let here = at;
    while (here < end) {
      const length = end - here < UPDATE_HEADER ? 0 : b.readUInt16BE(here);
      const stop = here + length;
      if (length < 8 || stop > end || length % 8 !== 0) {
        throw new DecodeError("OFPBRC_BAD_LEN", here, `flow update of ${length} bytes, ${end - here} left`);
      }
      const event = b.readUInt16BE(here + 2);
      const kind = events[event];
      if (!kind) throw new DecodeError("NXBRC_FM_BAD_EVENT", here + 2, `flow update with event ${event}`);
      const used = kind.fence(b, here + UPDATE_HEADER, stop);
      if (event !== ABBREV && !sameLength(b, here)) {
        throw new DecodeError("OFPBRC_BAD_LEN", here + MATCH_LENGTH, "two lengths of one match differ");
      }
      if (used !== stop || (event === ABBREV && length !== 8)) {
        throw new DecodeError("OFPBRC_BAD_LEN", used, `${stop - used} bytes left over in a flow update`);
      }
      here = stop;
    }
  },
});

const monitorItem = layout(request);
/** Where in a request the three bytes are that must be zero. */
const RESERVED = 13;
const readMonitor = compile(monitorItem);

/** Monitors one after another; the match in each tells where it ends. */
const monitors: Codec<readonly Value<typeof monitorItem>[]> = rest<readonly Value<typeof monitorItem>[]>({
  write: (w: Writer, list) => {
    for (const m of list) monitorItem.write(w, m);
  },
  read: (b) => {
    const list: Value<typeof monitorItem>[] = [];
    let at = 0;
    while (at < b.length) {
      const stop = monitorItem.fence(b, at, b.length);
      list.push(readMonitor(b.subarray(at, stop)));
      at = stop;
    }
    return list;
  },
  check: (b, at, end) => {
    let here = at;
    while (here < end) {
      const stop = monitorItem.fence(b, here, end);
      if (b.readUIntBE(here + RESERVED, 3) !== 0) throw new DecodeError("NXBRC_MUST_BE_ZERO", here, "reserved bytes");
      here = stop;
    }
  },
});

export const flowMonitorRequest = experimenterMultipart(
  MULTIPART_REQUEST,
  onf,
  1870,
  "flow_monitor_request",
  "ONFST_FLOW_MONITOR request",
  { monitors },
  { unit: 8 },
);
export const flowMonitorReply = experimenterMultipart(
  MULTIPART_REPLY,
  onf,
  1870,
  "flow_monitor_reply",
  "ONFST_FLOW_MONITOR reply",
  { updates },
  { unit: 8 },
);

export const flowMonitorCancel = experimenterMessage(onf, 1870, "flow_monitor_cancel", "ONFT_FLOW_MONITOR_CANCEL", {
  monitorId: u32,
});
/** Updates were dropped because the connection was full; nothing comes until `resumed`. */
export const flowMonitorPaused = experimenterMessage(onf, 1871, "flow_monitor_paused", "ONFT_FLOW_MONITOR_PAUSED", {});
export const flowMonitorResumed = experimenterMessage(
  onf,
  1872,
  "flow_monitor_resumed",
  "ONFT_FLOW_MONITOR_RESUMED",
  {},
);
