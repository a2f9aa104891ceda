/** From a request to the store and back. */
import type { FastifyRequest } from "fastify";
import type { Snapshot } from "../store/snapshot.ts";
import { defaultProject, type OctaviaDeps } from "./deps.ts";
import type { Entry, Query } from "./lists.ts";
import { page } from "./lists.ts";
import { statusesOf } from "./status.ts";
import { type Views, viewsOf } from "./views.ts";
import type { Work } from "./work.ts";

/** What route handlers do. */
export interface Session {
  /** The newest state. */
  read(): Snapshot;
  /** The newest state as answers. */
  views(): Views;
  /** Runs a change and waits until it is durable. */
  change<T>(request: FastifyRequest, change: (work: Work) => T): Promise<T>;
  /** A list as answered: rows under `plural`, links beside them. */
  list(
    request: FastifyRequest,
    plural: string,
    names: readonly string[],
    entries: readonly Entry[],
    linksName?: string,
  ): object;
  project(request: FastifyRequest): string;
}

export const sessionOf = (deps: OctaviaDeps): Session => {
  const stamp = stamps(deps.now ?? (() => new Date()));
  const project = (request: FastifyRequest): string => {
    const header = request.headers["x-project-id"];
    const named = deps.projectOf === undefined ? header : deps.projectOf(request);
    return typeof named === "string" && /^[\w-]{1,64}$/.test(named) ? named : defaultProject;
  };
  return {
    read: () => deps.store.read(),
    project,
    views: () => {
      const view = deps.store.read();
      const observed = { topology: deps.topology(), connected: deps.connected(), healthOf: deps.healthOf.bind(deps) };
      return viewsOf(view, statusesOf(view, observed));
    },
    change: async (request, change) => {
      const work = { topology: deps.topology(), options: deps.options, project: project(request) };
      const { value } = await deps.store.transact((draft) => change({ ...work, draft, stamp }));
      return value;
    },
    list: (request, plural, names, entries, linksName = `${plural}_links`) => {
      const { rows, links } = page(entries, names, request.query as Query);
      const path = request.raw.url?.split("?")[0] ?? "";
      const base = `${origin(request)}${path}`;
      return {
        [plural]: rows,
        [linksName]: links.map(({ rel, query }) => ({ rel, href: `${base}?${query}` })),
      };
    },
  };
};

/** The clock counts milliseconds; what is made in one gets microseconds in order, so that lists show it in that order. */
const stamps = (now: () => Date): (() => string) => {
  let last = "";
  let sequence = 0;
  return () => {
    const milliseconds = now().toISOString().slice(0, -1);
    sequence = milliseconds === last ? Math.min(sequence + 1, 999) : 0;
    last = milliseconds;
    return `${milliseconds}${String(sequence).padStart(3, "0")}`;
  };
};

/** Where the caller reached us: a proxy in between says so in its headers, which only shape the links in this one answer. */
export const origin = (request: FastifyRequest): string => {
  const header = (name: string, form: RegExp): string | undefined => {
    const value = request.headers[name];
    const first = typeof value === "string" ? value.split(",")[0]!.trim() : undefined;
    return first !== undefined && form.test(first) ? first : undefined;
  };
  const scheme = header("x-forwarded-proto", /^https?$/) ?? request.protocol;
  const hostForm = /^[\w.-]+(?::\d{1,5})?$|^\[[0-9a-fA-F:]+\](?::\d{1,5})?$/;
  const host = header("x-forwarded-host", hostForm) ?? header("host", hostForm) ?? "localhost";
  return `${scheme}://${host}${header("x-forwarded-prefix", /^(?:\/[\w.~-]+)+$/) ?? ""}`;
};
