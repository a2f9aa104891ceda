import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import axe from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { describe } from "vitest";
import { patience } from "../../src/lab/patience.ts";

/** Debian's Chromium, or undefined where there is none. */
const chromiumPath = (process.env["PATH"] ?? "")
  .split(":")
  .map((folder) => join(folder, "chromium"))
  .find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

/** Tests in a real browser: skipped where there is none, but in CI, where they then fail. */
export const describeWeb = describe.skipIf(chromiumPath === undefined && process.env["CI"] !== "true");

export const launchBrowser = (): Promise<Browser> => {
  if (chromiumPath === undefined) throw new Error("there is no program chromium in PATH");
  // Chromium's own sandbox refuses to be root's.
  const args = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
  return chromium.launch({ executablePath: chromiumPath, args, timeout: patience(60_000) });
};

const SIZES = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } } as const;
/** The four combinations the page is looked at in. */
export const LOOKS = (["desk", "phone"] as const).flatMap((size) =>
  (["light", "dark"] as const).map((scheme) => ({ size, scheme })),
);
export type Look = (typeof LOOKS)[number];

/** A page and what went wrong in it, as lines; `faults` is empty when nothing did. */
export interface OpenPage {
  readonly page: Page;
  readonly faults: string[];
  close(): Promise<void>;
}

/**
 * Opens a page in a context of its own. Written down as faults: errors and warnings of the console (violations of the
 * Content-Security-Policy are among them), exceptions, and requests to anywhere else.
 */
export async function openPage(browser: Browser, url: string, look: Look = LOOKS[0]!): Promise<OpenPage> {
  const context = await browser.newContext({
    viewport: SIZES[look.size],
    colorScheme: look.scheme,
    hasTouch: look.size === "phone",
    locale: "en-GB",
    reducedMotion: "reduce",
  });
  context.setDefaultTimeout(patience(20_000));
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`exception: ${error.message}`));
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) faults.push(`request to ${request.url()}`);
  });
  await page.goto(url);
  return { page, faults, close: () => context.close() };
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string | null;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

/** What axe-core calls serious or critical, a line for each place. */
export async function seriousFaults(page: Page): Promise<string[]> {
  // Evaluated by the debugger, which the page's policy does not bind.
  await page.evaluate(`${axe.source};0`);
  const { violations } = (await page.evaluate("axe.run()")) as AxeResult;
  return violations
    .filter((v) => v.impact === "serious" || v.impact === "critical")
    .flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.html.slice(0, 160)} ${n.failureSummary.slice(0, 200)}`));
}

/** By how many pixels the page is wider than its window; 0 when it does not scroll sideways. */
export const overhang = (page: Page): Promise<number> =>
  page.evaluate<number>("document.scrollingElement.scrollWidth - document.documentElement.clientWidth");
