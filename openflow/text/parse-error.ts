/** Text that is not what it should be. */
export class ParseError extends Error {
  /** Where in the text, counted from 0. */
  readonly column: number;
  /** What could stand there; empty when that cannot be listed. */
  readonly expected: readonly string[];

  constructor(column: number, detail: string, expected: readonly string[]) {
    super(expected.length > 0 ? `${detail}; possible here: ${summary(expected)}` : detail);
    this.name = "ParseError";
    this.column = column;
    this.expected = expected;
  }
}

const MOST = 12;
const summary = (words: readonly string[]): string =>
  words.length > MOST ? `${words.slice(0, MOST).join(", ")}, … (${words.length} in all)` : words.join(", ");
