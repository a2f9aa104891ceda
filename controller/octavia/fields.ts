/**
 * Reading request bodies. A schema says which fields an object may have and how each is read; everything else is refused with
 * the field's name. Null stands for "the default" and is passed on as null.
 */
import { canonicalAddress, canonicalCidr } from "./address.ts";
import { Fault, invalidField, mandatory, quoted, unknownAttributes } from "./fault.ts";

/** Reads one value that is there and not null. */
export type Reader<T> = (value: unknown, field: string) => T;

export type Schema = Readonly<Record<string, Reader<unknown>>>;

/** What was read: fields that were not given are undefined. */
export type Input<S extends Schema> = { readonly [F in keyof S]?: ReturnType<S[F]> | null };

/** An object by its schema. `where` names it in refusals. */
export const readObject = <S extends Schema>(schema: S, value: unknown, where: string): Input<S> => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidField(where.slice(where.lastIndexOf(".") + 1), value, "Value should be an object");
  }
  const given = Object.entries(value);
  const unknown = given.map(([name]) => name).filter((name) => !Object.hasOwn(schema, name));
  if (unknown.length > 0) throw unknownAttributes(where, unknown);
  const entries = given.map(([name, v]) => [name, v === null ? null : schema[name]!(v, name)]);
  // The entries are what the schema's readers return for its own names.
  return Object.fromEntries(entries) as Input<S>;
};

/** The one object in a request body, such as `{"listener": {…}}`. */
export const unwrap = (body: unknown, argument: string, root: string): unknown => {
  if (body === undefined) throw new Fault(400, `Missing argument: "${argument.replace(/_$/, "")}"`);
  const object = readObject({ [root]: (v) => v }, body, argument);
  if (object[root] === undefined) throw new Fault(400, `Missing argument: "${root}"`);
  return object[root];
};

/** The value of a field that must be given. */
export const required = <T>(value: T | null | undefined, field: string): T => {
  if (value === undefined || value === null) throw mandatory(field);
  return value;
};

/** The new value of a column: unchanged when not given, the default when null. */
export const updated = <T>(given: T | null | undefined, present: T, fallback: T): T =>
  given === undefined ? present : (given ?? fallback);

export const text =
  (longest = 255): Reader<string> =>
  (value, field) => {
    if (typeof value !== "string") throw invalidField(field, value, "Value should be string");
    // Octavia counts characters, not the two halves of one.
    if (value.length > longest && [...value].length > longest) {
      throw invalidField(field, value, `Value should have a maximum character requirement of ${longest}`);
    }
    return value;
  };

/** Numbers may come as text: some clients send what was typed. */
export const integer =
  (least: number, most: number): Reader<number> =>
  (value, field) => {
    const number = typeof value === "string" && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : value;
    if (typeof number !== "number" || (Number.isFinite(number) && !Number.isInteger(number))) {
      throw invalidField(field, value, `invalid literal for int() with base 10: '${quoted(value)}'`);
    }
    if (number < least) throw invalidField(field, value, `Value should be greater or equal to ${least}`);
    if (number > most) throw invalidField(field, value, `Value should be lower or equal to ${most}`);
    return number;
  };

const truths = new Map<unknown, boolean>([
  ...[true, 1, "true", "t", "yes", "y", "on", "1"].map((v) => [v, true] as const),
  ...[false, 0, "false", "f", "no", "n", "off", "0"].map((v) => [v, false] as const),
]);

export const boolean: Reader<boolean> = (value, field) => {
  const truth = truths.get(typeof value === "string" ? value.trim().toLowerCase() : value);
  if (truth === undefined) throw invalidField(field, value, `Value not an unambiguous boolean: ${quoted(value)}`);
  return truth;
};

export const oneOf =
  <const T extends readonly (string | number)[]>(values: T): Reader<T[number]> =>
  (value, field) => {
    if (!values.includes(value as T[number])) {
      throw invalidField(field, value, `Value should be one of: ${values.join(", ")}`);
    }
    return value as T[number];
  };

const uuidForm = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

export const isUuid = (value: string): boolean => uuidForm.test(value);

export const uuid: Reader<string> = (value, field) => {
  if (typeof value !== "string" || !isUuid(value)) throw invalidField(field, value, "Value should be UUID format");
  return value;
};

/** An address in its one spelling. */
export const address: Reader<string> = (value, field) => {
  const canonical = typeof value === "string" ? canonicalAddress(value) : undefined;
  if (canonical === undefined) throw invalidField(field, value, "Value should be IPv4 or IPv6 format");
  return canonical;
};

export const list =
  <T>(item: Reader<T>): Reader<readonly T[]> =>
  (value, field) => {
    if (!Array.isArray(value)) throw invalidField(field, value, `Value not a valid list: ${quoted(value)}`);
    return value.map((v) => item(v, field));
  };

const manyStrings =
  (item: Reader<string>): Reader<readonly string[]> =>
  (value, field) => {
    const whole: Reader<string> = (v, f) => {
      try {
        return item(v, f);
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        // Octavia quotes the whole list.
        throw invalidField(f, value, error.message.slice(error.message.lastIndexOf("Value should")));
      }
    };
    return [...new Set(list(whole)(value, field))];
  };

export const tags = manyStrings(text());

/** Networks in one spelling, of either family. */
export const cidrs = manyStrings((value, field) => {
  const canonical = typeof value === "string" ? canonicalCidr(value) : undefined;
  if (canonical === undefined) throw invalidField(field, value, "Value should be IPv4 or IPv6 CIDR format");
  return canonical;
});

export const addresses = manyStrings(address);

/** Something to be read later, or to be refused as a whole. */
export const anything: Reader<unknown> = (value) => value;
