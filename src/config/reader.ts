/**
 * Readers: from YAML nodes to values that know their place in the file.
 *
 * A reader returns undefined after it has reported why, and goes on wherever it can, so that one pass finds all errors.
 */
import { type Document, isAlias, isMap, isScalar, isSeq, type ParsedNode } from "yaml";
import { suggest } from "./suggest.ts";

/** A place in the file. */
export interface At {
  readonly field: string;
  /** In UTF-16 code units from the start. */
  readonly offset: number;
}

/** A value and where it is written. Of a default value: where it could have been written. */
export interface Located<T> {
  readonly value: T;
  readonly at: At;
}

export type Report = (at: At, message: string, allowed?: string) => void;

/** One pass over a document. */
interface Reading {
  readonly document: Document.Parsed;
  readonly report: Report;
  /** How many aliases have been followed: nested ones multiply, so there is a limit. */
  aliases: number;
}

export type Reader<T> = (node: ParsedNode | null, at: At, reading: Reading) => T | undefined;

const maxAliases = 1000;

const resolveAlias = (node: ParsedNode | null, at: At, reading: Reading): ParsedNode | null | undefined => {
  if (!isAlias(node)) return node;
  if (++reading.aliases > maxAliases) {
    if (reading.aliases === maxAliases + 1) reading.report(at, `more than ${maxAliases} aliases`);
    return undefined;
  }
  // The nodes of a parsed document are parsed nodes; the library's type of resolve() does not say so.
  const target = node.resolve(reading.document) as ParsedNode | undefined;
  if (target === undefined) reading.report(at, `there is no anchor "${node.source}" above`);
  return target;
};

/** What a node is, in the words of an error message. */
const describe = (node: ParsedNode | null): string => {
  if (isMap(node)) return "a mapping";
  if (isSeq(node)) return "a list";
  if (!isScalar(node) || node.value === null) return "empty";
  const text = node.source ?? String(node.value);
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
};

/** A reader of scalars: `parse` gets the text as written, and the value YAML makes of it. */
export const scalar =
  <T>(what: string, allowed: string, parse: (text: string, value: unknown) => T | undefined): Reader<T> =>
  (node, at, reading) => {
    const target = resolveAlias(node, at, reading);
    if (target === undefined) return undefined;
    const value =
      isScalar(target) && target.value !== null
        ? parse(target.source ?? String(target.value), target.value)
        : undefined;
    if (value === undefined) reading.report(at, `${describe(target)} is not ${what}`, allowed);
    return value;
  };

/** A list; elements that cannot be read are reported and left out. An empty value is an empty list. */
export const list =
  <T>(element: Reader<T>): Reader<readonly Located<T>[]> =>
  (node, at, reading) => {
    const target = resolveAlias(node, at, reading);
    if (target === undefined) return undefined;
    if (target === null || (isScalar(target) && target.value === null)) return [];
    if (!isSeq(target)) {
      reading.report(at, `${describe(target)} is not a list`);
      return undefined;
    }
    const values: Located<T>[] = [];
    target.items.forEach((item, i) => {
      // Items of a parsed sequence are parsed nodes; pairs occur only in !!omap and !!set, which are not resolved.
      const child = item as ParsedNode | null;
      const place = { field: `${at.field}[${i}]`, offset: child?.range[0] ?? at.offset };
      const value = element(child, place, reading);
      if (value !== undefined) values.push({ value, at: place });
    });
    return values;
  };

/** A key of a record. `V` is what the record has under it. */
export interface Field<V> {
  readonly read: Reader<unknown>;
  readonly required: boolean;
  /** The value when the key is missing; `at` is the record's place. */
  readonly absent: (at: At) => V | undefined;
}

export const required = <T>(read: Reader<T>): Field<Located<T>> => ({ read, required: true, absent: () => undefined });

export const optional = <T>(read: Reader<T>): Field<Located<T> | undefined> => ({
  read,
  required: false,
  absent: () => undefined,
});

export const withDefault = <T>(read: Reader<T>, value: T): Field<Located<T>> => ({
  read,
  required: false,
  absent: (at) => ({ value, at }),
});

/** A mapping with known keys. A record with a bad value is not returned, but all of its values are read. */
export const record =
  <V>(fields: { readonly [K in keyof V]: Field<V[K]> }): Reader<V> =>
  (node, at, reading) => {
    const target = resolveAlias(node, at, reading);
    if (target === undefined) return undefined;
    if (!isMap(target)) {
      reading.report(at, `${describe(target)} is not a mapping`, `the keys ${Object.keys(fields).join(", ")}`);
      return undefined;
    }
    const known = new Map(Object.entries(fields) as [string, Field<unknown>][]);
    const values: Record<string, unknown> = {};
    const seen = new Set<string>();
    let complete = true;
    const path = (key: string): string => (at.field === "" ? key : `${at.field}.${key}`);
    for (const pair of target.items) {
      const keyNode = pair.key;
      const key = isScalar(keyNode) ? String(keyNode.value) : describe(keyNode);
      const keyAt = { field: path(key), offset: keyNode?.range[0] ?? at.offset };
      const field = known.get(key);
      if (field === undefined) {
        const meant = suggest(key, [...known.keys()]);
        reading.report(
          keyAt,
          meant === undefined ? "unknown key" : `unknown key, did you mean "${meant}"?`,
          `one of ${[...known.keys()].join(", ")}`,
        );
        complete = false;
        continue;
      }
      if (seen.has(key)) {
        reading.report(keyAt, "the key is there twice");
        complete = false;
        continue;
      }
      seen.add(key);
      const place = { field: keyAt.field, offset: pair.value?.range[0] ?? keyAt.offset };
      const value = field.read(pair.value, place, reading);
      if (value === undefined) complete = false;
      else values[key] = { value, at: place };
    }
    for (const [key, field] of known) {
      if (seen.has(key)) continue;
      if (field.required) {
        reading.report(at, `the key "${key}" is missing`);
        complete = false;
      } else values[key] = field.absent(at);
    }
    // Every key of V has been read or has its default.
    return complete ? (values as V) : undefined;
  };
