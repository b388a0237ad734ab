/** Starts a browser that is used for nothing else and calls nobody. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import puppeteer from "puppeteer-core";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--hide-scrollbars=false",
];

/** CHROMIUM names another browser than the one that is installed. */
export async function startChromium() {
  const profile = mkdtempSync(join(tmpdir(), "leocod-page-"));
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    userDataDir: profile,
    headless: true,
    args: FLAGS,
    protocolTimeout: 120_000,
  });
  const tidyUp = () => rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  // Its last files come when it is already gone.
  browser.on("disconnected", () => setTimeout(tidyUp, 1000));
  return browser;
}
