import { fieldByNumber, fields } from "../fields.ts";
import type { MessageOfType } from "../messages/all.ts";
import type { TableProperty, TypeId } from "../messages/table.ts";
import { hexOrZero } from "./bytes.ts";
import { actionNames } from "./print-group.ts";

type Table = MessageOfType<"table_features_reply">["tables"][number];
type TableStats = MessageOfType<"table_stats_reply">["tables"][number];

/** Names with common beginnings once: `eth_{src,dst} reg0...reg7`. */
function compactNames(names: readonly string[]): string {
  return compact(names, "").join(" ");
}

function compact(names: readonly string[], separatorBefore: string): string[] {
  const out: string[] = [];
  let i = 0;
  while (i < names.length) {
    const name = names[i] as string;
    const cut = name.indexOf("_");
    const prefix = cut < 0 ? undefined : name.slice(0, cut + 1);
    let end = i + 1;
    if (prefix !== undefined) while (names[end]?.startsWith(prefix)) end++;
    if (prefix !== undefined && end - i > 1) {
      const inner = names.slice(i, end).map((n) => n.slice(prefix.length));
      out.push(`${prefix}{${compact(inner, separatorBefore).join(",")}}`);
    } else {
      end = sequenceEnd(names, i);
      if (end - i > 2) out.push(`${name}...${names[end - 1]}`);
      else {
        end = i + 1;
        out.push(name);
      }
    }
    i = end;
  }
  return out;
}

/** Where a run of names that end in ascending numbers stops. */
function sequenceEnd(names: readonly string[], from: number): number {
  const first = /^(.*?)(\d+)$/.exec(names[from] as string);
  if (!first) return from + 1;
  const [, stem, start] = first as unknown as [string, string, string];
  let end = from + 1;
  while (names[end] === `${stem}${Number(start) + end - from}`) end++;
  return end;
}

/** Names of the fields whose headers are listed, in the order of the field table. */
function fieldNames(headers: readonly number[], keep: (name: string) => boolean = () => true): string[] {
  const found = new Set<string>();
  for (const h of headers) {
    const def = fieldByNumber(h >>> 16, (h >>> 9) & 0x7f);
    // A field is listed by its exact header; a wrong length means another field.
    if (def && (h & 0xff) === def.bytes << ((h >>> 8) & 1)) found.add(def.name);
  }
  return fields.flatMap((f) => (found.has(f.name) && keep(f.name) ? [f.name] : []));
}

/** Ascending numbers as ranges: `1-2,4`. */
function ranges(numbers: readonly number[]): string {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let i = 0; i < sorted.length; ) {
    let end = i;
    while (sorted[end + 1] === (sorted[end] as number) + 1) end++;
    parts.push(end > i ? `${sorted[i]}-${sorted[end]}` : `${sorted[i]}`);
    i = end + 1;
  }
  return parts.join(",");
}

/** Names in the order in which instructions run. */
const INSTRUCTIONS: readonly (readonly [type: number, name: string])[] = [
  [6, "meter"],
  [4, "apply_actions"],
  [5, "clear_actions"],
  [3, "write_actions"],
  [2, "write_metadata"],
  [1, "goto_table"],
];

const has = (ids: readonly TypeId[], type: number): boolean => ids.some((id) => id.type === type);

/** What a table can do with the packets that match, or with those that miss. */
interface Abilities {
  readonly next: readonly number[];
  readonly instructions: readonly TypeId[];
  readonly write: readonly TypeId[];
  readonly apply: readonly TypeId[];
  readonly writeSet: readonly number[];
  readonly applySet: readonly number[];
}

function abilities(properties: readonly TableProperty[], miss: boolean): Abilities {
  const find = <K extends TableProperty["kind"]>(kind: K): Extract<TableProperty, { kind: K }> | undefined =>
    properties.find((p): p is Extract<TableProperty, { kind: K }> => p.kind === kind);
  // What is said of misses holds for them alone; otherwise they are like matches.
  const of = <T>(own: T | undefined, common: T | undefined, none: T): T => (miss ? own : undefined) ?? common ?? none;
  return {
    next: of(find("next_tables_miss")?.tables, find("next_tables")?.tables, []),
    instructions: of(find("instructions_miss")?.ids, find("instructions")?.ids, []),
    write: of(find("write_actions_miss")?.ids, find("write_actions")?.ids, []),
    apply: of(find("apply_actions_miss")?.ids, find("apply_actions")?.ids, []),
    writeSet: of(find("write_set_field_miss")?.headers, find("write_set_field")?.headers, []),
    applySet: of(find("apply_set_field_miss")?.headers, find("apply_set_field")?.headers, []),
  };
}

/** The parts of {@link Abilities} as text, and what the comparison with the table before needs. */
interface AbilitiesText {
  readonly next: string;
  readonly instructions: string;
  readonly actions: string;
  /** ovs-ofctl says "same" of actions only when both kinds can set fields. */
  readonly setsFields: boolean;
}

function describe(a: Abilities): AbilitiesText {
  const next = ranges(a.next);
  const names = INSTRUCTIONS.flatMap(([type, name]) => (has(a.instructions, type) ? [name] : []));
  const write = setText(a.write, a.writeSet);
  const apply = setText(a.apply, a.applySet);
  const both = write === "" ? "" : `      Write-Actions and Apply-Actions features:\n${write}`;
  return {
    next: next === "" ? "" : `      next tables: ${next}\n`,
    instructions: names.length === 0 ? "" : `      instructions: ${names.join(" ")}\n`,
    actions: write === apply ? both : `      Write-Actions features:\n${write}      Apply-Actions features:\n${apply}`,
    setsFields: fieldNames(a.writeSet).length > 0 && fieldNames(a.applySet).length > 0,
  };
}

const whole = (t: AbilitiesText): string => t.next + t.instructions + t.actions;

function abilitiesText(t: AbilitiesText, previous: AbilitiesText | undefined): string {
  const sameInstructions = previous !== undefined && t.instructions === previous.instructions && t.instructions !== "";
  const sameActions = previous !== undefined && t.actions === previous.actions && t.setsFields;
  return (
    t.next +
    (sameInstructions ? "      (same instructions)\n" : t.instructions) +
    (sameActions ? "      (same actions)\n" : t.actions)
  );
}

function setText(actions: readonly TypeId[], headers: readonly number[]): string {
  const names = actionNames((type) => has(actions, type));
  const set = compactNames(fieldNames(headers));
  return (
    (names === "<none>" ? "" : `        actions: ${names}\n`) +
    (set === "" ? "" : `        supported on Set-Field: ${set}\n`)
  );
}

function matchingText(properties: readonly TableProperty[]): string {
  const listed = (kind: "match" | "wildcards"): readonly number[] =>
    properties.flatMap((p) => (p.kind === kind ? p.headers : []));
  const matched = listed("match");
  const maskable = new Set(fieldNames(matched.filter((h) => (h & 0x100) !== 0)));
  const wild = new Set(fieldNames(listed("wildcards")));
  const lines = [
    ["arbitrary mask", (n: string) => maskable.has(n)],
    ["exact match or wildcard", (n: string) => !maskable.has(n) && wild.has(n)],
    ["must exact match", (n: string) => !maskable.has(n) && !wild.has(n)],
  ] as const;
  let out = "";
  for (const [title, keep] of lines) {
    const names = compactNames(fieldNames(matched, keep));
    if (names !== "") out += `      ${title}: ${names}\n`;
  }
  return out === "" ? "" : `    matching:\n${out}`;
}

/** A table's description in the pieces that are compared with those of the table before. */
interface TableText {
  readonly limits: string;
  readonly hit: AbilitiesText;
  readonly miss: AbilitiesText;
  /** Fields and which of them take masks, without wildcards: the comparison leaves those out. */
  readonly matched: string;
  readonly matching: string;
}

function tableText(t: Table): TableText {
  const metadata =
    t.metadataMatch === 0n && t.metadataWrite === 0n
      ? ""
      : `    metadata: match=${hexOrZero(t.metadataMatch)} write=${hexOrZero(t.metadataWrite)}\n`;
  const headers = t.properties.flatMap((p) => (p.kind === "match" ? p.headers : []));
  return {
    limits: `${metadata}${t.maxEntries === 0 ? "" : `    max_entries=${t.maxEntries}\n`}`,
    hit: describe(abilities(t.properties, false)),
    miss: describe(abilities(t.properties, true)),
    matched: [headers, headers.filter((h) => (h & 0x100) !== 0)].map((h) => fieldNames(h).join()).join("/"),
    matching: matchingText(t.properties),
  };
}

function bodyText(t: TableText, previous: TableText | undefined): string {
  const hit = whole(t.hit);
  const miss = whole(t.miss);
  let out = t.limits;
  if (previous && hit === whole(previous.hit) && miss === whole(previous.miss)) {
    if (hit !== "" || miss !== "") out += "    (same instructions)\n";
  } else if (hit === miss) {
    if (hit !== "") out += `    instructions (table miss and others):\n${abilitiesText(t.hit, previous?.hit)}`;
  } else {
    out += `    instructions (other than table miss):\n${abilitiesText(t.hit, previous?.hit)}`;
    out += `    instructions (table miss):\n${abilitiesText(t.miss, previous?.miss)}`;
  }
  const same = previous !== undefined && previous.matched === t.matched && t.matching !== "";
  return out + (same ? "    (same matching)\n" : t.matching);
}

const isDitto = (t: TableText, p: TableText): boolean =>
  t.limits === p.limits && whole(t.hit) === whole(p.hit) && whole(t.miss) === whole(p.miss) && t.matched === p.matched;

export function tableFeaturesText(m: MessageOfType<"table_features_request" | "table_features_reply">): string {
  let out = "\n";
  let previous: TableText | undefined;
  let wasDitto = true;
  for (const t of m.tables) {
    const text = tableText(t);
    const ditto = previous !== undefined && isDitto(text, previous);
    // A blank line ends a table that was described in full.
    if (!wasDitto) out += "\n";
    out += `  table ${t.tableId} ("${t.name}"):${ditto ? " ditto\n" : `\n${bodyText(text, previous)}`}`;
    previous = text;
    wasDitto = ditto;
  }
  return out;
}

const line = (t: TableStats): string =>
  `    active=${t.activeCount}, lookup=${t.lookupCount}, matched=${t.matchedCount}\n`;

const sameStats = (a: TableStats, b: TableStats): boolean =>
  a.activeCount === b.activeCount && a.lookupCount === b.lookupCount && a.matchedCount === b.matchedCount;

export function tableStatsText(m: MessageOfType<"table_stats_reply">): string {
  const parts: string[] = [];
  for (let i = 0; i < m.tables.length; ) {
    const t = m.tables[i] as TableStats;
    const previous = m.tables[i - 1];
    let end = i + 1;
    if (previous && sameStats(previous, t)) {
      while (m.tables[end] && sameStats(t, m.tables[end] as TableStats)) end++;
      const last = m.tables[end - 1] as TableStats;
      parts.push(end - i > 1 ? `  tables ${t.tableId}...${last.tableId}: ditto\n` : `  table ${t.tableId}: ditto\n`);
    } else parts.push(`  table ${t.tableId}:\n${line(t)}`);
    i = end;
  }
  return `\n${parts.join("\n")}`;
}
