/** The topology file: read, checked and made into the model, or refused with everything that is wrong in it. */
import { type ParsedNode, parseDocument, type YAMLError } from "yaml";
import { type IdBook, noIdBook } from "../../pipeline/ids.ts";
import type { Topology } from "../../pipeline/model.ts";
import { type ApiAddresses, noApiAddresses } from "./addresses.ts";
import { buildTopology } from "./build.ts";
import { checkLoadBalancers } from "./check-balancers.ts";
import { checkNeighbours, checkNodes, checkOwnAddresses, checkRoutes, checkSegments } from "./check-segments.ts";
import type { ConfigError } from "./errors.ts";
import { readTextFile } from "./file.ts";
import type { At, Report } from "./reader.ts";
import { type TopologyFile, topologyFile } from "./schema.ts";

export type TopologyResult =
  | { readonly ok: true; readonly topology: Topology; readonly ids: IdBook }
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

const check = (file: TopologyFile, api: ApiAddresses, complete: boolean, report: Report): void => {
  checkNodes(file, report);
  checkSegments(file, report);
  const own = checkOwnAddresses(file, api, report);
  checkRoutes(file, own, complete, report);
  checkNeighbours(file, own, complete, report);
  checkLoadBalancers(file, own, complete, report);
};

/**
 * Reads the text of a topology file. Never throws, whatever the text is.
 *
 * @param file the name for error messages
 * @param previous the numbers that objects have so far; they keep them
 * @param api addresses that the file may not use
 */
export const parseTopology = (
  text: string,
  file: string,
  previous: IdBook = noIdBook,
  api: ApiAddresses = noApiAddresses,
): TopologyResult => {
  const found: { readonly at: At; readonly message: string; readonly allowed?: string }[] = [];
  const report: Report = (at, message, allowed) => {
    found.push({ at, message, ...(allowed === undefined ? {} : { allowed }) });
  };
  const start = { field: "", offset: 0 };
  const failure = (): TopologyResult => {
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
      report(start, "the file is empty", "the keys nodes and segments");
      return failure();
    }
    const read = topologyFile(contents, start, { document, report, aliases: 0 });
    if (read !== undefined) check(read, api, found.length === 0, report);
    if (read === undefined || found.length > 0) return failure();
    return { ok: true, ...buildTopology(read, previous) };
  } catch (cause) {
    // The YAML library is recursive: text with some thousand brackets in a row ends its stack.
    if (!(cause instanceof RangeError)) throw cause;
    report(start, `cannot be parsed: ${cause.message}`);
    return failure();
  }
};

/** Reads the topology file at `path`; see {@link parseTopology}. */
export const loadTopology = (path: string, previous?: IdBook, api?: ApiAddresses): TopologyResult => {
  const file = readTextFile(path);
  return file.ok ? parseTopology(file.text, path, previous, api) : file;
};
