/** A topology with changes in it, and the places where errors are expected marked by ‸. */
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { noIdBook } from "../../../pipeline/ids.ts";
import { formatErrors } from "../../../src/config/errors.ts";
import { parseTopology } from "../../../src/config/topology.ts";

export const valid = readFileSync(new URL("lab.yaml", import.meta.url), "utf8");

/** Replaces `find`, which must be there once; a ‸ in `by` marks where the error is expected. */
export const edit = (find: string, by: string, text = valid): string => {
  expect(text.split(find).length, `"${find}" once in the file`).toBe(2);
  return text.replace(find, () => by);
};

/** The errors of a text, the text without its marks, and "line:column" of every mark. */
export const errorsOf = (marked: string) => {
  const marks: string[] = [];
  let text = marked;
  for (let at = text.indexOf("‸"); at >= 0; at = text.indexOf("‸")) {
    const before = text.slice(0, at).split("\n");
    marks.push(`${before.length}:${before.at(-1)!.length + 1}`);
    text = text.slice(0, at) + text.slice(at + 1);
  }
  const result = parseTopology(text, "t.yaml");
  return { marks, errors: result.ok ? [] : result.errors };
};

/** The text has exactly one error: at the mark, in `field`, with `message` in its line. */
export const expectError = (marked: string, field: string, message: string): void => {
  const { marks, errors } = errorsOf(marked);
  expect(errors.map((e) => `${e.line}:${e.column} ${e.field}`)).toEqual([`${marks[0]} ${field}`]);
  expect(formatErrors(errors)).toContain(message);
};

export const load = (text: string, ids = noIdBook) => {
  const result = parseTopology(text, "t.yaml", ids);
  if (!result.ok) throw new Error(formatErrors(result.errors));
  return result;
};
