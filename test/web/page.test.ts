import { expect, test } from "vitest";
import { parseTokens } from "../../controller/api/tokens.ts";
import { describeWeb, LOOKS, overhang, seriousFaults } from "../support/browser.ts";
import { memberRow, usePages } from "../support/pages.ts";

const VIEWS = ["overview", "flows", "trace", "events"] as const;
const ADMIN = "admin-token-0123456789";
const READER = "reader-token-0123456789";

describeWeb("the web page", () => {
  const { serve, look } = usePages();

  test.each(LOOKS)(
    "$size, $scheme: no view scrolls sideways, has a serious fault for axe, or a line in the console",
    async (how) => {
      const { url } = await serve();
      const { page, faults } = await look(url, how);
      await page.waitForSelector(".members .chip");
      for (const view of VIEWS) {
        await page.click(`.tabs a[href="#${view}"]`);
        await page.waitForSelector(`#view-${view}:not([hidden])`);
        if (view === "flows") await page.waitForSelector(".flow-rows li");
        if (view === "trace") {
          await page.click("#trace-form button[type=submit]");
          await page.waitForSelector(".steps li");
        }
        expect({ view, overhang: await overhang(page) }).toEqual({ view, overhang: 0 });
        expect(await seriousFaults(page)).toEqual([]);
      }
      await page.click('.tabs a[href="#overview"]');
      await page.click(`${memberRow("be2")} button`);
      await page.waitForSelector("#confirm[open]");
      expect(await seriousFaults(page)).toEqual([]);
      expect(faults).toEqual([]);
    },
  );

  test("segments with their addresses, ports, VIPs and members; a member's share", async () => {
    const { url } = await serve();
    const { page } = await look(url);
    const drawing = page.locator(".topology");
    await drawing.waitFor();
    const words = await drawing.locator("text").allTextContents();
    for (const word of [
      "lb1",
      "pub",
      "192.168.5.0/24",
      "192.168.5.21",
      "web tcp/80",
      "be4",
      "10.30.0.3",
      "member up",
    ]) {
      expect(words).toContain(word);
    }
    await page.waitForSelector(".ring");
    expect(await page.getAttribute(".ring", "aria-label")).toBe("64 slots: be1 16, be2 16, be3 16, be4 16");
    expect(await page.locator(memberRow("be1")).innerText()).toMatch(/25\.0 %\s+16 slots, weight 1/);
  });

  test("a member that goes down is shown at once, in the pool, the drawing, the ring, and the events", async () => {
    const { url, world, events } = await serve();
    const { page } = await look(url);
    await page.waitForSelector('#live[data-state="live"]');
    await page.waitForSelector(".ring");
    world.down.add("be3");
    const begin = performance.now();
    events.publish({ kind: "health", level: "warn", text: "member be3 is down: connection refused", data: {} });
    await page.waitForSelector('.members tr[data-state="down"]', { timeout: 1000 });
    expect(performance.now() - begin).toBeLessThan(1000);
    expect(await page.locator('.members tr[data-state="down"]').innerText()).toMatch(
      /be3[\s\S]*down[\s\S]*connection refused/,
    );
    await page.waitForSelector('.ring[aria-label*="be3 0"]');
    expect(await page.locator(".topology .is-down").count()).toBe(2);
    expect(await page.locator("#recent .event").first().innerText()).toContain("member be3 is down");
  });

  test("with the keyboard alone: Escape and Cancel change nothing, Drain does, and focus stays where it was", async () => {
    const { url, world } = await serve();
    const { page, faults } = await look(url);
    await page.waitForSelector(`${memberRow("be2")} .chip`);
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const focused = () => page.evaluate<string>("document.activeElement.getAttribute('aria-label')");
    for (let i = 0; i < 40 && (await focused()) !== "Drain be2"; i++) await press("Tab");
    expect(await focused()).toBe("Drain be2");
    await press("Enter");
    await page.waitForSelector("#confirm[open]");
    expect(await page.innerText("#confirm")).toMatch(/Drain be2\?[\s\S]*16 slots of 64 move to the other members/);
    await press("Escape");
    await page.waitForSelector("#confirm:not([open])", { state: "attached" });
    expect(await focused()).toBe("Drain be2");
    await press("Enter", "Enter");
    await page.waitForSelector("#confirm:not([open])", { state: "attached" });
    expect(world.asked).toEqual([]);
    await press("Enter", "Tab", "Enter");
    await page.waitForSelector('.members tr[data-state="draining"]');
    expect(world.asked).toEqual(["anonymous drain be2"]);
    expect(await focused()).toBe("Enable be2");
    await press("Enter", "Tab", "Enter");
    await page.waitForSelector(`${memberRow("be2")}[data-state="up"]`);
    expect(world.asked).toEqual(["anonymous drain be2", "anonymous enable be2"]);
    expect(faults).toEqual([]);
  });

  test("flows are found by their words and their purpose, by table, and by use", async () => {
    const { url } = await serve();
    const { page } = await look(url);
    await page.waitForSelector(".members .chip");
    await page.keyboard.press("/");
    await page.waitForSelector(".flow-rows li");
    expect(await page.innerText("#flow-count")).toBe("2 flows");
    await page.keyboard.type("pool WEB");
    expect(await page.innerText("#flow-count")).toBe("1 flow of 2");
    expect(await page.innerText("#flow-list")).toMatch(
      /listeners[\s\S]*nw_dst=192\.168\.5\.21[\s\S]*chooses a slot of pool web/,
    );
    expect(await page.locator("#flow-list mark").allTextContents()).toEqual(["pool", "web"]);
    await page.fill("#flow-search", "nobody");
    expect(await page.innerText("#flow-list")).toBe("No flow has all these words.");
    await page.fill("#flow-search", "");
    await page.check("#flow-hit");
    expect(await page.locator(".flow-rows li").count()).toBe(1);
  });

  test("where a token is needed: a wrong one is called so, a right one is kept, a read-only one changes nothing", async () => {
    const tokens = parseTokens(`ops admin ${ADMIN}\ndesk read-only ${READER}\n`, "tokens");
    const { url, world } = await serve({ access: { tokens: () => tokens } });
    const { page } = await look(url);
    await page.waitForSelector("#ask-token[open]");
    const give = async (token: string) => {
      await page.fill("#token", token);
      await page.keyboard.press("Enter");
    };
    await give("not-a-token-0123456789");
    await page.waitForSelector("#token-problem:not([hidden])");
    expect(await page.innerText("#token-problem")).toBe("The daemon does not know this token.");
    await give(READER);
    await page.click(`${memberRow("be1")} button`);
    await page.click("#confirm-yes");
    await page.waitForSelector("#refused:not([hidden])");
    expect(await page.innerText("#refused-text")).toBe("be1 was not drained: the token of desk is read-only");
    expect(await page.isDisabled(`${memberRow("be4")} button`)).toBe(true);
    expect(world.asked).toEqual([]);
    await page.evaluate(`sessionStorage.setItem("token", "${ADMIN}")`);
    await page.reload();
    await page.click(`${memberRow("be1")} button`);
    await page.click("#confirm-yes");
    await page.waitForSelector('.members tr[data-state="draining"]');
    expect(world.asked).toEqual(["ops drain be1"]);
  });
});
