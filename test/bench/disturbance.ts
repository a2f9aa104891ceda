/** How many slots move when one member changes, beyond those that have to. */
import { type SlotLayout, type SlotMember, slotLayout } from "../../pipeline/slots.ts";

const SLOTS = 1024;
const COUNTS = [2, 3, 4, 8, 16, 32, 64] as const;
/** Members are tried one by one, in large pools so many of them. */
const TRIED = 8;

const WEIGHTS = { equal: (_: number) => 1, "1 to 4": (i: number) => 1 + (i % 4) } as const;

/** Slots that had to move, and others that moved, of 1024; the worst of all members tried. */
export interface Moved {
  readonly own: number;
  readonly others: number;
}

export interface DisturbanceRow {
  readonly members: number;
  readonly weights: keyof typeof WEIGHTS;
  /** Fails, or is drained: stays configured. */
  readonly drained: Moved;
  /** Is removed from the pool. */
  readonly removed: Moved;
  readonly added: Moved;
  /** Its weight becomes greater by one. */
  readonly heavier: Moved;
}

const pool = (count: number, weight: (i: number) => number): readonly SlotMember[] =>
  Array.from({ length: count }, (_, i) => ({ id: i + 1, key: `10.20.0.${i + 2}:8080`, weight: weight(i) }));

/** Own slots are those that `id` gives or takes. */
const moved = (before: SlotLayout, after: SlotLayout, id: number): Moved => {
  const changed = before.flatMap((was, slot) => (was === after[slot] ? [] : [[was, after[slot]]]));
  const own = changed.filter(([was, is]) => was === id || is === id).length;
  return { own, others: changed.length - own };
};

const worst = (all: readonly Moved[]): Moved => all.reduce((a, b) => (b.others > a.others ? b : a));

const row = (members: number, weights: keyof typeof WEIGHTS): DisturbanceRow => {
  const all = pool(members, WEIGHTS[weights]);
  const before = slotLayout(SLOTS, all, all);
  const step = Math.max(1, Math.floor(members / TRIED));
  const tried = all.filter((_, i) => i % step === 0).slice(0, TRIED);
  const without = (m: SlotMember) => all.filter((x) => x !== m);
  const heavier = (m: SlotMember) => all.map((x) => (x === m ? { ...x, weight: x.weight + 1 } : x));
  const each = (change: (m: SlotMember) => Moved): Moved => worst(tried.map(change));
  return {
    members,
    weights,
    drained: each((m) => moved(before, slotLayout(SLOTS, all, without(m)), m.id)),
    removed: each((m) => moved(before, slotLayout(SLOTS, without(m), without(m)), m.id)),
    added: each((m) => moved(slotLayout(SLOTS, without(m), without(m)), before, m.id)),
    heavier: each((m) => moved(before, slotLayout(SLOTS, heavier(m), heavier(m)), m.id)),
  };
};

/** The table for pools of 2 to 64 members. */
export const disturbance = (): readonly DisturbanceRow[] =>
  COUNTS.flatMap((members) => [row(members, "equal"), row(members, "1 to 4")]);

const CHANGES = ["drained", "removed", "added", "heavier"] as const;
const TITLES = ["members", "weights", "fails or is drained", "removed", "added", "weight + 1"] as const;

const cell = ({ own, others }: Moved): string => `${own} + ${others} (${((100 * others) / SLOTS).toFixed(1)} %)`;

/** The table in Markdown, its columns in line. */
export const disturbanceTable = (rows: readonly DisturbanceRow[]): string => {
  const cells = rows.map((r) => [String(r.members), r.weights, ...CHANGES.map((change) => cell(r[change]))]);
  const widths = TITLES.map((title, i) => Math.max(title.length, ...cells.map((c) => c[i]!.length)));
  const line = (texts: readonly string[]) => `| ${texts.map((t, i) => t.padEnd(widths[i]!)).join(" | ")} |`;
  return [line(TITLES), line(widths.map((w) => "-".repeat(w))), ...cells.map(line)].join("\n");
};
