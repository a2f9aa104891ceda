/** Creating, changing and deleting health monitors. */
import { parseStatusCodes } from "../../pipeline/status-codes.ts";
import type { HealthMonitorRow, PoolRow } from "../store/rows.ts";
import type { View } from "../store/snapshot.ts";
import { conflict, invalidField, invalidOption, notFound, validationFailure } from "./fault.ts";
import {
  boolean,
  type Input,
  integer,
  oneOf,
  type Reader,
  readObject,
  required,
  tags,
  text,
  updated,
} from "./fields.ts";
import { thePool } from "./pools.ts";
import { unsupportedOption } from "./provider.ts";
import { enforceQuota } from "./quotas.ts";
import { newObject, putChanged, type Work } from "./work.ts";

const where = "health_monitor_.healthmonitor";

const types = ["TCP", "HTTP", "HTTPS", "TLS-HELLO", "PING", "UDP-CONNECT", "SCTP"] as const;

const methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH", "CONNECT", "TRACE"] as const;

const matching =
  (form: RegExp, why: string): Reader<string> =>
  (value, field) => {
    const given = text()(value, field);
    if (!form.test(given)) throw invalidField(field, value, why);
    return given;
  };

const version: Reader<number> = (value, field) => {
  const number = Number(value);
  if (number !== 1 && number !== 1.1) throw invalidField(field, value, "Value should be one of: 1.0, 1.1");
  return number;
};

const changeable = {
  name: text(),
  admin_state_up: boolean,
  tags,
  delay: integer(1, 86_400),
  timeout: integer(1, 86_400),
  max_retries: integer(1, 10),
  max_retries_down: integer(1, 10),
  http_method: oneOf(methods),
  // What a request line can carry, and nothing that would end it.
  url_path: matching(/^\/[\w.~!$&'()*+,;=:@%/?-]*$/, "Value must be a valid URL Path string"),
  expected_codes: matching(
    /^\d{3}(?:\s*,\s*\d{3})*$|^\d{3}-\d{3}$/,
    "Value should match the pattern ^(\\d{3}(\\s*,\\s*\\d{3})*)$|^(\\d{3}-\\d{3})$",
  ),
  http_version: version,
  domain_name: matching(/^(?!.*\.\.)[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i, "Value should be a domain name"),
} as const;

const createSchema = {
  ...changeable,
  type: oneOf(types),
  pool_id: text(),
  project_id: text(64),
  tenant_id: text(64),
} as const;

type Changes = Input<typeof changeable>;

const probeTypes = ["TCP", "HTTP", "PING", "UDP-CONNECT"] as const;

const refuseWrongType = (type: (typeof types)[number], pool: PoolRow): (typeof probeTypes)[number] => {
  if (pool.protocol === "UDP" && !["UDP-CONNECT", "SCTP", "TCP", "HTTP"].includes(type)) {
    throw validationFailure(
      "The associated pool protocol is UDP, so only a UDP-CONNECT/SCTP/TCP/HTTP health monitor is supported.",
    );
  }
  if (pool.protocol !== "UDP" && (type === "UDP-CONNECT" || type === "SCTP")) {
    throw validationFailure(`The ${type} type is only supported for pools of type UDP/SCTP.`);
  }
  const known = probeTypes.find((t) => t === type);
  if (known === undefined) throw unsupportedOption(`health monitors of type ${type}`);
  return known;
};

const httpFields = ["http_method", "url_path", "expected_codes", "http_version", "domain_name"] as const;

const refuseMisplaced = (type: (typeof probeTypes)[number], input: Changes): void => {
  if (type === "HTTP") return;
  for (const field of httpFields) {
    if (input[field] !== undefined && input[field] !== null) {
      throw invalidOption(field, `health monitors of type ${type}`);
    }
  }
};

const probeMethod = (method: (typeof methods)[number]): "GET" | "HEAD" | "OPTIONS" => {
  if (method === "GET" || method === "HEAD" || method === "OPTIONS") return method;
  throw unsupportedOption(`health monitors with method ${method}`);
};

/** A Host header is part of HTTP 1.1 only. */
const refuseNameWithoutVersion = (row: HealthMonitorRow): void => {
  if (row.domain_name !== null && row.http_version !== 1.1) {
    throw validationFailure("'http_version'(1.1) is required when 'domain_name' is set.");
  }
};

/** The real API takes a range that runs backward and codes that no answer has, and such members are never up. */
const refuseHopelessCodes = (codes: string | null | undefined): void => {
  if (codes === null || codes === undefined || parseStatusCodes(codes) !== undefined) return;
  const wanted = "Value should be codes from 100 to 599, the lower end of a range first";
  throw invalidField(`${where}.expected_codes`, codes, wanted);
};

/** POST /healthmonitors. `pool` is given when the surroundings say it, as in a single-call create. */
export const createHealthMonitor = (work: Work, body: unknown, pool?: PoolRow): HealthMonitorRow => {
  const input = readObject(createSchema, body, where);
  const type = required(input.type, "type");
  const delay = required(input.delay, "delay");
  const timeout = required(input.timeout, "timeout");
  const rise = required(input.max_retries, "max_retries");
  if (pool === undefined && input.pool_id === undefined) required(input.pool_id, "pool_id");
  const parent = pool ?? thePool(work.draft, input.pool_id ?? "None");
  const probe = refuseWrongType(type, parent);
  refuseMisplaced(probe, input);
  refuseHopelessCodes(input.expected_codes);
  if (work.draft.children("healthMonitors", parent.id).length > 0)
    throw conflict("This pool already has a health monitor");
  enforceQuota(work, parent.project_id, "health_monitor");
  const http = probe === "HTTP";
  const row: HealthMonitorRow = {
    ...newObject(work, parent.project_id),
    pool_id: parent.id,
    name: input.name ?? "",
    admin_state_up: input.admin_state_up === undefined ? true : (input.admin_state_up ?? false),
    tags: input.tags ?? [],
    type: probe,
    delay,
    timeout,
    max_retries: rise,
    max_retries_down: input.max_retries_down ?? 3,
    http_method: http ? probeMethod(input.http_method ?? "GET") : null,
    url_path: http ? (input.url_path ?? "/") : null,
    expected_codes: http ? (input.expected_codes ?? "200") : null,
    http_version: input.http_version ?? null,
    domain_name: input.domain_name ?? null,
  };
  refuseNameWithoutVersion(row);
  work.draft.put("healthMonitors", row);
  return row;
};

export const theHealthMonitor = (view: View, id: string): HealthMonitorRow => {
  const row = view.get("healthMonitors", id);
  if (row === undefined) throw notFound("Health Monitor", id);
  return row;
};

/** PUT /healthmonitors/ID */
export const updateHealthMonitor = (work: Work, id: string, body: unknown): HealthMonitorRow => {
  const row = theHealthMonitor(work.draft, id);
  const input = readObject(changeable, body, where);
  refuseMisplaced(row.type, input);
  refuseHopelessCodes(input.expected_codes);
  const http = row.type === "HTTP";
  const method = input.http_method ? probeMethod(input.http_method) : input.http_method;
  const must = <F extends "delay" | "timeout" | "max_retries">(field: F): number =>
    input[field] === undefined ? row[field] : required(input[field], field);
  const after: HealthMonitorRow = {
    ...row,
    name: updated(input.name, row.name, ""),
    admin_state_up: updated(input.admin_state_up, row.admin_state_up, false),
    tags: updated(input.tags, row.tags, []),
    delay: must("delay"),
    timeout: must("timeout"),
    max_retries: must("max_retries"),
    max_retries_down: updated(input.max_retries_down, row.max_retries_down, 3),
    http_method: http ? updated(method as HealthMonitorRow["http_method"] | undefined, row.http_method, "GET") : null,
    url_path: http ? updated(input.url_path, row.url_path, "/") : null,
    expected_codes: http ? updated(input.expected_codes, row.expected_codes, "200") : null,
    http_version: updated(input.http_version, row.http_version, null),
    domain_name: updated(input.domain_name, row.domain_name, null),
  };
  refuseNameWithoutVersion(after);
  return putChanged(work, "healthMonitors", row, after);
};

/** DELETE /healthmonitors/ID */
export const deleteHealthMonitor = (work: Work, id: string): void =>
  work.draft.remove("healthMonitors", theHealthMonitor(work.draft, id).id);
