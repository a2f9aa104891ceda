import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Conflict } from "../../controller/api/refusals.ts";
import { FaultyTopology } from "../../controller/api/topology.ts";
import { TopologyFile } from "../../src/topology-file.ts";

const text = readFileSync(new URL("../../fixtures/topology.yaml", import.meta.url), "utf8");
const longer = `${text}\n# by hand\n`;
let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "oflb-topology-"));
  path = join(folder, "topology.yaml");
  writeFileSync(path, text, { mode: 0o644 });
});
afterEach(() => rmSync(folder, { recursive: true }));

const faults = (run: () => unknown): FaultyTopology["faults"] => {
  try {
    run();
  } catch (e) {
    if (e instanceof FaultyTopology) return e.faults;
    throw e;
  }
  return [];
};

describe("topology file", () => {
  test("is replaced whole, with the mode it had, through a link", () => {
    chmodSync(path, 0o640);
    const link = join(folder, "link.yaml");
    symlinkSync("topology.yaml", link);
    const file = new TopologyFile(link, folder);
    file.replace(longer);
    expect(readFileSync(path, "utf8")).toBe(longer);
    expect(file.text()).toBe(longer);
    expect(statSync(path).mode & 0o777).toBe(0o640);
  });

  test("a faulty text changes neither the file nor what is in force", () => {
    const file = new TopologyFile(path, folder);
    const before = file.topology;
    const bad = text.replace("subnet: 10.20.0.0/24", "subnet: 10.20.0.0/33").replace("kind: public", "kind: pubic");
    expect(faults(() => file.replace(bad))).toMatchObject([
      { field: "segments[0].kind", line: bad.split("\n").findIndex((l) => l.includes("pubic")) + 1 },
      { field: "segments[1].subnet", line: bad.split("\n").findIndex((l) => l.includes("/33")) + 1 },
    ]);
    expect(readFileSync(path, "utf8")).toBe(text);
    expect(file.topology).toBe(before);
  });

  test("objects keep their numbers when the text is another", () => {
    const file = new TopologyFile(path, folder);
    const numbers = () =>
      new Map(
        file.topology.loadBalancers.flatMap((lb) => lb.pools.flatMap((p) => p.members.map((m) => [m.name, m.id]))),
      );
    const before = numbers();
    file.replace(text.replace(/.*name: be1,.*\n/, ""));
    const after = numbers();
    expect(after.has("be1")).toBe(false);
    expect(after.get("be2")).toBe(before.get("be2"));
    expect(new TopologyFile(path, folder).topology).toEqual(file.topology);
  });

  test("a look at a text changes nothing", () => {
    const file = new TopologyFile(path, folder);
    const before = file.topology;
    expect(file.parse(text.replace(/.*name: be1,.*\n/, "")).topology).not.toEqual(before);
    expect(file.topology).toBe(before);
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  test("a reload that fails says why until one succeeds", () => {
    const file = new TopologyFile(path, folder);
    writeFileSync(path, "nodes: 1\n");
    expect(file.reload()).toBe(false);
    expect(file.reloadError).toMatch(/topology.yaml:1:\d+: nodes/);
    writeFileSync(path, longer);
    expect(file.reload()).toBe(true);
    expect(file.reloadError).toBeNull();
  });

  test("one that is gone or cannot be written is a conflict, not a failure", () => {
    const file = new TopologyFile(path, folder);
    rmSync(path);
    expect(() => file.text()).toThrow(Conflict);
    expect(() => file.replace(longer)).toThrow(Conflict);
  });
});
