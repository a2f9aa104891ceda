// Pictures for the README, of a daemon that runs (`npm run lab`), with Chromium:
//   node --import tsx test/web/pictures.ts [URL] [FOLDER]
// Without arguments: http://127.0.0.1:9876/ and fixtures/screenshots. A member is killed or drained by hand before, if that
// is to be seen; traffic is drawn for as long as the page is open, a minute. Then, since a README is to load quickly:
//   pngquant 96 --ext .png --force fixtures/screenshots/*.png

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Look, launchBrowser, openPage } from "../support/browser.ts";

const [url = "http://127.0.0.1:9876/", folder = "fixtures/screenshots"] = process.argv.slice(2);
const TRAFFIC_MS = 60_000;

const browser = await launchBrowser();

/** Looks at a view for a while and takes its picture. */
async function picture(name: string, look: Look, view: string, ms: number): Promise<void> {
  const { page, close } = await openPage(browser, url, look);
  await page.waitForSelector(".ring");
  await page.click(`.tabs a[href="#${view}"]`);
  if (view === "trace") {
    await page.click("#trace-form button[type=submit]");
    await page.waitForSelector(".steps li");
  }
  await sleep(ms);
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: look.size === "desk" && view === "overview" });
  await close();
}

await Promise.all([
  picture("overview", { size: "desk", scheme: "light" }, "overview", TRAFFIC_MS),
  picture("phone", { size: "phone", scheme: "dark" }, "overview", TRAFFIC_MS),
  picture("trace", { size: "desk", scheme: "dark" }, "trace", 500),
]);
await browser.close();
