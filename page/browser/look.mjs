/** Takes pictures of the page in all its states, to look at: `npm run look`, or `npm run look -- memory`. */

import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startMock } from "../mock/server.mjs";
import { startChromium } from "./chromium.mjs";

const OUT = join(dirname(fileURLToPath(import.meta.url)), "../screenshots");
const SIZES = { desk: { width: 1280, height: 800 }, tablet: { width: 820, height: 1180, hasTouch: true } };

const click = (name) => (page) => page.click(`[data-testid="${name}"]`);

const clickBoth = (first, second) => async (page) => {
  await click(first)(page);
  await click(second)(page);
};

/** Name, scenario of the mock, what to do before the picture is taken. */
const STATES = [
  ["queue", "busy", async () => {}],
  ["picked", "busy", pickBox],
  ["drawing", "busy", drawBox],
  ["placing", "busy", async (page) => page.keyboard.press("d")],
  ["zoomed", "busy", zoomIn],
  ["acknowledged", "busy", async (page) => page.keyboard.press("Enter")],
  ["crowded", "crowded", pickBox],
  ["crowded-classes", "crowded", click("tab-classes")],
  ["empty", "empty", async () => {}],
  ["fresh", "fresh", async () => {}],
  ["paused", "paused", async () => {}],
  ["lost", "lost", async () => {}],
  ["taking-back", "taking-back", async () => {}],
  ["ended", "ended", async () => {}],
  ["classes", "busy", click("tab-classes")],
  ["merge", "busy", clickBoth("tab-classes", "merge")],
  ["memory", "busy", click("tab-memory")],
  ["look", "busy", clickBoth("tab-memory", "look-1049")],
  ["accuracy", "busy", click("tab-accuracy")],
  ["messages", "busy", click("tab-messages")],
  ["export", "busy", click("export")],
  ["help", "busy", click("help")],
  ["offline", "busy", loseServer],
];

async function zoomIn(page) {
  await page.keyboard.press("+");
  await page.keyboard.press("+");
}

async function pickBox(page) {
  await page.evaluate(() => document.getElementById("surface").focus());
  await page.keyboard.press("Tab");
}

async function drawBox(page) {
  const area = await (await page.$("#surface")).boundingBox();
  await page.mouse.move(area.x + area.width * 0.62, area.y + area.height * 0.18);
  await page.mouse.down();
  await page.mouse.move(area.x + area.width * 0.82, area.y + area.height * 0.62, { steps: 5 });
}

async function loseServer(page, mock) {
  await page.keyboard.press("Enter");
  await mock.stop();
  mock.isStopped = true;
}

async function takePicture(browser, [name, scenario, act], size, scheme) {
  const mock = await startMock({ scenario });
  const page = await browser.newPage();
  await page.setViewport(SIZES[size]);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  page.on("pageerror", (error) => console.log(`${name}: ${error.message}`));
  page.on(
    "console",
    (message) => ["error", "warn"].includes(message.type()) && console.log(`${name}: ${message.text()}`),
  );
  await page.goto(mock.url);
  await page.waitForSelector(["empty", "fresh", "ended"].includes(scenario) ? ".live.large" : "#surface");
  await new Promise((resolve) => setTimeout(resolve, 700));
  await act(page, mock);
  await new Promise((resolve) => setTimeout(resolve, 500));
  await page.screenshot({ path: join(OUT, `${name}-${size}-${scheme}.png`), fullPage: size === "tablet" });
  await page.close();
  if (!mock.isStopped) await mock.stop();
}

mkdirSync(OUT, { recursive: true });
const wanted = process.argv.slice(2);
const browser = await startChromium();
for (const state of STATES) {
  if (wanted.length > 0 && !wanted.includes(state[0])) continue;
  for (const size of Object.keys(SIZES)) {
    for (const scheme of ["light", "dark"]) await takePicture(browser, state, size, scheme);
  }
}
await browser.close();
