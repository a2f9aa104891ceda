import type { FdbEntryView, FdbView } from "../../controller/api/trace-views.ts";
import { inspector } from "./inspect.ts";
import { type Column, table } from "./table.ts";

const COLUMNS: readonly Column<FdbEntryView>[] = [
  { title: "mac", cell: (e) => e.mac },
  { title: "port", cell: (e) => e.port },
  { title: "addresses", cell: (e) => e.addresses.join(" ") || "-" },
  { title: "known for", right: true, cell: (e) => `${e.secondsKnown}s` },
  { title: "kept unseen", right: true, cell: (e) => `${e.secondsKept}s` },
  { title: "packets to it", right: true, cell: (e) => e.packets },
];

const show = (segments: readonly FdbView[]): string =>
  segments
    .map((s) => {
      const flooded =
        s.floodedPackets === null ? "no flood group" : `${s.floodedPackets} packets (${s.floodedBytes} bytes) flooded`;
      return `segment ${s.segment} on ${s.node}: ${s.entries.length} MACs learned, ${flooded}\n${table(s.entries, COLUMNS)}`;
    })
    .join("\n\n") || "no switch is connected";

export const fdbCommand = inspector<readonly FdbView[]>({
  name: "fdb",
  summary: "MAC addresses the switches have learned, by segment, and what was flooded",
  usage: "[SEGMENT]",
  operands: [0, 1],
  examples: ["lbctl fdb", "lbctl fdb p2"],
  path: ({ positionals: [segment] }) =>
    segment === undefined ? "/v1/fdb" : `/v1/fdb?segment=${encodeURIComponent(segment)}`,
  show,
});
