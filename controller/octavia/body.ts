/** Request bodies: JSON, whatever else it says, or a refusal that says why not. */
import { Fault } from "./fault.ts";

/** Longer bodies are refused with 413: a pool with a thousand members takes some 200 kB. */
export const longestBody = 2 << 20;

/** Deeper nesting than any object of the API has. */
const deepest = 32;

/**
 * The value of a body, undefined for an empty one.
 *
 * @throws Fault for another media type (415) and for what is not JSON (400)
 */
export const parseBody = (contentType: string | undefined, data: Buffer): unknown => {
  const type = (contentType ?? "application/json").split(";")[0]!.trim().toLowerCase();
  const text = data.toString("utf8");
  if (type === "application/x-www-form-urlencoded") {
    throw new Fault(400, `Unknown argument: "${[...new URLSearchParams(text).keys()][0]?.slice(0, 80) ?? ""}"`);
  }
  if (type !== "application/json" && !/^application\/[\w.-]+\+json$/.test(type)) {
    throw new Fault(415, `Unknown mimetype: ${type.slice(0, 80)}`);
  }
  if (text.trim() === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Fault(400, "Request is not in valid JSON format");
  }
  if (isDeeper(value)) throw new Fault(400, `Request is nested more than ${deepest} levels deep`);
  return value;
};

/** Goes down level by level, so that depth costs no stack. */
const isDeeper = (value: unknown): boolean => {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= deepest; depth++) {
    level = level.flatMap((v) => (typeof v === "object" && v !== null ? Object.values(v) : []));
    if (level.length === 0) return false;
  }
  return true;
};
