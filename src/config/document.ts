/** The text of a configuration file as a value, or everything that is wrong in it. */
import { type ParsedNode, parseDocument, type YAMLError } from "yaml";
import type { ConfigError } from "./errors.ts";
import type { At, Reader, Report } from "./reader.ts";

export type FileResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly errors: readonly ConfigError[] };

/** The library's words for what people run into; its own sentence does for the rest. */
const syntaxMessages: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: "a tab is used for indentation",
  MULTIPLE_DOCS: "there is more than one document in the file",
  RESOURCE_EXHAUSTION: "nested too deeply",
};

/** One broken bracket can cause thousands of errors behind it; nobody reads more than the first. */
const maxSyntaxErrors = 20;

const syntaxMessage = (error: YAMLError): string =>
  `YAML: ${syntaxMessages[error.code] ?? error.message.split("\n")[0]!}`;

/**
 * Line and column of an offset, both from 1. The library's own counter is wrong in broken text: its lexer tells it of
 * lines only as far as it understands them.
 */
const positions = (text: string): ((offset: number) => { readonly line: number; readonly column: number }) => {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    let line = 0;
    // The last line that starts at or before the offset, by halving: a large file can have as many errors as lines.
    for (let step = 2 ** Math.floor(Math.log2(starts.length)); step >= 1; step /= 2) {
      if (line + step < starts.length && starts[line + step]! <= offset) line += step;
    }
    return { line: line + 1, column: offset - starts[line]! + 1 };
  };
};

/** @param complete false when parts of the file could not be read: what seems to be missing may be there */
type Check<T> = (value: T, complete: boolean, report: Report) => void;

/**
 * Reads `text` with `reader` and puts what was read to `check`. Never throws, whatever the text is.
 *
 * @param file the name for error messages
 * @param wanted what an empty file lacks
 */
export const parseFile = <T>(
  text: string,
  file: string,
  reader: Reader<T>,
  wanted: string,
  check: Check<T>,
): FileResult<T> => {
  const found: { readonly at: At; readonly message: string; readonly allowed?: string }[] = [];
  const report: Report = (at, message, allowed) => {
    found.push({ at, message, ...(allowed === undefined ? {} : { allowed }) });
  };
  const start = { field: "", offset: 0 };
  const failure = (): FileResult<T> => {
    const position = positions(text);
    const errors = found
      .toSorted((a, b) => a.at.offset - b.at.offset)
      .map(({ at, ...rest }): ConfigError => ({ file, ...position(at.offset), field: at.field, ...rest }));
    return { ok: false, errors };
  };
  try {
    // Duplicate keys are found by the records, which know the field's path.
    const document = parseDocument(text, { prettyErrors: false, uniqueKeys: false });
    for (const error of [...document.errors, ...document.warnings].slice(0, maxSyntaxErrors)) {
      report({ field: "", offset: error.pos[0] }, syntaxMessage(error));
    }
    if (found.length > 0) return failure();
    // The contents of a parsed document are parsed nodes.
    const contents = document.contents as ParsedNode | null;
    if (contents === null) {
      report(start, "the file is empty", wanted);
      return failure();
    }
    const read = reader(contents, start, { document, report, aliases: 0 });
    if (read !== undefined) check(read, found.length === 0, report);
    if (read === undefined || found.length > 0) return failure();
    return { ok: true, value: read };
  } catch (cause) {
    // The YAML library is recursive: text with some thousand brackets in a row ends its stack.
    if (!(cause instanceof RangeError)) throw cause;
    report(start, `cannot be parsed: ${cause.message}`);
    return failure();
  }
};
