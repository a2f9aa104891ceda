/** HTTP status codes as people write them: "200", "200,204" or "200-299". */
import type { CodeRange } from "./model.ts";

/** The ranges of a list; undefined when it is none, or names codes that no answer has (RFC 9110 §15: 100 to 599). */
export const parseStatusCodes = (text: string): readonly CodeRange[] | undefined => {
  const ranges: CodeRange[] = [];
  for (const part of text.split(",")) {
    const match = /^\s*([1-5]\d\d)(?:-([1-5]\d\d))?\s*$/.exec(part);
    if (match === null) return undefined;
    const range = { first: Number(match[1]), last: Number(match[2] ?? match[1]) };
    if (range.first > range.last) return undefined;
    ranges.push(range);
  }
  return ranges;
};

export const statusCodesText = (codes: readonly CodeRange[]): string =>
  codes.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
