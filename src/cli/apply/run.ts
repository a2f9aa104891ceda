/** Makes changes one after the other, and stops at the first refusal. */
import { CliError } from "../command.ts";
import type { Change } from "./decide.ts";
import type { Value } from "./objects.ts";
import { type Api, faultOf } from "./server.ts";

/** Milliseconds between tries while an object is being changed by somebody else: half a minute in all. */
const pauses = [500, 1000, 2000, 3000, 4000, 5000, 5000, 5000, 5000] as const;

const valueText = (value: Value): string => {
  if (value === null) return "(default)";
  return Array.isArray(value) ? value.join(",") : String(value);
};

const differencesText = (change: Change): string =>
  change.differences.map((d) => `${d.word} ${valueText(d.from)} → ${valueText(d.to)}`).join(", ");

/** One change for a person; `planned` when it has not been made. */
export const changeLine = (change: Change, planned = false): string => {
  const was = planned ? "would be " : "";
  const what = `${change.kind} ${change.name}`;
  if (change.action === "create") return `+ ${what} ${was}created`;
  if (change.action === "update") return `~ ${what} ${differencesText(change)}`;
  return change.differences.length === 0
    ? `- ${what} ${was}deleted`
    : `- ${what} ${was}deleted, to be made anew: ${differencesText(change)}`;
};

/** One change for a program. */
export const changeView = ({ action, kind, name, differences }: Change): object => ({
  action,
  kind,
  name,
  ...(differences.length === 0 ? {} : { differences }),
});

const filled = (text: string, ids: ReadonlyMap<string, string>): string =>
  text.replaceAll(/\{((?:load balancer|pool) [\w./-]+)\}/g, (whole, name: string) => ids.get(name) ?? whole);

/** The id of the object in an answer such as `{"pool": {"id": …}}`. */
const idIn = (body: unknown): string | undefined => {
  const [object] = Object.values((body ?? {}) as Readonly<Record<string, { readonly id?: string } | undefined>>);
  return object?.id;
};

/**
 * @param done called after each change that was made
 * @throws CliError naming the object, with the server's words for why not
 */
export const makeChanges = async (
  api: Api,
  changes: readonly Change[],
  done: (change: Change) => void,
  sleep: (ms: number) => Promise<unknown>,
): Promise<void> => {
  const ids = new Map<string, string>();
  for (const change of changes) {
    const { method, path, body } = change.request;
    const sent = body === undefined ? undefined : (JSON.parse(filled(JSON.stringify(body), ids)) as unknown);
    let answer = await api(method, filled(path, ids), sent);
    for (const pause of pauses) {
      if (answer.status !== 409 || !/immutable/i.test(faultOf(answer))) break;
      await sleep(pause);
      answer = await api(method, filled(path, ids), sent);
    }
    // What is gone need not be deleted.
    const gone = change.action === "delete" && answer.status === 404;
    if (answer.status >= 300 && !gone) throw new CliError(`${change.kind} ${change.name}: ${faultOf(answer)}`);
    const id = idIn(answer.body);
    if (change.provides !== undefined && id !== undefined) ids.set(change.provides, id);
    done(change);
  }
};
