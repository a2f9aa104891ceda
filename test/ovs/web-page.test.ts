import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TraceView } from "../../controller/api/trace-views.ts";
import type { EventView, FlowView, HealthView } from "../../controller/api/views.ts";
import { patience } from "../../src/lab/patience.ts";
import { describeWeb, launchBrowser, type OpenPage, openPage } from "../support/browser.ts";
import { eventually, lbctl, type NodeUnderTest, startNode } from "../support/node-under-test.ts";
import { describeOvs } from "../support/ovs.ts";
import { memberRow } from "../support/pages.ts";

describeOvs("the web page of a running lab", () => {
  describeWeb("in a browser", () => {
    let node: NodeUnderTest;
    let browser: Browser;
    let open: OpenPage;
    let page: Page;
    beforeAll(async () => {
      node = await startNode("tweb");
      browser = await launchBrowser();
      open = await openPage(browser, node.daemon.web);
      page = open.page;
      await page.waitForSelector('#live[data-state="live"]');
      await page.waitForSelector(".ring");
    });
    afterAll(async () => {
      await browser?.close();
      await node?.end();
    });

    const member = async (name: string) =>
      (await node.api<readonly HealthView[]>("/v1/health")).flatMap((p) => p.members).find((m) => m.name === name);
    /** Milliseconds since 1970 at which the row of a member gets into a state. */
    const seenAt = (name: string, state: string) =>
      page.evaluate<number>(`new Promise((resolve) => {
        const row = [...document.querySelectorAll(".members tbody tr")]
          .find((tr) => tr.querySelector(".name").textContent === ${JSON.stringify(name)});
        const look = () => row.dataset.state === ${JSON.stringify(state)} && resolve(Date.now());
        new MutationObserver(look).observe(row, { attributes: true });
        look();
      })`);

    test("shows what lbctl shows: the switch, its segments, every member with a quarter of the slots", async () => {
      expect(await page.innerText("#nodes")).toContain("steady");
      const words = await page.locator(".topology text").allTextContents();
      for (const word of ["192.168.5.21", "10.20.0.100", "10.30.0.100", "cli3"]) expect(words).toContain(word);
      expect(words.filter((w) => w === "member up")).toHaveLength(4);
      expect(await page.getAttribute(".ring", "aria-label")).toBe("1024 slots: be1 256, be2 256, be3 256, be4 256");
      expect(open.faults).toEqual([]);
    });

    test("traffic of each member is drawn as it comes", async () => {
      await eventually("a plot of be1 with traffic", 30_000, async () => {
        await node.lab.curl("client", "http://192.168.5.21/", 20);
        const text = await page.locator(memberRow("be1")).locator(".traffic").innerText();
        return /^[1-9]\S* packets\/s · [1-9]\S* k?bit\/s$/m.test(text) ? true : undefined;
      });
    });

    test("a member whose service is killed is shown down within a second of the event", async () => {
      const shown = seenAt("be4", "down");
      await node.lab.backend("be4").kill();
      const at = await shown;
      const events = await node.api<readonly EventView[]>("/v1/events?follow=false&kind=health");
      const event = events.findLast((e) => e.text.startsWith("member be4 of pool web is down"));
      const late = at - Date.parse(event?.at ?? "");
      expect(late).toBeGreaterThanOrEqual(0);
      expect(late).toBeLessThan(patience(1000));
      expect(await page.locator(memberRow("be4")).innerText()).toMatch(/connection refused/);
      await page.waitForSelector('.ring[aria-label*="be4 0"]');
      await page.locator(".topology text", { hasText: "member down" }).waitFor();

      const back = seenAt("be4", "up");
      await node.lab.backend("be4").start();
      await back;
      expect(open.faults).toEqual([]);
    });

    test("Drain, confirmed, drains; Enable takes it back", async () => {
      await page.click(`${memberRow("be2")} button`);
      await page.click("#confirm-yes");
      await page.waitForSelector(`${memberRow("be2")}[data-state="draining"]`);
      expect(await member("be2")).toMatchObject({ admin: "draining", slots: 0 });
      await page.waitForSelector('.ring[aria-label*="be2 0"]');
      const served = await node.lab.curl("client", "http://192.168.5.21/", 20);
      expect(served.map((answer) => answer.backend)).not.toContain("be2");
      await page.click(`${memberRow("be2")} button`);
      await page.click("#confirm-yes");
      await page.waitForSelector(`${memberRow("be2")}[data-state="up"]`);
      expect(await member("be2")).toMatchObject({ admin: "enabled", slots: 256 });
    });

    test("the flows of the switch, searched", async () => {
      await page.click('.tabs a[href="#flows"]');
      await page.waitForSelector(".flow-rows li");
      const flows = await node.api<readonly FlowView[]>("/v1/flows");
      const wanted = flows.filter((f) => `${f.text} ${f.why}`.includes("10.20.0.100") && f.table === 10);
      await page.selectOption("#flow-table", "10");
      await page.fill("#flow-search", "10.20.0.100");
      expect(wanted.length).toBeGreaterThan(0);
      expect(await page.locator(".flow-rows li").count()).toBe(wanted.length);
      expect(await page.locator(".flow-rows .why").first().innerText()).toContain(wanted[0]?.why);
    });

    test("a trace goes through the tables that lbctl trace names", async () => {
      await page.click('.tabs a[href="#trace"]');
      await page.fill("[name=src]", "192.168.5.13");
      await page.fill("[name=dst]", "192.168.5.21");
      await page.fill("[name=dport]", "80");
      await page.click("#trace-form button[type=submit]");
      await page.waitForSelector(".steps li");
      const told = JSON.parse(await lbctl(node, "trace", "192.168.5.13", "192.168.5.21:80", "--json")) as TraceView;
      const tables = await page.locator(".steps > li .number").allInnerTexts();
      expect(tables.map(Number)).toEqual(told.passes.flatMap((p) => p.steps.map((s) => s.table)));
      expect(tables.length).toBeGreaterThan(5);
      expect(await page.innerText(".verdict")).toContain(told.outputs[0]?.port);
    });

    test("says that the connection is lost, and comes back by itself when the daemon does", async () => {
      await page.click('.tabs a[href="#overview"]');
      expect(open.faults).toEqual([]);
      await node.daemon.kill();
      await page.waitForSelector("#lost:not([hidden])");
      expect(await page.innerText("#lost")).toMatch(/^Connection lost at \d\d:\d\d:\d\d\. What is shown is from then/);
      expect(await page.innerText("#live")).toBe("connection lost");
      await node.restartController();
      await page.waitForSelector('#live[data-state="live"]', { timeout: patience(20_000) });
      await page.waitForSelector("#lost", { state: "hidden" });
      await page.locator("#nodes .chip", { hasText: "steady" }).waitFor({ timeout: patience(20_000) });
      await page.click(`${memberRow("be1")} button`);
      await page.click("#confirm-yes");
      await page.waitForSelector(`${memberRow("be1")}[data-state="draining"]`);
      expect(await member("be1")).toMatchObject({ admin: "draining" });
      // What the browser itself says of requests to nobody.
      expect(open.faults.filter((f) => !/ERR_(CONNECTION_|INCOMPLETE|EMPTY)/.test(f))).toEqual([]);
    });

    test("a daemon with tokens: its page asks for one, and a read-only one changes nothing", async () => {
      const path = join(node.lab.root, "tokens");
      const [admin, reader] = ["admin-token-0123456789", "reader-token-0123456789"];
      writeFileSync(path, `ops admin ${admin}\ndesk read-only ${reader}\n`, { mode: 0o600 });
      await node.restartController(["--tokens", path]);
      try {
        const other = await openPage(browser, node.daemon.web);
        await other.page.fill("#token", "none-of-them-0123456789");
        await other.page.keyboard.press("Enter");
        await other.page.locator("#token-problem", { hasText: "does not know this token" }).waitFor();
        await other.page.fill("#token", reader);
        await other.page.keyboard.press("Enter");
        await other.page.click(`${memberRow("be3")} button`);
        await other.page.click("#confirm-yes");
        await other.page.locator("#refused-text", { hasText: "the token of desk is read-only" }).waitFor();
        expect(other.faults.filter((f) => !/status of 40[13]/.test(f))).toEqual([]);
        const headers = { authorization: `Bearer ${reader}` };
        const pools = await (await fetch(new URL("/v1/health", node.daemon.web), { headers })).json();
        const be3 = (pools as readonly HealthView[]).flatMap((p) => p.members).find((m) => m.name === "be3");
        expect(be3?.admin).toBe("enabled");
        await other.close();
      } finally {
        rmSync(path);
      }
    });
  });
});
