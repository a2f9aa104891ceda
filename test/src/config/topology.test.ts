import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { formatMac, parseIpv4 } from "../../../openflow/packet/address.ts";
import { formatErrors } from "../../../src/config/errors.ts";
import { loadTopology, parseTopology } from "../../../src/config/topology.ts";
import { edit, errorsOf, load, valid } from "./marked.ts";

const path = "fixtures/topology.yaml";

describe("the lab's topology", () => {
  test("is what the lab has", () => {
    const result = loadTopology(path);
    if (!result.ok) throw new Error(formatErrors(result.errors));
    const { nodes, segments, loadBalancers, routes, staticNeighbours } = result.topology;
    expect(nodes).toEqual([{ name: "lb1" }]);
    expect(segments.map((s) => [s.id, s.name, s.kind, formatMac(s.gateway.mac), s.probe?.ip])).toEqual([
      [1, "pub", "public", "02:42:c0:a8:05:14", undefined],
      [2, "p2", "private", "02:42:0a:14:00:01", parseIpv4("10.20.0.253")],
      [3, "p3", "private", "02:42:0a:1e:00:01", parseIpv4("10.30.0.253")],
    ]);
    expect(segments.map((s) => s.ports.map((p) => `${p.name} ${p.role}`))).toEqual([
      ["pub0 host"],
      ["p2 uplink", "be1 host", "be3 host", "cli2 host"],
      ["p3 uplink", "be2 host", "be4 host", "cli3 host"],
    ]);
    expect([routes, staticNeighbours]).toEqual([[], []]);
    const [web] = loadBalancers;
    expect(web!.vips).toEqual([
      { ip: parseIpv4("192.168.5.21"), segment: 1 },
      { ip: parseIpv4("10.20.0.100"), segment: 2 },
      { ip: parseIpv4("10.30.0.100"), segment: 3 },
    ]);
    expect(web!.listeners[0]).toMatchObject({ protocol: "tcp", port: 80, poolId: web!.pools[0]!.id, adminUp: true });
    expect(web!.pools[0]!.members.map((m) => [m.name, m.ip, m.port, m.segment, m.weight])).toEqual([
      ["be1", parseIpv4("10.20.0.2"), 8080, 2, 1],
      ["be2", parseIpv4("10.30.0.2"), 8080, 3, 1],
      ["be3", parseIpv4("10.20.0.3"), 8080, 2, 1],
      ["be4", parseIpv4("10.30.0.3"), 8080, 3, 1],
    ]);
  });

  test("what its comments show is valid as well", () => {
    const shown = readFileSync(path, "utf8")
      .split("\n")
      // Examples stand in comments, indented by two more spaces than the text around them.
      .map((line) => line.replace(/^( *)# {3}(?=[- a-z_]+[:{])/, "$1"))
      .join("\n")
      .replace("# datapath_id", "datapath_id")
      .replace("      - cli2\n", "");
    const { segments, routes, staticNeighbours, nodes, loadBalancers } = load(shown).topology;
    expect(nodes[0]).toEqual({ name: "lb1", datapathId: "00000242ac110002" });
    expect(segments[1]).toMatchObject({ ageing: 300, learnLimit: 4096, clientsLearned: true });
    expect(formatMac(segments[1]!.ports.find((p) => p.name === "cli2")!.mac!)).toBe("02:00:00:14:00:0a");
    expect(routes).toEqual([{ prefix: { address: 0, length: 0 }, via: parseIpv4("192.168.5.1"), segment: 1 }]);
    expect(staticNeighbours).toEqual([{ segment: 2, ip: parseIpv4("10.20.0.9"), mac: 0x020000140009, port: "be1" }]);
    expect(loadBalancers[0]!.listeners[0]).toMatchObject({
      vips: [parseIpv4("192.168.5.21"), parseIpv4("10.20.0.100")],
      allowedSources: [
        { address: parseIpv4("192.168.5.0"), length: 24 },
        { address: parseIpv4("10.0.0.0"), length: 8 },
      ],
      slotChoice: "multipath",
      sessions: "conntrack",
      emptyPolicy: "drop",
    });
    expect(loadBalancers[0]!.pools[0]).toMatchObject({ algorithm: "consistent", affinity: "source-ip" });
    expect(loadBalancers[0]!.pools[0]!.healthMonitor).toEqual({
      type: "http",
      intervalMs: 2000,
      timeoutMs: 1000,
      rise: 2,
      fall: 3,
      http: { method: "GET", path: "/", version: "1.1", expectedCodes: [{ first: 200, last: 200 }] },
    });
  });

  test("members may be probed elsewhere than where they serve", () => {
    const be = (more: string) =>
      edit("name: be4, ip: 10.30.0.3, port: 8080", `name: be4, ip: 10.30.0.3, port: 8080${more}`);
    const last = (text: string) => load(text).topology.loadBalancers[0]!.pools[0]!.members[3]!;
    expect(last(be(""))).not.toHaveProperty("monitor");
    expect(last(be(", monitor_port: 81")).monitor).toEqual({ ip: parseIpv4("10.30.0.3"), port: 81 });
    expect(last(be(", monitor_ip: 10.20.0.9")).monitor).toEqual({ ip: parseIpv4("10.20.0.9"), port: 8080 });
    const both = last(be(", monitor_ip: 10.20.0.9, monitor_port: 81"));
    expect(both).toMatchObject({ ip: parseIpv4("10.30.0.3"), port: 8080, segment: 3 });
    expect(both.monitor).toEqual({ ip: parseIpv4("10.20.0.9"), port: 81 });
  });

  test("source-ip is an algorithm as well", () => {
    const text = edit("      - name: web\n        slots: 1024\n", "      - name: web\n        algorithm: source-ip\n");
    expect(load(text).topology.loadBalancers[0]!.pools[0]).toMatchObject({
      algorithm: "consistent",
      affinity: "source-ip",
    });
  });

  test("ids stay when something is added before and something else removed", () => {
    const first = load(valid);
    const more = edit(
      "          - { name: be1,",
      "          - { name: be0, ip: 10.20.0.1, port: 1 }\n          - { name: be1,",
    );
    const second = load(
      edit(
        "          - { name: be2, ip: 10.30.0.2, port: 8080 }\n",
        "",
        more.replace("10.20.0.1, port: 1", "10.20.0.11, port: 1"),
      ),
      first.ids,
    );
    const ids = (r: typeof first) =>
      Object.fromEntries(r.topology.loadBalancers[0]!.pools[0]!.members.map((m) => [m.name, m.id]));
    expect(ids(first)).toEqual({ be1: 1, be3: 2, be2: 3, be4: 4 });
    expect(ids(second)).toEqual({ be0: 5, be1: 1, be3: 2, be4: 4 });
    expect(load(valid).topology).toEqual(first.topology);
  });

  test.each(["02:42:0A:14:00:01", "02-42-0a-14-00-01", "0242.0a14.0001", "02420a140001", "2:42:a:14:0:1"])(
    "a MAC may be written %s",
    (text) => {
      const { segments } = load(edit('"02:42:0a:14:00:01"', text)).topology;
      expect(formatMac(segments[1]!.gateway.mac)).toBe("02:42:0a:14:00:01");
    },
  );
});

describe("the file as a whole", () => {
  test.each([
    ["", "1:1", "the file is empty"],
    ["# nothing\n", "1:1", "the file is empty"],
    ["text", "1:1", "is not a mapping"],
    ["- 1\n", "1:1", "a list is not a mapping"],
    ["{}", "1:1", 'the key "nodes" is missing'],
    ["nodes:\n\t- name: x\n", "2:1", "a tab is used for indentation"],
    ["nodes: [\n", "2:1", "YAML:"],
    ["nodes: []\n---\nnodes: []\n", "2:1", "more than one document"],
    ["nodes: *none\nsegments: []", "1:8", 'there is no anchor "none"'],
    ["nodes: !odd []\nsegments: []", "1:8", "YAML:"],
  ])("%j", (text, position, message) => {
    const result = parseTopology(text, "t.yaml");
    expect(result.ok).toBe(false);
    if (result.ok) return;
    expect(formatErrors(result.errors)).toContain(`t.yaml:${position}: `);
    expect(formatErrors(result.errors)).toContain(message);
  });

  test("an alias means what its anchor holds", () => {
    const text = edit("10.20.0.1,", "&gw 10.20.0.1,").replace("probe: 10.20.0.253", "probe: *gw");
    expect(errorsOf(text).errors.map((e) => e.field)).toEqual(["segments[1].probe"]);
  });

  test("aliases that multiply are refused quickly", () => {
    const level = (n: number) =>
      `&a${n} [${Array(20)
        .fill(`*a${n - 1}`)
        .join(", ")}]`;
    const text = `nodes: &a0 [{name: x}]\nsegments: [${[1, 2, 3].map(level).join(", ")}]\nload_balancers:\n${"  - {name: x, vips: *a3, listeners: *a3, pools: *a3}\n".repeat(40)}`;
    const result = parseTopology(text, "t.yaml");
    expect(result.ok).toBe(false);
    if (!result.ok) expect(result.errors.filter((e) => e.message === "more than 1000 aliases").length).toBe(1);
  });

  test("brackets without end are an error, not a stack overflow", () => {
    const result = parseTopology("[".repeat(100_000), "t.yaml");
    expect(result.ok).toBe(false);
    if (!result.ok) expect(result.errors.length).toBeLessThanOrEqual(20);
  });
});

describe("loadTopology", () => {
  const folder = mkdtempSync(join(tmpdir(), "topology-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const large = file("large.yaml", "");
  truncateSync(large, 4 * 1024 * 1024 + 1);

  test.each([
    [join(folder, "none.yaml"), "1:1: cannot be read: no such file"],
    [folder, "1:1: cannot be read: is a directory, not a regular file"],
    ["/dev/zero", "1:1: cannot be read: is not a regular file"],
    [large, "1:1: larger than 4 MiB"],
    [file("nul.yaml", "nodes: []\nab\0c"), "2:3: contains a NUL character"],
    [file("latin1.yaml", Buffer.from("nodes: []\n# caf\xe9\n", "latin1")), "2:6: is not valid UTF-8"],
  ])("%s", (name, message) => {
    const result = loadTopology(name);
    expect(result.ok).toBe(false);
    if (!result.ok) expect(formatErrors(result.errors)).toBe(`${name}:${message}`);
  });

  test("a byte order mark and CR LF do no harm", () => {
    expect(loadTopology(file("bom.yaml", `\ufeff${valid.replaceAll("\n", "\r\n")}`)).ok).toBe(true);
  });
});

describe("any damage", () => {
  const damage = fc.record({
    at: fc.nat(valid.length),
    remove: fc.oneof(fc.nat(3), fc.nat(200)),
    insert: fc.oneof(
      fc.string({ maxLength: 6 }),
      fc.constantFrom(
        "\t",
        ": ",
        "- ",
        "*a",
        "&a ",
        "{",
        "]",
        "\n",
        "'",
        "|",
        "<<: ",
        "!!x ",
        "? ",
        "%",
        "0",
        "-1",
        "null",
      ),
    ),
  });

  test("is either harmless or reported with a place inside the file", () => {
    fc.assert(
      fc.property(fc.array(damage, { minLength: 1, maxLength: 4 }), (edits) => {
        const text = edits.reduce((t, d) => t.slice(0, d.at) + d.insert + t.slice(d.at + d.remove), valid);
        const result = parseTopology(text, "t.yaml");
        if (result.ok) {
          const { segments, loadBalancers } = result.topology;
          const ids = segments.map((segment) => segment.id);
          expect(new Set(ids).size).toBe(ids.length);
          for (const lb of loadBalancers) {
            for (const vip of lb.vips) expect(ids).toContain(vip.segment);
            const pools = [undefined, ...lb.pools.map((pool) => pool.id)];
            for (const listener of lb.listeners) expect(pools).toContain(listener.poolId);
          }
          return;
        }
        expect(result.errors.length).toBeGreaterThan(0);
        const lines = text.split("\n");
        for (const error of result.errors) {
          expect(error.line).toBeGreaterThanOrEqual(1);
          expect(error.line).toBeLessThanOrEqual(lines.length);
          expect(error.column).toBeGreaterThanOrEqual(1);
          expect(error.column).toBeLessThanOrEqual(lines[error.line - 1]!.length + 1);
          expect(error.message).not.toBe("");
        }
      }),
      { numRuns: 400 },
    );
  });
});
