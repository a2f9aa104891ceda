import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { makeMetrics } from "../../controller/metrics.ts";
import { seedHosts } from "../../src/lab/topology.ts";

const folder = fileURLToPath(new URL("../../docker/", import.meta.url));
const installed = (program: string) =>
  (process.env["PATH"] ?? "").split(":").some((place) => existsSync(`${place}/${program}`));

/** Runs a program in docker/ and gives its status with all that it printed. */
function outcome(program: string, args: readonly string[], input = ""): Promise<{ status: number; printed: string }> {
  return new Promise((resolve) => {
    const child = execFile(program, [...args], { cwd: folder }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code), printed: stdout + stderr }),
    );
    child.stdin?.end(input);
  });
}

describe.skipIf(!installed("promtool"))("promtool", () => {
  test.each([
    ["accepts the configuration, and the rules it names", ["check", "config", "prometheus.yml"]],
    ["finds that alerts fire when they should, and only then", ["test", "rules", "alerts.test.yml"]],
  ])("%s", async (_what, args) => {
    const { status, printed } = await outcome("promtool", args);
    expect(printed).toContain("SUCCESS");
    expect(status).toBe(0);
  });

  test("finds no fault in names and help texts of the metrics", async () => {
    const metrics = makeMetrics();
    metrics.neighbourStates.set("lb1", () => ["reachable"]);
    expect(await outcome("promtool", ["check", "metrics"], await metrics.registry.metrics())).toEqual({
      status: 0,
      printed: "",
    });
  });
});

interface Service {
  readonly container_name: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly networks?: readonly string[] | Readonly<Record<string, unknown>>;
  readonly build?: { readonly context: string; readonly dockerfile?: string };
}

const compose = parse(readFileSync(`${folder}compose.yaml`, "utf8"), { merge: true }) as {
  services: Readonly<Record<string, Service>>;
  networks: Readonly<Record<string, { name: string }>>;
};
const services = Object.values(compose.services);

describe("compose file", () => {
  test("has the machines of the lab, with the same ports, numbers, addresses and routes", () => {
    const machines = compose.services["lb"]?.environment?.["MACHINES"]?.split(" ") ?? [];
    const hosts = seedHosts.filter((host) => /^(be|cli)\d$/.test(host.name));
    expect([...machines].sort()).toEqual(hosts.map((host) => `${host.port}=${host.ofport}`).sort());
    for (const host of hosts) {
      const { container_name, environment = {} } = compose.services[host.name] ?? { container_name: "" };
      expect(container_name).toBe(`hpnn-${host.name}`);
      expect(environment).toMatchObject({ HPNN_PORT: host.port, ADDRESS: host.address });
      expect(environment["SERVE"]).toBe(host.backend ? host.name : undefined);
      const routes = (environment["ROUTES"] ?? "").split(" ").filter((route) => route !== "");
      expect(routes.map((route) => route.replace("=", " via "))).toEqual([...host.routes]);
    }
  });

  test("files and build folders that it names exist, networks are declared", () => {
    const files = services.flatMap(({ volumes = [], build }) => [
      ...volumes.map((volume) => volume.split(":")[0] ?? "").filter((path) => path.startsWith(".")),
      ...(build === undefined ? [] : [`${build.context}/${build.dockerfile ?? "Dockerfile"}`]),
    ]);
    expect(files.length).toBeGreaterThan(8);
    expect(files.filter((path) => !existsSync(folder + path))).toEqual([]);
    const used = services.flatMap(({ networks = [] }) => (Array.isArray(networks) ? networks : Object.keys(networks)));
    expect([...new Set(used)].sort()).toEqual(Object.keys(compose.networks).sort());
  });

  test.skipIf(!installed("docker-compose"))("docker-compose reads it", async () => {
    const { status, printed } = await outcome("docker-compose", ["-f", "compose.yaml", "config"]);
    expect({ status, printed: status === 0 ? "" : printed }).toEqual({ status: 0, printed: "" });
    expect(printed).toContain("container_name: hpnn-lb");
  });
});
