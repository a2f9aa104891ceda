import { expect, test } from "vitest";
import type { ApiSource } from "../../controller/api/server.ts";
import { patience } from "../../src/lab/patience.ts";
import { describeWeb, LOOKS, overhang, seriousFaults } from "../support/browser.ts";
import { usePages } from "../support/pages.ts";

const HOSTILE = `<img src=x onerror="window.cracked=1">`;
const LONG = "a-pool-whose-name-has-no-end-".repeat(8);

/** 64 members in one pool, 500 flows. */
function crowded(source: ApiSource): Partial<ApiSource> {
  const numbers = Array.from({ length: 64 }, (_, i) => i + 1);
  const nameOf = (i: number) => `web-server-${i}`;
  const uuidOf = (i: number) => `00000000-0000-4000-8000-${String(i).padStart(12, "0")}`;
  return {
    health: () =>
      source.health(undefined).map((pool) => ({
        ...pool,
        slots: 1024,
        members: numbers.map((i) => ({
          ...pool.members[0]!,
          id: i,
          uuid: uuidOf(i),
          name: nameOf(i),
          address: `10.20.0.${i + 1}:8080`,
          slots: 16,
        })),
      })),
    slots: async () =>
      (await source.slots(undefined)).map((pool) => ({
        ...pool,
        slots: 1024,
        layout: Array.from({ length: 1024 }, (_, slot) => ((slot * 37) % 64) + 1),
        members: numbers.map((i) => ({ ...pool.members[0]!, id: i, name: nameOf(i), slots: 16, share: 16 / 1024 })),
      })),
    flows: async () => {
      const [flow] = await source.flows(undefined);
      return Array.from({ length: 500 }, (_, i) => ({
        ...flow!,
        table: 11,
        tableName: "slots",
        text: `table=11, priority=100,reg1=${i},reg3=0x1 actions=load:0x1->NXM_NX_REG2[],goto_table:12`,
        why: `Slot ${i} of pool web is with member ${nameOf((i % 64) + 1)}.`,
      }));
    },
  };
}

describeWeb("the web page, where there is too much or nothing", () => {
  const { serve, look } = usePages();

  test.each([HOSTILE, LONG, "Łódź 負荷分散 🦊 \u202eright to left"])(
    "names such as %j are shown as they are",
    async (name) => {
      const { url, events } = await serve({
        instead: (source) => ({
          health: () =>
            source.health(undefined).map((p) => ({
              ...p,
              pool: name,
              loadBalancer: name,
              members: p.members.map((m) => ({
                ...m,
                name,
                nodes: m.nodes.map((n) => ({ ...n, reason: name })),
              })),
            })),
          segments: () =>
            source.segments().map((s) => ({ ...s, vips: s.vips.map((v) => ({ ...v, loadBalancer: name })) })),
          ports: () => source.ports().map((p) => ({ ...p, name: p.ofport === 3 ? name : p.name })),
        }),
      });
      events.publish({ kind: "health", level: "warn", text: name, data: {} });
      for (const how of [LOOKS[0]!, LOOKS[2]!]) {
        const { page, faults } = await look(url, how);
        await page.waitForSelector(".members .chip");
        expect(await page.locator(".pool h2").textContent()).toBe(`Pool ${name}`);
        expect(await page.locator(".members .name").first().textContent()).toBe(name);
        await page.locator("#recent .event").first().waitFor();
        expect(await page.locator("#recent .what").first().textContent()).toBe(name);
        await page.locator(".members button").first().click();
        expect(await page.innerText("#confirm-title")).toContain(name.slice(0, 10));
        expect(await overhang(page)).toBe(0);
        expect(await page.evaluate("window.cracked")).toBeUndefined();
        expect(faults).toEqual([]);
      }
    },
  );

  test("nothing there yet: no load balancer, no switch", async () => {
    const { url } = await serve({
      instead: (source) => ({
        health: () => [],
        slots: async () => [],
        flows: async () => [],
        neighbours: () => [],
        ports: () => [],
        segments: () => source.segments().map((s) => ({ ...s, vips: [] })),
        status: () => ({
          ...source.status(),
          nodes: source.status().nodes.map((n) => ({
            ...n,
            state: "disconnected",
            peer: null,
            datapathId: null,
            secondsSinceCheck: null,
          })),
        }),
      }),
    });
    for (const how of LOOKS) {
      const { page, faults } = await look(url, how);
      await page.waitForSelector("#pools .empty");
      expect(await page.innerText("#pools")).toContain("There are no pools yet.");
      expect(await page.innerText("#nodes")).toMatch(/disconnected[\s\S]*none yet[\s\S]*away[\s\S]*never/);
      expect(await overhang(page)).toBe(0);
      expect(await seriousFaults(page)).toEqual([]);
      await page.click('.tabs a[href="#flows"]');
      await page.waitForSelector("#flow-list .empty");
      expect(faults).toEqual([]);
    }
  });

  test("64 members and 500 flows: shown within 2 s, a search within 0.5 s", async () => {
    const { url } = await serve({ instead: crowded });
    const { page, faults } = await look(url, LOOKS[2]);
    await page.waitForSelector(".members .chip");
    expect(await page.locator(".members tbody tr").count()).toBe(64);
    expect(await overhang(page)).toBe(0);
    expect(await seriousFaults(page)).toEqual([]);
    const begin = performance.now();
    await page.click('.tabs a[href="#flows"]');
    await page.waitForSelector(".flow-rows li");
    const shown = performance.now();
    expect(await page.innerText("#flow-count")).toBe("500 flows");
    expect(await page.locator(".flow-rows li").count()).toBe(60);
    await page.click("#flow-list .more");
    expect(await page.locator(".flow-rows li").count()).toBe(500);
    const searched = performance.now();
    await page.fill("#flow-search", "slot 499");
    await page.waitForSelector(".flow-rows li:only-child");
    expect(shown - begin).toBeLessThan(patience(2000));
    expect(performance.now() - searched).toBeLessThan(patience(500));
    expect(faults).toEqual([]);
  });
});
