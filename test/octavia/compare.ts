/** Two answers beside each other: which keys they have and of what kind the values are. */

/** Keys that only our answers have. */
const extensions = new Set(["vips", "slot_choice", "session_keeping", "empty_policy", "slots"]);

/** Values that may be null in one and set in the other, and why. */
const nullable: Readonly<Record<string, string>> = {
  updated_at: "nothing has to settle after a create, so there is no later time",
  vip_network_id: "a segment is subnet and network at once, so the network is always known",
  healthmonitor: "the real service forgets to show the monitor it has just made",
};

const kind = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);

const isObject = (value: unknown): value is Record<string, unknown> => kind(value) === "object";

/** Sentences, one per difference. */
export const differences = (theirs: unknown, ours: unknown, at = ""): readonly string[] => {
  if (isObject(theirs) && isObject(ours)) {
    const missing = Object.keys(theirs).filter((key) => !(key in ours));
    const extra = Object.keys(ours).filter((key) => !(key in theirs) && !extensions.has(key));
    return [
      ...missing.map((key) => `${at}.${key} is missing`),
      ...extra.map((key) => `${at}.${key} is too much`),
      ...Object.keys(theirs)
        .filter((key) => key in ours)
        .flatMap((key) => differences(theirs[key], ours[key], `${at}.${key}`)),
    ];
  }
  if (Array.isArray(theirs) && Array.isArray(ours)) {
    if (theirs.length !== ours.length) return [`${at} has ${ours.length} items, not ${theirs.length}`];
    return theirs.flatMap((item, n) => differences(item, ours[n], `${at}[${n}]`));
  }
  if (kind(theirs) === kind(ours)) return [];
  const name = at.slice(at.lastIndexOf(".") + 1);
  if (Object.hasOwn(nullable, name) && (theirs === null || ours === null)) return [];
  return [`${at} is ${kind(ours)}, not ${kind(theirs)}`];
};

/** A refusal with the ids in it made equal. */
export const wordsOf = (body: unknown): string =>
  JSON.stringify(body ?? null).replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID");
