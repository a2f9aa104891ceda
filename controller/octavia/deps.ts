/** What the daemon gives the API. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Health, Topology } from "../../pipeline/model.ts";
import type { Store } from "../store/store.ts";
import type { OptionName } from "./provider.ts";

/** Traffic of a listener, or of all listeners of a load balancer. */
interface Counters {
  readonly bytes_in: number;
  readonly bytes_out: number;
  readonly active_connections: number;
  readonly total_connections: number;
  readonly request_errors: number;
}

export interface OctaviaDeps {
  readonly store: Store;
  topology(): Topology;
  /** By the member's UUID. */
  healthOf(member: string): Health;
  /** Whether a switch carries the load balancers out. */
  connected(): boolean;
  /** By the UUID of a load balancer or listener. */
  stats(id: string): Counters;
  /** The options that the switch's program honours; others are refused. */
  readonly options: ReadonlySet<OptionName>;
  /** The project of a caller; by default what `X-Project-Id` says. Who may call at all is for a hook around this plugin. */
  projectOf?(request: FastifyRequest): string | undefined;
  /** Answers `GET /` to browsers; without it they get JSON as well. */
  webPage?(request: FastifyRequest, reply: FastifyReply): unknown;
  now?(): Date;
}

/** The project of callers that name none, as the `openstack` client without Keystone. */
export const defaultProject = "00000000000000000000000000000000";
