import type { Lab } from "../handle.ts";
import { LabError } from "../shell.ts";
import { type Group, makeBench, requireAllServing } from "./bench.ts";
import type { CheckResult, VerifyReport } from "./check.ts";
import { readFacts } from "./facts.ts";
import { groups as allGroups } from "./groups.ts";

export interface VerifyOptions {
  /** Names of the groups to run; all of them unless told. */
  readonly groups?: readonly string[];
  readonly onGroup?: (group: Group) => void;
  readonly onResult?: (result: CheckResult) => void;
}

/**
 * Checks a running lab, on what passes its wires and on what its switch holds. The lab is as before when it is over.
 *
 * A group that cannot go on counts as one failed check more.
 * @throws LabError for a group that does not exist, or when the lab's topology is not the one the checks know.
 */
export async function verify(lab: Lab, options: VerifyOptions = {}): Promise<VerifyReport> {
  const begin = performance.now();
  const selected = select(options.groups);
  const controller = lab.controller();
  if (controller === undefined) throw new LabError(`lab "${lab.name}" has no controller`);
  const facts = readFacts(controller.config);
  const results: CheckResult[] = [];
  const record = (result: CheckResult) => {
    results.push(result);
    options.onResult?.(result);
  };
  for (const group of selected) {
    options.onGroup?.(group);
    const failed = (what: string) => (error: unknown) =>
      record({
        group: group.name,
        name: what,
        expected: "no error",
        saw: error instanceof Error ? error.message : String(error),
        ok: false,
      });
    const undo: (() => Promise<unknown>)[] = [];
    const bench = makeBench(lab, facts, group.name, record, undo);
    running.add(undo);
    try {
      await requireAllServing(bench);
      await group.run(bench);
    } catch (error) {
      failed("the group runs to its end")(error);
    } finally {
      running.delete(undo);
      for (const step of undo.reverse()) await step().catch(failed("the lab is as before"));
    }
  }
  const passed = results.filter((result) => result.ok).length;
  return { results, passed, total: results.length, seconds: (performance.now() - begin) / 1000 };
}

const running = new Set<(() => Promise<unknown>)[]>();

/** Sets right what running checks have changed: for a program that is told to end in the midst of them. */
export async function restoreLab(): Promise<void> {
  for (const undo of running) for (const step of undo.reverse()) await step().catch(() => {});
}

function select(names: readonly string[] | undefined): readonly Group[] {
  if (names === undefined || names.length === 0) return allGroups;
  return names.map((name) => {
    const found = allGroups.find((group) => group.name === name);
    if (found === undefined) {
      throw new LabError(`there is no group "${name}" (groups: ${allGroups.map((group) => group.name).join(", ")})`);
    }
    return found;
  });
}
