import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type IdBook, noIdBook } from "../pipeline/ids.ts";
import { CliError } from "./cli/command.ts";
import { replaceFile } from "./replace-file.ts";

const NAME = "ids.json";
type Stored = Record<keyof IdBook, { readonly ids: Record<string, number>; readonly last: number }>;

/**
 * The numbers that objects have in registers and cookies, as the last run left them; without the file, none. A
 * restart that numbered members anew would send established connections' statistics to others and rewrite every slot.
 */
export function readIds(folder: string): IdBook {
  const path = join(folder, NAME);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === "ENOENT") return noIdBook;
    throw new CliError(`--data: cannot read ${path}: ${(e as Error).message}`);
  }
  const kinds = Object.keys(noIdBook) as (keyof IdBook)[];
  try {
    const stored = JSON.parse(text) as Stored;
    const entries = kinds.map((kind) => {
      const { ids, last } = stored[kind];
      const map = new Map(Object.entries(ids));
      if (!Number.isInteger(last) || [...map.values()].some((id) => !Number.isInteger(id))) throw new Error(kind);
      return [kind, { ids: map, last }];
    });
    return Object.fromEntries(entries) as IdBook;
  } catch {
    throw new CliError(`${path} is damaged; remove it to number all objects anew (switches are then rewritten once)`);
  }
}

/** Replaces the file so that a crash leaves either the old or the new one. */
export function writeIds(folder: string, book: IdBook): void {
  const stored = Object.fromEntries(
    Object.entries(book).map(([kind, { ids, last }]) => [kind, { ids: Object.fromEntries(ids), last }]),
  );
  replaceFile(join(folder, NAME), `${JSON.stringify(stored)}\n`);
}
