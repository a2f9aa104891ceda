import type { FastifyInstance } from "fastify";
import { decide } from "../../../../src/cli/apply/decide.ts";
import type { Balancer } from "../../../../src/cli/apply/objects.ts";
import { changeLine, makeChanges } from "../../../../src/cli/apply/run.ts";
import { type Api, readBalancers, shownName } from "../../../../src/cli/apply/server.ts";
import { parseWanted } from "../../../../src/cli/apply/wanted.ts";
import { formatErrors } from "../../../../src/config/errors.ts";

/** The API of an application in this process; `writes` are the requests that change something. */
export const apiOn = (app: FastifyInstance): { readonly api: Api; readonly writes: string[] } => {
  const writes: string[] = [];
  const api: Api = async (method, path, body) => {
    if (method !== "GET") writes.push(`${method} ${path}`);
    const answer = await app.inject({
      method: method as "GET" | "POST" | "PUT" | "DELETE",
      url: path,
      ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, payload: JSON.stringify(body) }),
    });
    return { status: answer.statusCode, body: answer.body === "" ? undefined : JSON.parse(answer.body) };
  };
  return { api, writes };
};

export const wantedIn = (text: string): readonly Balancer[] => {
  const read = parseWanted(text, "test.yaml");
  if (!read.ok) throw new Error(formatErrors(read.errors));
  return read.value;
};

const read = (api: Api, wanted: readonly Balancer[]) =>
  readBalancers(api, (row) => wanted.some((w) => w.self.name === shownName(row)));

/** The changes that would be made. */
export const planOf = async (api: Api, text: string, prune = false) => {
  const wanted = wantedIn(text);
  return decide(wanted, await read(api, wanted), prune);
};

/** Applies a file; returns the lines a person sees. */
export const applyText = async (api: Api, text: string, prune = false): Promise<readonly string[]> => {
  const decision = await planOf(api, text, prune);
  if (!decision.ok) throw new Error(decision.refusals.join("\n"));
  const lines: string[] = [];
  await makeChanges(
    api,
    decision.changes,
    (change) => lines.push(changeLine(change)),
    async () => {},
  );
  return lines;
};
