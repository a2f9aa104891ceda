/**
 * Small numbers for big names: what stands in registers, cookies and flow dumps for segments, pools and members.
 *
 * A number stays with its key as long as the key is wanted, through edits and (when the assignment is stored) restarts. New keys
 * get the numbers after the last one given out, round and round, so that a freed number is used again as late as possible:
 * connections and counters of the old owner would otherwise be taken for the new one's.
 */

/** Which key has which number. */
export interface IdAssignment {
  readonly ids: ReadonlyMap<string, number>;
  /** The number given out last, 0 at the start. */
  readonly last: number;
}

/** A key that needs a number. `id` is one it insists on. */
export interface WantedId {
  readonly key: string;
  readonly id?: number;
}

/** Nothing assigned yet. */
export const noIds: IdAssignment = { ids: new Map(), last: 0 };

const byKey = (a: WantedId, b: WantedId): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

/**
 * The next assignment. Numbers are 1…`max`. Keys that are not wanted any more lose theirs; a key whose number another one insists
 * on gets a new one. Without a history, keys are numbered in their sorted order.
 *
 * @throws RangeError when two keys insist on one number, one is out of range, or there are more keys than numbers
 */
export const assignIds = (previous: IdAssignment, wanted: readonly WantedId[], max: number): IdAssignment => {
  const sorted = [...new Map(wanted.map((w) => [w.key, w])).values()].sort(byKey);
  if (sorted.length > max) throw new RangeError(`${sorted.length} ids wanted, there are ${max}`);
  const ids = new Map<string, number>();
  const used = new Set<number>();
  const take = (key: string, id: number): void => {
    ids.set(key, id);
    used.add(id);
  };
  for (const { key, id } of sorted) {
    if (id === undefined) continue;
    if (!Number.isInteger(id) || id < 1 || id > max) throw new RangeError(`id ${id} of ${key}: want 1 to ${max}`);
    if (used.has(id)) throw new RangeError(`id ${id} of ${key} is taken`);
    take(key, id);
  }
  for (const { key } of sorted) {
    const id = previous.ids.get(key);
    if (id !== undefined && !ids.has(key) && !used.has(id)) take(key, id);
  }
  let last = previous.last;
  for (const { key } of sorted) {
    if (ids.has(key)) continue;
    do last = (last % max) + 1;
    while (used.has(last));
    take(key, last);
  }
  return { ids, last };
};

/** The largest number of each kind: what fits the registers and the object part of a cookie. */
export const idLimits = {
  segment: 0xffff,
  loadBalancer: 0xffff,
  listener: 0xffff,
  pool: 0xffff,
  member: 0xffffff,
} as const;

/** The numbers of all kinds of objects. */
export type IdBook = { readonly [Kind in keyof typeof idLimits]: IdAssignment };

export const noIdBook: IdBook = { segment: noIds, loadBalancer: noIds, listener: noIds, pool: noIds, member: noIds };
