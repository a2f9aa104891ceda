/** Lists: filters, `fields`, sorting and pages. */
import { Fault, PlainFault, quoted } from "./fault.ts";

/** One object of a list as it is shown, and what else it can be found by. */
export interface Entry {
  readonly shown: Readonly<Record<string, unknown>>;
  readonly hidden?: Readonly<Record<string, unknown>>;
}

/** Query parameters: one that is given twice has a list of values. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A page, and the query strings of the pages beside it. */
export interface Page {
  readonly rows: readonly object[];
  readonly links: readonly { readonly rel: "previous" | "next"; readonly query: string }[];
}

const control = ["fields", "sort", "sort_key", "sort_dir", "limit", "marker", "page_reverse"] as const;

const tagFilters = ["tags", "tags-any", "not-tags", "not-tags-any"] as const;

const invalidFilter = (): Fault => new Fault(400, "One or more arguments are either duplicate or invalid");

/** The value of a parameter that may be given once. */
const single = (query: Query, name: string): string | undefined => {
  const value = query[name];
  if (value !== undefined && typeof value !== "string") throw invalidFilter();
  return value;
};

const many = (query: Query, name: string): readonly string[] => {
  const value = query[name];
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
};

/**
 * The page of `entries` that `query` asks for.
 *
 * @param names what may be filtered by and sorted by, beside tags
 */
export const page = (entries: readonly Entry[], names: readonly string[], query: Query): Page => {
  const keys = sortKeys(query, names);
  const rows = sorted(entries.filter(filters(query, names)), keys);
  const limit = pageLimit(query);
  const marker = single(query, "marker");
  const reverse = truth(single(query, "page_reverse") ?? "false") ?? false;
  const window = cut(rows, entries, keys, marker, limit, reverse);
  return { rows: window.map(picked(query)), links: links(query, window, limit, marker) };
};

const truth = (text: string): boolean | undefined => {
  const plain = text.toLowerCase();
  if (["true", "t", "1", "yes", "on"].includes(plain)) return true;
  return ["false", "f", "0", "no", "off"].includes(plain) ? false : undefined;
};

const columnOf = (entry: Entry, name: string): unknown => entry.shown[name] ?? entry.hidden?.[name] ?? null;

const filters = (query: Query, names: readonly string[]): ((entry: Entry) => boolean) => {
  const tests: ((entry: Entry) => boolean)[] = [];
  for (const name of Object.keys(query)) {
    if ((control as readonly string[]).includes(name)) continue;
    const text = single(query, name);
    if (text === undefined) continue;
    if ((tagFilters as readonly string[]).includes(name)) tests.push(tagTest(name, text.split(",")));
    else if (names.includes(name)) tests.push((entry) => equals(columnOf(entry, name), text));
    else throw invalidFilter();
  }
  return (entry) => tests.every((test) => test(entry));
};

const equals = (value: unknown, text: string): boolean =>
  typeof value === "boolean" ? value === truth(text) : value !== null && String(value) === text;

const tagTest = (name: string, wanted: readonly string[]): ((entry: Entry) => boolean) => {
  const has = (entry: Entry) => (tag: string) => (columnOf(entry, "tags") as readonly string[]).includes(tag);
  const all = !name.endsWith("any");
  const negated = name.startsWith("not");
  return (entry) => (all ? wanted.every(has(entry)) : wanted.some(has(entry))) !== negated;
};

interface SortKey {
  readonly name: string;
  readonly descending: boolean;
}

const sortKeys = (query: Query, names: readonly string[]): readonly SortKey[] => {
  const asked =
    query["sort"] !== undefined
      ? many(query, "sort").flatMap((text) => text.split(","))
      : many(query, "sort_key").map((key, n) => `${key}:${many(query, "sort_dir")[n] ?? "asc"}`);
  const keys = asked.map((text) => {
    const parts = text.split(":");
    const [name = "", direction = "asc"] = parts;
    if (parts.length > 2)
      throw new PlainFault(400, "Bad Request", `Supplied sort key '${quoted(parts)}' is not valid.`);
    if (direction !== "asc" && direction !== "desc") {
      throw new PlainFault(400, "Bad Request", `Supplied sort direction '${quoted(direction)}' is not valid.`);
    }
    if (!names.includes(name)) throw new Fault(400, `Supplied sort key '${quoted(name)}' is not valid.`);
    return { name, descending: direction === "desc" };
  });
  // The id makes the order total: without it pages could overlap.
  return [
    ...(keys.length === 0 ? [{ name: "created_at", descending: false }] : keys),
    { name: "id", descending: false },
  ];
};

const compare = (a: unknown, b: unknown): number => {
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a) < String(b) ? -1 : 1;
};

const order =
  (keys: readonly SortKey[]) =>
  (a: Entry, b: Entry): number => {
    for (const { name, descending } of keys) {
      const result = compare(columnOf(a, name), columnOf(b, name));
      if (result !== 0) return descending ? -result : result;
    }
    return 0;
  };

const sorted = (entries: readonly Entry[], keys: readonly SortKey[]): readonly Entry[] =>
  [...entries].sort(order(keys));

const pageLimit = (query: Query): number | undefined => {
  const text = single(query, "limit");
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text) || Number(text) === 0) {
    throw new PlainFault(400, "Bad Request", `Supplied pagination limit '${quoted(text)}' is not valid.`);
  }
  return Number(text);
};

/** What comes after the marker (before it, when reversed), by its place in the order: it need not pass the filters itself. */
const cut = (
  rows: readonly Entry[],
  all: readonly Entry[],
  keys: readonly SortKey[],
  marker: string | undefined,
  limit: number | undefined,
  reverse: boolean,
): readonly Entry[] => {
  let rest = rows;
  if (marker !== undefined) {
    const at = all.find((entry) => columnOf(entry, "id") === marker);
    if (at === undefined) throw new Fault(400, `Supplied pagination marker '${quoted(marker)}' is not valid.`);
    rest = rows.filter((row) => (reverse ? order(keys)(row, at) < 0 : order(keys)(row, at) > 0));
  }
  if (limit === undefined) return rest;
  return reverse ? rest.slice(-limit) : rest.slice(0, limit);
};

/** Without the fields that were not asked for. */
export const picked = (query: Query): ((entry: Entry) => object) => {
  const fields = many(query, "fields").flatMap((text) => text.split(","));
  if (fields.length === 0) return (entry) => entry.shown;
  return (entry) => Object.fromEntries(Object.entries(entry.shown).filter(([name]) => fields.includes(name)));
};

const links = (
  query: Query,
  window: readonly Entry[],
  limit: number | undefined,
  marker: string | undefined,
): Page["links"] => {
  const first = window[0];
  const last = window.at(-1);
  if (limit === undefined || first === undefined || last === undefined) return [];
  const kept = Object.entries(query).filter(([name]) => name !== "marker" && name !== "page_reverse");
  const to = (entry: Entry, more: readonly (readonly [string, string])[] = []): string => {
    const parameters = kept.flatMap(([name]) => many(query, name).map((value) => [name, value] as const));
    const pairs = [...parameters, ["marker", String(columnOf(entry, "id"))] as const, ...more];
    return pairs.map(([name, value]) => `${encodeURIComponent(name)}=${readable(value)}`).join("&");
  };
  return [
    ...(marker === undefined ? [] : [{ rel: "previous" as const, query: to(first, [["page_reverse", "True"]]) }]),
    ...(window.length < limit ? [] : [{ rel: "next" as const, query: to(last) }]),
  ];
};

/** Colons and commas of `sort` stay as they are: they mean nothing in a query, and people read these links. */
const readable = (value: string): string => encodeURIComponent(value).replaceAll("%3A", ":").replaceAll("%2C", ",");
