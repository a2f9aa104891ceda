import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { formatGroup } from "../../openflow/text/print-group.ts";
import { compile } from "../../pipeline/compile.ts";
import type { Health } from "../../pipeline/model.ts";
import type { CompiledFlow, Program } from "../../pipeline/program.ts";
import { tables } from "../../pipeline/tables.ts";
import { flowLine, stateOf } from "../support/golden.ts";

const golden = (file: string): string => new URL(`../../fixtures/golden/${file}`, import.meta.url).pathname;

const scenarios: readonly (readonly [string, Health])[] = [
  ["lab", "up"],
  ["empty-pool", "down"],
  ["many-listeners", "up"],
  ["switch-only", "up"],
];

const programOf = (scenario: string, health: Health): Program =>
  compile(stateOf(golden(`${scenario}/topology.yaml`), health));
const lines = (flows: readonly CompiledFlow[]): string => flows.map((f) => `${flowLine(f)}\n`).join("");
const fileName = (id: number, name: string): string => `table-${String(id).padStart(2, "0")}-${name}.txt`;

describe.each(scenarios)("%s", (scenario, health) => {
  const program = programOf(scenario, health);

  test.each(tables.map((t) => [t.id, t.name] as const))("table %i, %s", async (id, name) => {
    const flows = program.flows.filter((f) => f.tableId === id);
    expect(flows.length).toBeGreaterThan(0);
    await expect(lines(flows)).toMatchFileSnapshot(golden(`${scenario}/${fileName(id, name)}`));
  });

  test("groups and meters", async () => {
    const groups = program.groups.map((g) => `${formatGroup(g.groupId, g.groupType, g.buckets)}\n`);
    const meters = program.meters.map(({ meterId, bands: [band] }) => {
      return `meter=${meterId} pktps burst stats bands=type=drop rate=${band?.rate} burst_size=${band?.burstSize}\n`;
    });
    await expect([...groups, ...meters].join("")).toMatchFileSnapshot(golden(`${scenario}/groups-and-meters.txt`));
  });
});

const ofctl = ["/usr/bin/ovs-ofctl", "/usr/local/bin/ovs-ofctl"].find((path) => existsSync(path));

/** How parse-flows writes a flow_mod that adds a flow. */
const asParsed = (f: CompiledFlow): string =>
  `OFPT_FLOW_MOD (OF1.3): ADD ${f.tableId === 0 ? "" : `table:${f.tableId} `}${flowLine(f)
    .replace(/^cookie=(0x[0-9a-f]+), table=\d+, (.*) actions=/, "$2 cookie:$1 actions=")
    .replace("priority=32768,", "")}`;

describe.skipIf(ofctl === undefined)("ovs-ofctl", () => {
  test.each(scenarios)("reads the flows of %s and understands what we mean", (scenario, health) => {
    const { flows } = programOf(scenario, health);
    const run = spawnSync(ofctl!, ["-O", "OpenFlow13", "parse-flows", "-"], { input: lines(flows), encoding: "utf8" });
    expect(run.stderr).toBe("");
    expect(run.status).toBe(0);
    const parsed = run.stdout
      .split("\n")
      .filter((line) => line.startsWith("OFPT_FLOW_MOD"))
      .map((line) => line.replace(/ \(xid=0x[0-9a-f]+\)/, ""));
    expect(parsed).toEqual(flows.map(asParsed));
  });
});
