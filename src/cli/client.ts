import { readFileSync } from "node:fs";
import { CliError, type Invocation } from "./command.ts";

/** GETs a path of the daemon's HTTP API and returns its JSON. */
export async function get<T>(call: Invocation, path: string): Promise<T> {
  return await ask<T>(call, "GET", path);
}

/** POSTs to a path of the daemon's HTTP API, without a body, and returns the JSON of the answer. */
export async function post<T>(call: Invocation, path: string): Promise<T> {
  return await ask<T>(call, "POST", path);
}

/** GETs a path that answers with plain text. */
export async function getText(call: Invocation, path: string): Promise<string> {
  const { base, response, text } = await send(call, "GET", path);
  if (response.ok) return text;
  throw new CliError(`${base} is not this daemon: ${path} answers ${response.status}`);
}

/** What the daemon answers to a request, whatever the status; `body` is undefined where there is no JSON. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Puts a request to the daemon's HTTP API, and leaves it to the caller what a refusal means. */
export async function exchange(
  call: Invocation,
  method: string,
  path: string,
  body?: unknown,
  timeoutMs?: number,
): Promise<Answer> {
  const { base, response, text } = await send(call, method, path, body, timeoutMs);
  if (text === "") return { status: response.status, body: undefined };
  try {
    return { status: response.status, body: JSON.parse(text) };
  } catch {
    throw new CliError(`${base} is not this daemon: ${path} answers ${response.status} without JSON`);
  }
}

/** The token for the daemon, from `--token-file` or LBCTL_TOKEN_FILE. It is not an argument: those are seen by all. */
function tokenHeader(call: Invocation): Record<string, string> {
  const path = (call.values["token-file"] as string | undefined) ?? process.env["LBCTL_TOKEN_FILE"];
  if (path === undefined || path === "") return {};
  let token: string;
  try {
    token = readFileSync(path, "utf8").trim();
  } catch (e) {
    throw new CliError(`--token-file: ${path} cannot be read: ${(e as NodeJS.ErrnoException).code ?? "error"}`, 2);
  }
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new CliError(`--token-file: ${path} must hold one token and nothing else`, 2);
  return { authorization: `Bearer ${token}` };
}

async function send(call: Invocation, method: string, path: string, body?: unknown, timeoutMs = 30_000) {
  const base = (call.values["server"] as string | undefined) ?? process.env["LBCTL_SERVER"] ?? "http://127.0.0.1:9876";
  let url: URL;
  try {
    url = new URL(path, base);
  } catch {
    throw new CliError(`--server: "${base}" is not a URL (want one such as http://127.0.0.1:9876)`, 2);
  }
  let response: Response;
  try {
    const json = body === undefined ? {} : { "content-type": "application/json" };
    response = await fetch(url, {
      method,
      headers: { ...tokenHeader(call), ...json },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
  } catch (e) {
    const cause = e instanceof Error && e.cause instanceof Error ? e.cause.message : String(e);
    throw new CliError(`no daemon answers at ${base}: ${cause || "connection failed"}`);
  }
  return { base, response, text: await response.text() };
}

async function ask<T>(call: Invocation, method: string, path: string): Promise<T> {
  const { base, response, text } = await send(call, method, path);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new CliError(`${base} is not this daemon: ${path} answers ${response.status} without JSON`);
  }
  if (!response.ok) {
    const { message } = body as { message?: string };
    throw new CliError(`${message ?? `the daemon answers ${response.status}`}`);
  }
  return body as T;
}
