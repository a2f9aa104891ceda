/** The topology file: read, checked and made into the model, or refused with everything that is wrong in it. */
import { type IdBook, noIdBook } from "../../pipeline/ids.ts";
import type { Topology } from "../../pipeline/model.ts";
import { buildTopology } from "./build.ts";
import { checkLoadBalancers } from "./check-balancers.ts";
import { checkNeighbours, checkNodes, checkOwnAddresses, checkRoutes, checkSegments } from "./check-segments.ts";
import { parseFile } from "./document.ts";
import type { ConfigError } from "./errors.ts";
import { readTextFile } from "./file.ts";
import type { Report } from "./reader.ts";
import { type TopologyFile, topologyFile } from "./schema.ts";

export type TopologyResult =
  | { readonly ok: true; readonly topology: Topology; readonly ids: IdBook }
  | { readonly ok: false; readonly errors: readonly ConfigError[] };

const check = (file: TopologyFile, complete: boolean, report: Report): void => {
  checkNodes(file, report);
  checkSegments(file, report);
  const own = checkOwnAddresses(file, report);
  checkRoutes(file, own, complete, report);
  checkNeighbours(file, own, complete, report);
  checkLoadBalancers(file, own, complete, report);
};

/**
 * Reads the text of a topology file. Never throws, whatever the text is.
 *
 * @param file the name for error messages
 * @param previous the numbers that objects have so far; they keep them
 */
export const parseTopology = (text: string, file: string, previous: IdBook = noIdBook): TopologyResult => {
  const read = parseFile(text, file, topologyFile, "the keys nodes and segments", check);
  return read.ok ? { ok: true, ...buildTopology(read.value, previous) } : read;
};

/** Reads the topology file at `path`; see {@link parseTopology}. */
export const loadTopology = (path: string, previous: IdBook = noIdBook): TopologyResult => {
  const file = readTextFile(path);
  return file.ok ? parseTopology(file.text, path, previous) : file;
};
