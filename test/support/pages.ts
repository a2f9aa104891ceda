import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll } from "vitest";
import { type Look, launchBrowser, openPage } from "./browser.ts";
import { webApp } from "./web-app.ts";

/** A browser for the tests of a group, and made-up daemons on ports of loopback; all of it ends with the tests. */
export function usePages() {
  let browser: Browser | undefined;
  const ends: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  afterAll(() => browser?.close());
  return {
    serve: async (options: Parameters<typeof webApp>[0] = {}) => {
      const { app, world, events } = webApp(options);
      const url = `${await app.listen({ host: "127.0.0.1", port: 0 })}/`;
      ends.push(() => app.close());
      return { app, world, events, url };
    },
    look: async (url: string, how?: Look) => {
      const open = await openPage(browser!, url, how);
      ends.push(open.close);
      return open;
    },
  };
}

/** The row of a member. */
export const memberRow = (name: string): string => `.members tr:has-text("${name}")`;
