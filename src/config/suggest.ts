/** "Did you mean …?" for misspelt words. */

/** How many letters must be added, removed, replaced or swapped with their neighbour (optimal string alignment). */
const editDistance = (a: string, b: string): number => {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(row[j - 1]! + 1, last[j]! + 1, last[j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, beforeLast[j - 2]! + 1);
      }
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
};

/** The word that is meant by `word`, if one is near: about a third of its letters may be wrong. */
export const suggest = (word: string, words: readonly string[]): string | undefined => {
  // Nobody misspells a word into a hundred letters, and the work grows with the length.
  if (word.length > 40) return undefined;
  const plain = word.toLowerCase().replaceAll("-", "_");
  const near = words
    .map((w) => ({ w, distance: editDistance(plain, w.toLowerCase()) }))
    .filter(({ w, distance }) => distance <= Math.max(1, Math.floor(w.length / 3)))
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.w;
};
