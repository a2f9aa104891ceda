/**
 * A pure function that remembers its last results. Compiling begins from nothing each time, which is what makes it easy to trust;
 * parts that are dear and rarely change are remembered by everything they depend on, so that nobody can tell.
 */

/**
 * @param size so many results are kept, those used last
 * @param placeOf what the result is of: only the last result of each place is kept
 * @param keyOf a string that, together with the place, differs whenever the result would
 */
export const memo = <Args extends readonly unknown[], Result>(
  size: number,
  placeOf: (...args: Args) => string | number,
  keyOf: (...args: Args) => string,
  compute: (...args: Args) => Result,
): ((...args: Args) => Result) => {
  const kept = new Map<string | number, { readonly key: string; readonly result: Result }>();
  return (...args) => {
    const place = placeOf(...args);
    const key = keyOf(...args);
    const found = kept.get(place);
    const entry = found?.key === key ? found : { key, result: compute(...args) };
    // A map lists what was put in last at the end.
    kept.delete(place);
    kept.set(place, entry);
    if (kept.size > size) kept.delete(kept.keys().next().value as string | number);
    return entry.result;
  };
};
