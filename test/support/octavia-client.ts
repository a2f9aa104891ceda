import { expect } from "vitest";
import type { NodeUnderTest } from "./node-under-test.ts";

/** What tests look at in an object of the API. */
export interface ApiObject {
  readonly id: string;
  readonly name: string;
  readonly operating_status: string;
}

/** Requests to a node's load-balancer API, below its root. Fails the test on any status but success. */
export interface OctaviaClient {
  /** The body of the answer; {} when it has none. */
  request(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
  list(path: string): Promise<readonly ApiObject[]>;
  /** The only object of a list, or the one with a name. */
  find(path: string, name?: string): Promise<ApiObject>;
}

export function octaviaClient(node: () => NodeUnderTest): OctaviaClient {
  const request: OctaviaClient["request"] = async (method, path, body) => {
    const response = await fetch(new URL(`/v2.0/lbaas/${path}`, node().daemon.web), {
      method,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    expect(response.ok, `${method} ${path}: ${response.status} ${text}`).toBe(true);
    return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
  };
  const list: OctaviaClient["list"] = async (path) => Object.values(await request("GET", path))[0] as ApiObject[];
  return {
    request,
    list,
    find: async (path, name) => {
      const found = (await list(path)).filter((o) => name === undefined || o.name === name);
      expect(found, `${path} ${name ?? ""}`).toHaveLength(1);
      return found[0]!;
    },
  };
}
