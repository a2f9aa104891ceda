/** Refusals, in the shapes and words Octavia clients know. */

/** A refusal. Thrown anywhere below a route, answered as `{faultcode, faultstring, debuginfo}`. */
export class Fault extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }

  body(): object {
    return { faultcode: this.status >= 500 ? "Server" : "Client", faultstring: this.message, debuginfo: null };
  }
}

/** A refusal of the kind Octavia makes before it looks at the object: `{code, title, description}`. */
export class PlainFault extends Fault {
  readonly title: string;
  constructor(status: number, title: string, description: string) {
    super(status, description);
    this.title = title;
  }

  override body(): object {
    return { code: this.status, title: this.title, description: this.message };
  }
}

/** Quoted values are cut off here: a huge request must not make a huge answer. */
const longestQuote = 512;

/** A field with a value it cannot have. `why` is a sentence such as "Value should be string". */
export const invalidField = (field: string, value: unknown, why: string): Fault =>
  new Fault(400, `Invalid input for field/attribute ${field}. Value: '${quoted(value)}'. ${why}`);

export const mandatory = (field: string): Fault => invalidField(field, null, "Mandatory field missing.");

/** A value that is well-formed and still impossible for the option. */
export const invalidOption = (value: unknown, option: string): Fault =>
  new Fault(400, `${quoted(value)} is not a valid option for ${option}`);

/** @param where names of argument and root, such as "listener_.listener" */
export const unknownAttributes = (where: string, names: readonly string[]): Fault =>
  new Fault(400, `Unknown attribute${names.length > 1 ? "s" : ""} for argument ${where}: ${quoted(names.join(", "))}`);

export const validationFailure = (detail: string): Fault => new Fault(400, `Validation failure: ${detail}`);

/** The object of the request's path. */
export const notFound = (kind: string, id: unknown): Fault => new Fault(404, `${kind} ${quoted(id)} not found.`);

/** An object that a field of the request names. */
export const unknownReference = (kind: string, id: string): Fault => new Fault(400, `${kind} ${quoted(id)} not found.`);

export const conflict = (message: string): Fault => new Fault(409, message);

/** A value as Octavia, written in Python, quotes it: `None`, `True`, `['a']`. */
export const quoted = (value: unknown): string => {
  const text = typeof value === "string" ? value : python(value, 0);
  return text.length <= longestQuote ? text : `${text.slice(0, longestQuote)}...`;
};

const python = (value: unknown, depth: number): string => {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value === "string") return `'${value}'`;
  if (typeof value !== "object") return String(value);
  if (depth > 3) return "...";
  if (Array.isArray(value))
    return `[${value
      .slice(0, longestQuote)
      .map((v) => python(v, depth + 1))
      .join(", ")}]`;
  const pairs = Object.entries(value).slice(0, longestQuote);
  return `{${pairs.map(([k, v]) => `'${k}': ${python(v, depth + 1)}`).join(", ")}}`;
};
