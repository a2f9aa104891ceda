/** Whether the simulation of a packet and the switch's own account of it say the same. */
import type { TraceView } from "../controller/api/trace-views.ts";
import { datapathOutputs, readFinal, type SwitchPass } from "../controller/switch-trace.ts";
import { parseCookie } from "../pipeline/cookies.ts";
import { flagClientLearned, flagMacLearned } from "../pipeline/registers.ts";

/** Values that say the same as a field that is not printed. */
const NOTHING = /^(0|0x0+|no|00:00:00:00:00:00|0\.0\.0\.0|::|)$/;
/** The switch's own bookkeeping, and the word it puts beside it. */
const IGNORED: ReadonlySet<string> = new Set(["recirc_id", "eth"]);

/** Flags in one order, whatever joined them. */
const plain = (value: string): string =>
  value
    .split(/[|+]/)
    .filter((word) => word !== "")
    .sort()
    .join("|");

/**
 * A switch that only traces learns nothing, and says so in these bits where a packet would be learned (its `learn` fails
 * while there is a limit); what counts on them in table 2 follows. Neither tells anything of the packet's way.
 */
const LEARNED_BITS = [flagMacLearned, flagClientLearned].reduce((mask, { ofs }) => mask | (1n << BigInt(ofs)), 0n);

const comparable = (name: string, value: string): string =>
  name === flagMacLearned.field ? `0x${(BigInt(value) & ~LEARNED_BITS).toString(16)}` : value;

const isGuard = (cookie: bigint): boolean => parseCookie(cookie)?.feature === "guard";

const fieldDifferences = (ours: Readonly<Record<string, string>>, theirs: SwitchPass["final"]): readonly string[] => {
  const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].filter((name) => !IGNORED.has(name));
  return names.flatMap((name) => {
    const [a, b] = [ours, theirs].map((fields) => {
      const value = comparable(name, fields[name] ?? "0");
      return NOTHING.test(value) ? "" : plain(value);
    });
    return a === b ? [] : [`${name} is ${a || "nothing"} here and ${b || "nothing"} there`];
  });
};

const tables = (steps: readonly { readonly tableId: number }[]): string => steps.map((s) => s.tableId).join(" ");

const passDifferences = (ours: TraceView["passes"][number], theirs: SwitchPass): readonly string[] => {
  const here = tables(ours.steps.map((s) => ({ tableId: s.table })));
  const there = tables(theirs.steps);
  if (here !== there) return [`tables ${here} here, ${there} there`];
  const flows = ours.steps.flatMap((s, i) => {
    const other = theirs.steps[i]?.cookie ?? 0n;
    const own = BigInt(s.cookie);
    return own === other || (isGuard(own) && isGuard(other))
      ? []
      : [`table ${s.table}: cookie ${s.cookie} here, 0x${other.toString(16)} there`];
  });
  return [...flows, ...fieldDifferences(readFinal(ours.final), theirs.final)];
};

/**
 * What the two accounts differ in, as text; empty when they agree on every table and flow in order, on the packet behind
 * each pass, on the ports and on the copies for the controller.
 *
 * @param ofports OpenFlow port numbers by datapath port number
 */
export function disagreements(
  view: TraceView,
  passes: readonly SwitchPass[],
  ofports: ReadonlyMap<number, number>,
): readonly string[] {
  const found: string[] = [];
  if (view.passes.length !== passes.length) found.push(`${view.passes.length} passes here, ${passes.length} there`);
  view.passes.forEach((pass, i) => {
    const other = passes[i];
    if (other) found.push(...passDifferences(pass, other).map((text) => `pass ${i + 1}: ${text}`));
  });
  const sent = passes.map((p) => datapathOutputs(p.datapathActions));
  const here = view.outputs.map((o) => o.ofport).join(" ");
  const there = sent.flatMap((s) => s.ports.map((p) => ofports.get(p) ?? `datapath port ${p}`)).join(" ");
  if (here !== there) found.push(`ports ${here || "none"} here, ${there || "none"} there`);
  const punts = sent.reduce((sum, s) => sum + s.punts, 0);
  if (view.punts.length !== punts) found.push(`${view.punts.length} copies for the controller here, ${punts} there`);
  return found;
}
