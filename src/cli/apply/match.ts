/** Which object of the server is meant by which of the file, and how the two differ. */
import type { Existing, Thing, Value, Words } from "./objects.ts";

export interface Difference {
  readonly word: string;
  readonly from: Value;
  readonly to: Value;
}

export const same = (a: Value, b: Value): boolean => JSON.stringify(a) === JSON.stringify(b);

export const differences = (from: Words, to: Words): readonly Difference[] =>
  Object.entries(to).flatMap(([word, value]) =>
    same(from[word] ?? null, value) ? [] : [{ word, from: from[word] ?? null, to: value }],
  );

/** Differences that only another object can have; what the file leaves open goes with everything. */
export const fixedDifferences = (from: Thing, to: Thing): readonly Difference[] =>
  differences(from.fixed, to.fixed).filter((d) => d.to !== null);

interface Pair {
  readonly wanted: Thing;
  readonly existing: Existing | undefined;
}

interface Matched {
  readonly pairs: readonly Pair[];
  /** Those whose name or address the file does not have. */
  readonly extra: readonly Existing[];
}

export const byName = (wanted: readonly Thing[], existing: readonly Existing[]): Matched => ({
  pairs: wanted.map((w) => ({ wanted: w, existing: existing.find((e) => e.name === w.name) })),
  extra: existing.filter((e) => !wanted.some((w) => w.name === e.name)),
});

/** The address is what the API knows a member by, so a member that has it is renamed; else the name tells. */
export const members = (wanted: readonly Thing[], existing: readonly Existing[]): Matched => {
  const atAddress = new Map(existing.map((e) => [JSON.stringify([e.fixed["ip"], e.fixed["port"]]), e]));
  const found = wanted.map((w) => atAddress.get(JSON.stringify([w.fixed["ip"], w.fixed["port"]])));
  const rest = existing.filter((e) => !found.includes(e));
  const pairs = wanted.map((w, i) => ({
    wanted: w,
    existing: found[i] ?? rest.find((e) => e.name === w.name),
  }));
  const used = new Set(pairs.map((p) => p.existing));
  return { pairs, extra: rest.filter((e) => !used.has(e)) };
};

/** Why a name cannot tell which object is meant. */
export const ambiguous = (what: string, wanted: readonly Thing[], existing: readonly Existing[]): readonly string[] =>
  wanted.flatMap(({ name }) => {
    const named = existing.filter((e) => e.name === name);
    if (named.length < 2) return [];
    return [`${what} ${name}: the server has ${named.length} of that name: ${named.map((e) => e.id).join(", ")}`];
  });
