import type { TraceOutputView, TraceStepView, TraceView } from "../../controller/api/trace-views.ts";
import { datapathOutputs, type SwitchPass } from "../../controller/switch-trace.ts";
import { tableById } from "../../pipeline/tables.ts";

const heading = (table: number, name: string, depth: number): string =>
  `${"  ".repeat(depth)}${String(table).padStart(2)} ${name}`;

/** The part of a flow's text behind "table=N, ". */
const withoutTable = (flow: string): string => flow.replace(/^table=\d+, /, "");

function stepText(s: TraceStepView): string {
  const indent = "  ".repeat(s.depth);
  const registers = Object.entries(s.registers).map(([r, value]) => `${r}=${value}`);
  return [
    `${heading(s.table, s.tableName, s.depth)}: ${s.why}`,
    ...(s.flow === null ? [] : [`     ${withoutTable(s.flow)}`]),
    ...s.notes.map((note) => `     -> ${note}`),
    ...(registers.length === 0 ? [] : [`     ${registers.join(", ")}`]),
  ]
    .map((line, i) => (i === 0 ? line : indent + line))
    .join("\n");
}

function outputText({ port, changed }: TraceOutputView): string {
  const changes = Object.entries(changed).map(([name, value]) => `${name}=${value}`);
  return `=> out of port ${port}, ${changes.length === 0 ? "unchanged" : `with ${changes.join(", ")}`}`;
}

const packetLines = (view: TraceView): string[] => [
  `node ${view.node}: ${view.packet}`,
  ...view.assumptions.map((text) => `  assumed: ${text}`),
];

/** The simulated way, a paragraph for each pass, and at the end what became of the packet. */
export function showTrace(view: TraceView): string {
  const passes = view.passes.map((p) =>
    [...(p.conntrack === null ? [] : [`-- back from conntrack, ${p.conntrack}`]), ...p.steps.map(stepText)].join("\n"),
  );
  const end = [
    ...view.outputs.map(outputText),
    ...view.punts.map((p) => `=> to the controller as "${p.class}": ${p.purpose}`),
    ...(view.dropped === null ? [] : [`=> dropped: ${view.dropped}`]),
    ...view.learned.map((flow) => `learned: ${flow}`),
    ...view.unknown.map((action) => `NOT SIMULATED, so do not rely on this: ${action}`),
  ];
  return [packetLines(view).join("\n"), ...passes, end.join("\n")].join("\n\n");
}

const switchPassText = (p: SwitchPass): string =>
  [
    ...p.steps.flatMap((s) => [
      `${heading(s.tableId, tableById(s.tableId)?.name ?? "unknown", 0)}: ${s.flow || "no flow matches"}`,
      ...s.lines.map((line) => `     ${line}`),
    ]),
    `   datapath: ${p.datapathActions}`,
  ].join("\n");

/** The switch's account in the same form, and what the simulation says otherwise. */
export function showSwitchTrace(
  view: TraceView,
  bridge: string,
  passes: readonly SwitchPass[],
  ofports: ReadonlyMap<number, number>,
  differences: readonly string[],
): string {
  const ports = passes.flatMap((p) => datapathOutputs(p.datapathActions).ports);
  const names = ports.map((port) => {
    const ofport = ofports.get(port);
    return view.outputs.find((o) => o.ofport === ofport)?.port ?? String(ofport ?? `datapath port ${port}`);
  });
  return [
    [...packetLines(view), `bridge ${bridge} itself says:`].join("\n"),
    ...passes.map(switchPassText),
    [
      names.length === 0 ? "=> out of no port" : `=> out of ${names.join(", ")}`,
      ...(differences.length === 0
        ? ["the simulation agrees"]
        : ["the simulation DIFFERS:", ...differences.map((text) => `  ${text}`)]),
    ].join("\n"),
  ].join("\n\n");
}
