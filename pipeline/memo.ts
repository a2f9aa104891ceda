/**
 * A pure function that remembers its last results. Compiling begins from nothing each time, which is what makes it easy to trust;
 * parts that are dear and rarely change are remembered by everything they depend on, so that nobody can tell.
 */

/**
 * @param size so many results are kept, those used last
 * @param keyOf a string that differs whenever the result would
 */
export const memo = <Args extends readonly unknown[], Result>(
  size: number,
  keyOf: (...args: Args) => string,
  compute: (...args: Args) => Result,
): ((...args: Args) => Result) => {
  const kept = new Map<string, Result>();
  return (...args) => {
    const key = keyOf(...args);
    const found = kept.get(key);
    if (found !== undefined) {
      // A map lists what was put in last at the end.
      kept.delete(key);
      kept.set(key, found);
      return found;
    }
    const result = compute(...args);
    kept.set(key, result);
    if (kept.size > size) kept.delete(kept.keys().next().value as string);
    return result;
  };
};
