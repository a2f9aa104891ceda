/** What is wrong in a configuration file, and where. */

export interface ConfigError {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units as editors count. */
  readonly column: number;
  /** The place as a path, for instance "segments[1].gateway.ip"; empty when it is the file as a whole. */
  readonly field: string;
  readonly message: string;
  /** What would be right, where a few words can say it. */
  readonly allowed?: string;
}

/** One line per error, `file:line:column: field: message (want …)`: what editors and terminals make clickable. */
export const formatErrors = (errors: readonly ConfigError[]): string =>
  errors
    .map(({ file, line, column, field, message, allowed }) => {
      const where = field === "" ? "" : `${field}: `;
      const want = allowed === undefined ? "" : ` (want ${allowed})`;
      return `${file}:${line}:${column}: ${where}${message}${want}`;
    })
    .join("\n");
