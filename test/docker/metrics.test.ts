import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { makeMetrics } from "../../controller/metrics.ts";

const read = (path: string) => readFileSync(new URL(`../../docker/${path}`, import.meta.url), "utf8");

interface Metric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
}

/** What the registry holds, as the table writes it. Label names are on the metric objects only. */
async function registered(): Promise<readonly Metric[]> {
  const { registry } = makeMetrics();
  return (await registry.getMetricsAsJSON())
    .map(({ name, type }) => {
      const { labelNames } = registry.getSingleMetric(name) as unknown as { labelNames: readonly string[] };
      return { name, type: String(type), labels: labelNames.filter((label) => label !== "le") };
    })
    .sort(byName);
}

function documented(): readonly Metric[] {
  return Array.from(read("metrics.md").matchAll(/^\| `(\w+)` *\| (\w+) *\| ([^|]*)\|/gm), ([, name, type, labels]) => ({
    name: name ?? "",
    type: type ?? "",
    labels: (labels ?? "").split(",").map((label) => label.trim()),
  })).toSorted(byName);
}

function byName(a: Metric, b: Metric): number {
  return a.name.localeCompare(b.name);
}

/** Names that Prometheus has for a metric: a histogram is three. */
function seriesNames({ name, type }: Metric): readonly string[] {
  return type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}

const rules = (
  parse(read("alerts.yml")) as { groups: { rules: { alert: string; expr: string; annotations: object }[] }[] }
).groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(read("grafana/dashboards/openflow-lb.json")) as {
  panels: { title: string; targets: { expr: string }[]; gridPos: { x: number; w: number } }[];
  templating: { list: { query: { query: string } }[] };
};
const queries = [
  ...rules.map(({ alert, expr }) => ({ where: `alert ${alert}`, query: expr })),
  ...dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => ({ where: `panel ${title}`, query: expr })),
  ),
  ...dashboard.templating.list.map(({ query }) => ({ where: "dashboard variable", query: query.query })),
];

describe("metrics", () => {
  test("the table lists every metric with its type and labels, and no other", async () => {
    expect(documented()).toEqual(await registered());
  });

  test("alerts and dashboard ask for metrics that exist", async () => {
    const names = new Set((await registered()).flatMap(seriesNames));
    const asked = queries.flatMap(({ where, query }) =>
      Array.from(query.matchAll(/oflb_\w+/g), ([name]) => ({ where, name })),
    );
    expect(asked.length).toBeGreaterThan(20);
    expect(asked.filter(({ name }) => !names.has(name))).toEqual([]);
  });

  test("the labels that alerts and dashboard ask for exist on their metrics", async () => {
    const labels = new Map(
      (await registered()).flatMap((m) => seriesNames(m).map((name) => [name, [...m.labels, "le"]])),
    );
    const selectors = queries.flatMap(({ where, query }) =>
      Array.from(query.matchAll(/(oflb_\w+)\{([^}]*)\}/g), ([, name = "", matchers = ""]) => ({
        where,
        name,
        unknown: Array.from(matchers.matchAll(/(\w+)\s*(?:=~|!=|!~|=)/g), ([, label = ""]) => label).filter(
          (label) => !labels.get(name)?.includes(label),
        ),
      })),
    );
    expect(selectors.length).toBeGreaterThan(10);
    expect(selectors.filter(({ unknown }) => unknown.length > 0)).toEqual([]);
  });

  test("every metric is on the dashboard", async () => {
    const shown = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join("\n");
    const missing = (await registered()).filter((m) => !seriesNames(m).some((name) => shown.includes(name)));
    expect(missing).toEqual([]);
  });

  test("next hops are counted by state at each scrape, also those there are none of", async () => {
    const { registry, neighbourStates } = makeMetrics();
    const states: ("reachable" | "failed")[] = ["reachable", "failed", "reachable"];
    neighbourStates.set("lb1", () => states);
    const scrape = () => registry.getSingleMetricAsString("oflb_neighbours");
    expect(await scrape()).toContain('oflb_neighbours{node="lb1",state="reachable"} 2');
    states.pop();
    expect(await scrape()).toContain('oflb_neighbours{node="lb1",state="reachable"} 1');
    expect(await scrape()).toContain('oflb_neighbours{node="lb1",state="stale"} 0');
    neighbourStates.delete("lb1");
    expect(await scrape()).not.toContain("lb1");
  });
});
