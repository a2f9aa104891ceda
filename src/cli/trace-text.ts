import type { TraceOutputView, TraceStepView, TraceView } from "../../controller/api/trace-views.ts";
import { datapathOutputs, type SwitchPass } from "../../controller/switch-trace.ts";
import { tableById } from "../../pipeline/tables.ts";

const heading = (table: number, name: string, depth: number): string =>
  `${"  ".repeat(depth)}${String(table).padStart(2)} ${name}`;

/** A flow without its table, and without what `learn` is given: that stands at the end. */
const shortFlow = (flow: string): string => flow.replace(/^table=\d+, /, "").replaceAll(/learn\([^)]*\)/g, "learn(…)");

/** Registers that are not as they were before. */
const changes = (now: TraceStepView["registers"], before: TraceStepView["registers"]): string[] =>
  Object.entries(now).flatMap(([r, value]) => (before[r] === value ? [] : [`${r}=${value}`]));

function stepText(s: TraceStepView, before: TraceStepView["registers"]): string {
  const indent = "  ".repeat(s.depth);
  const registers = changes(s.registers, before);
  const details = [
    ...(s.flow === null ? [] : [shortFlow(s.flow)]),
    ...s.notes.map((note) => `-> ${note}`),
    ...(registers.length === 0 ? [] : [registers.join(", ")]),
  ];
  return [
    `${heading(s.table, s.tableName, s.depth)}: ${s.why}`,
    ...details.map((line) => `${indent}     ${line}`),
  ].join("\n");
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
  let registers: TraceStepView["registers"] = {};
  const passes = view.passes.map((p) => {
    const lines = p.conntrack === null ? [] : [`-- back from conntrack: ${p.conntrack}`];
    for (const step of p.steps) {
      lines.push(stepText(step, registers));
      ({ registers } = step);
    }
    return lines.join("\n");
  });
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
