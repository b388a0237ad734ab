/** Every view, light and dark, judged by axe: names of controls, roles, contrast. */

import axe from "axe-core";
import type { Browser } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
// @ts-expect-error The mock is plain JavaScript.
import { startMock } from "../mock/server.mjs";
// @ts-expect-error So is this.
import { startChromium } from "./chromium.mjs";

let browser: Browser;

beforeAll(async () => {
  browser = await startChromium();
});

afterAll(() => browser.close());

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const STATES = [
  ["busy", ["l", "d", "k", "m", "a", "g", "x"]],
  ["fresh", ["l", "k", "m", "a", "?"]],
  ["paused", ["Tab"]],
  ["lost", ["l"]],
] as const;

test.each(
  STATES.flatMap(([scenario, keys]) => (["light", "dark"] as const).map((scheme) => [scenario, scheme, keys] as const)),
)("everybody can use it: %s, %s", async (scenario, scheme, keys) => {
  const mock = await startMock({ scenario });
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 800 });
  await page.emulateMediaFeatures([
    { name: "prefers-color-scheme", value: scheme },
    { name: "prefers-reduced-motion", value: "reduce" },
  ]);
  await page.goto(mock.url);
  await page.waitForSelector('[data-testid="live-picture"]');
  await wait(500);
  await page.evaluate(axe.source);
  const found: string[] = [];
  for (const key of keys) {
    await page.keyboard.press(key);
    await wait(200);
    const { violations } = await page.evaluate(() => (window as unknown as { axe: typeof axe }).axe.run());
    found.push(...violations.flatMap(({ id, nodes }) => nodes.map((node) => `${key}: ${id}: ${node.html}`)));
  }
  await page.close();
  await mock.stop();

  expect(found).toEqual([]);
});
