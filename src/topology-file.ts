import { realpathSync, statSync } from "node:fs";
import { Conflict } from "../controller/api/refusals.ts";
import { type FaultView, FaultyTopology } from "../controller/api/topology.ts";
import type { IdBook } from "../pipeline/ids.ts";
import type { Topology } from "../pipeline/model.ts";
import { CliError } from "./cli/command.ts";
import { type ApiAddresses, noApiAddresses } from "./config/addresses.ts";
import { type ConfigError, formatErrors } from "./config/errors.ts";
import { readTextFile } from "./config/file.ts";
import { loadTopology, parseTopology } from "./config/topology.ts";
import { readIds, writeIds } from "./id-file.ts";
import { replaceFile } from "./replace-file.ts";

/** The topology as the operator's file has it, with the numbers of its objects, which outlive restarts. */
export class TopologyFile {
  readonly path: string;
  #data: string;
  #topology: Topology;
  #ids: IdBook;
  #reloadError: string | null = null;
  #api: () => ApiAddresses;

  /** @throws CliError when the file is faulty or the numbers cannot be kept */
  constructor(path: string, data: string) {
    this.path = path;
    this.#api = () => noApiAddresses;
    this.#data = data;
    const loaded = loadTopology(path, readIds(data));
    if (!loaded.ok) throw new CliError(formatErrors(loaded.errors), 2);
    this.#topology = loaded.topology;
    this.#ids = loaded.ids;
    this.#saveIds(loaded.ids);
  }

  /**
   * From now on the file may not take addresses that were given away through the API. At the start it may: it was valid when it was
   * written, and then these objects are what is left out.
   */
  keepFrom(api: () => ApiAddresses): void {
    this.#api = api;
  }

  get topology(): Topology {
    return this.#topology;
  }

  /** Errors of the last refused reload; null when the file in force is the file on disk. */
  get reloadError(): string | null {
    return this.#reloadError;
  }

  /** Reads the file again. When that is refused, the old topology stays in force. @returns whether there is a new one */
  reload(): boolean {
    const next = loadTopology(this.path, this.#ids, this.#api());
    try {
      if (!next.ok) throw new CliError(formatErrors(next.errors));
      this.#saveIds(next.ids);
    } catch (e) {
      this.#reloadError = (e as Error).message;
      return false;
    }
    this.#accept(next);
    return true;
  }

  /** @throws Conflict when it cannot be read */
  text(): string {
    const file = readTextFile(this.path);
    if (!file.ok) throw new Conflict(formatErrors(file.errors));
    return file.text;
  }

  /** What a text would be in the place of the file. @throws FaultyTopology */
  parse(text: string): { readonly topology: Topology; readonly ids: IdBook } {
    const parsed = parseTopology(text, this.path, this.#ids, this.#api());
    if (!parsed.ok) throw new FaultyTopology(parsed.errors.map(faultView));
    return parsed;
  }

  /** Makes a text the file. @throws FaultyTopology, Conflict when the file cannot be written */
  replace(text: string): void {
    const next = this.parse(text);
    try {
      this.#saveIds(next.ids);
      // A link stays a link, and whoever could read the file still can.
      const path = realpathSync(this.path);
      replaceFile(path, text, statSync(path).mode & 0o777);
    } catch (e) {
      throw new Conflict(`the topology file cannot be written: ${(e as Error).message}`);
    }
    this.#accept(next);
  }

  #accept(next: { readonly topology: Topology; readonly ids: IdBook }): void {
    this.#topology = next.topology;
    this.#ids = next.ids;
    this.#reloadError = null;
  }

  #saveIds(ids: IdBook): void {
    try {
      writeIds(this.#data, ids);
    } catch (e) {
      throw new CliError(`--data: cannot write to ${this.#data}: ${(e as Error).message}`);
    }
  }
}

const faultView = ({ line, column, field, message, allowed }: ConfigError): FaultView => ({
  line,
  column,
  field,
  message: allowed === undefined ? message : `${message} (want ${allowed})`,
});
