/** Port names with `*` and `?`, as shells know them. */

/** Whether `name` is `glob` or matches it: `*` is any text, `?` any one character, everything else itself. */
export const globMatches = (glob: string, name: string): boolean => {
  const pattern = glob
    // Several stars are as good as one, and many would make the match take exponential time.
    .replaceAll(/\*+/g, "*")
    .replaceAll(/[^*?]/gu, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`)
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${pattern}$`, "su").test(name);
};
