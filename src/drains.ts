import { existsSync, readFileSync } from "node:fs";
import type { Member, Topology } from "../pipeline/model.ts";
import { CliError } from "./cli/command.ts";
import { replaceFile } from "./replace-file.ts";

/** Members the operator drained or enabled by hand, by uuid: true for drained. It outweighs the topology file. */
export type Drains = ReadonlyMap<string, boolean>;

/** The topology with members drained as the operator last said. */
export const withDrains = (topology: Topology, drains: Drains): Topology => {
  if (drains.size === 0) return topology;
  const member = (m: Member): Member => ({ ...m, drain: drains.get(m.uuid) ?? m.drain });
  return {
    ...topology,
    loadBalancers: topology.loadBalancers.map((lb) => ({
      ...lb,
      pools: lb.pools.map((p) => ({ ...p, members: p.members.map(member) })),
    })),
  };
};

/** The operator's word on members as a file: replaced whole, so that a crash leaves the old one or the new one. */
export class DrainFile {
  #path: string;
  #drains: Map<string, boolean>;

  /** @throws CliError when there is a file that cannot be read; guessing would put drained members back into service. */
  constructor(path: string) {
    this.#path = path;
    this.#drains = new Map(existsSync(path) ? read(path) : []);
  }

  get drains(): Drains {
    return this.#drains;
  }

  /**
   * On disk when it returns. What says the same as the topology file, and members that are there no more, are left out.
   *
   * @throws Error of the file system; then nothing has changed.
   */
  set(uuid: string, drain: boolean, topology: Topology): void {
    const members = topology.loadBalancers.flatMap((lb) => lb.pools).flatMap((p) => p.members);
    const next = new Map(this.#drains).set(uuid, drain);
    const kept = members.flatMap((m): [string, boolean][] => {
      const wanted = next.get(m.uuid);
      return wanted === undefined || wanted === m.drain ? [] : [[m.uuid, wanted]];
    });
    replaceFile(this.#path, `${JSON.stringify({ version: 1, members: Object.fromEntries(kept) }, null, 2)}\n`);
    this.#drains = new Map(kept);
  }
}

function read(path: string): [string, boolean][] {
  try {
    const { version, members } = JSON.parse(readFileSync(path, "utf8")) as { version?: unknown; members?: unknown };
    if (version !== 1 || typeof members !== "object" || members === null) throw new Error("not of this program");
    const entries: [string, unknown][] = Object.entries(members);
    return entries.map(([uuid, drain]) => {
      if (typeof drain !== "boolean") throw new Error(`${uuid} is neither true nor false`);
      return [uuid, drain];
    });
  } catch (e) {
    const why = e instanceof Error ? e.message : String(e);
    throw new CliError(`${path} cannot be read (${why}); repair it, or remove it to go by the topology file alone`);
  }
}
