/** The built page in a real browser, against the mock, under the strict rules of the real server. */

import type { Browser, Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
// @ts-expect-error The mock is plain JavaScript.
import { startMock } from "../mock/server.mjs";
// @ts-expect-error So is this.
import { startChromium } from "./chromium.mjs";

type Command = { type: string; id: number; frame: number; key: string; label?: number; complete: boolean } & {
  objects: { box: number[]; name: string }[];
};

type Mock = {
  url: string;
  isMute: boolean;
  wantsToken: boolean;
  run: { commands: Command[]; requests: { frame: number }[]; changed: boolean; answer(command: object): object };
  dropConnections(): void;
  tell(): void;
  stop(): Promise<void>;
};

let browser: Browser;
let mock: Mock;
let page: Page;
let complaints: string[];
let requests: string[];

beforeAll(async () => {
  browser = await startChromium();
});

afterAll(() => browser.close());

beforeEach(async () => {
  mock = await startMock();
  complaints = [];
  requests = [];
  page = await openPage();
});

afterEach(async () => {
  for (const one of await browser.pages()) if (one.url() !== "about:blank") await one.close();
  await mock.stop();
});

async function openPage(): Promise<Page> {
  const opened = await browser.newPage();
  await opened.setViewport({ width: 1280, height: 800 });
  opened.on("pageerror", (error) => complaints.push(String(error)));
  opened.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  opened.on("request", (request) => requests.push(request.url()));
  await opened.goto(mock.url);
  await opened.waitForSelector("#surface");
  return opened;
}

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const text = (id: string, where = page) =>
  where.$eval(`[data-testid="${id}"]`, (element) => element.textContent).catch(() => null);

const frameNow = async (where = page) => Number((await text("frame-title", where))?.replace("Frame ", ""));

async function until(check: () => Promise<unknown> | unknown, what: string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if (await check()) return;
    await wait(100);
  }
  throw new Error(`It never came true that ${what}.`);
}

const boxNames = () =>
  page.$$eval('[data-testid="box"]', (boxes) => boxes.map((box) => (box as HTMLElement).dataset.name ?? ""));

const labels = () => mock.run.commands.filter(({ type }) => type === "label");

/** Drags on the picture; shares of its width and height. */
async function drag(from: [number, number], to: [number, number]): Promise<void> {
  const area = await page.$eval("#surface", (surface) => {
    const { x, y, width, height } = surface.getBoundingClientRect();
    return { x, y, width, height };
  });
  await page.mouse.move(area.x + from[0] * area.width, area.y + from[1] * area.height);
  await page.mouse.down();
  await page.mouse.move(area.x + to[0] * area.width, area.y + to[1] * area.height, { steps: 6 });
  await page.mouse.up();
}

test("the page obeys the strict rules and asks nobody but its own server", async () => {
  await drag([0.6, 0.1], [0.8, 0.3]);
  for (const key of ["Escape", "k", "m", "a", "g", "l"] as const) {
    await page.keyboard.press(key);
    await wait(150);
  }

  expect(complaints).toEqual([]);
  expect(requests.filter((url) => !url.startsWith(mock.url) && !url.startsWith("blob:"))).toEqual([]);
});

test("a label is accepted with one key, acknowledged, and the next frame comes", async () => {
  const frame = await frameNow();

  await page.keyboard.press("Enter");

  await until(async () => (await frameNow()) !== frame, "the next frame comes");
  await until(async () => (await text("notices"))?.includes("Label 25 is taken"), "the label is acknowledged");
  expect(labels()[0]).toMatchObject({ frame, complete: true });
  expect(await text("label-25")).toContain("taken");
});

test("a box is drawn with the mouse, named with a new name, and sent in pixels of the frame", async () => {
  await drag([0.6, 0.1], [0.8, 0.3]);
  await until(async () => (await boxNames()).includes(""), "the box is there");

  await page.keyboard.press("e");
  await page.keyboard.type("spoon");
  await page.keyboard.press("Enter");
  await until(async () => (await boxNames()).includes("spoon"), "the box has its name");
  await page.keyboard.press("Enter");
  await until(() => labels().length === 1, "the label arrives");

  const [x1, y1, x2, y2] = labels()[0]?.objects.find(({ name }) => name === "spoon")?.box ?? [];
  expect(x1).toBeCloseTo(0.6 * 768, -1);
  expect(y1).toBeCloseTo(0.1 * 480, -1);
  expect(x2).toBeCloseTo(0.8 * 768, -1);
  expect(y2).toBeCloseTo(0.3 * 480, -1);
});

test("a drag that leaves the picture ends at its edge, drawn also while another box is picked", async () => {
  await page.keyboard.press("Tab");
  await drag([0.7, 0.6], [1.4, 1.3]);
  await until(async () => (await boxNames()).includes(""), "the box is there");
  await page.keyboard.press("Enter");
  expect(await text("hint")).toContain("no name yet");
  await page.keyboard.press("1");
  await page.keyboard.press("Enter");
  await until(() => labels().length === 1, "the label arrives");

  const drawn = labels()[0]?.objects.at(-1);
  expect(drawn?.name).toBe("mug");
  expect(drawn?.box.slice(2)).toEqual([768, 480]);
});

test("a box is drawn with a finger", async () => {
  await page.setViewport({ width: 820, height: 1180, hasTouch: true });
  await page.reload();
  await page.waitForSelector("#surface");
  const area = await page.$eval("#surface", (surface) => surface.getBoundingClientRect().toJSON());
  await page.touchscreen.touchStart(area.x + 0.6 * area.width, area.y + 0.1 * area.height);
  await page.touchscreen.touchMove(area.x + 0.7 * area.width, area.y + 0.2 * area.height);
  await page.touchscreen.touchMove(area.x + 0.8 * area.width, area.y + 0.3 * area.height);
  await page.touchscreen.touchEnd();

  await until(async () => (await boxNames()).includes(""), "the box is there");
});

test("a picked box is moved and resized with the mouse, and cannot be turned", async () => {
  const before = await page.$eval('[data-testid="box"]', (box) => box.getBoundingClientRect().toJSON());
  await page.mouse.click(before.x + before.width / 2, before.y + before.height / 2);
  await page.waitForSelector(".a9s-annotation.selected");
  const turning = await page.$$eval(".a9s-rotation-handle-group", (groups) =>
    groups.filter((group) => getComputedStyle(group).display !== "none"),
  );
  await page.mouse.move(before.x + before.width / 2, before.y + before.height / 2);
  await page.mouse.down();
  await page.mouse.move(before.x + before.width / 2 + 40, before.y + before.height / 2 - 30, { steps: 4 });
  await page.mouse.up();
  await wait(200);
  const moved = await page.$eval('[data-testid="box"]', (box) => box.getBoundingClientRect().toJSON());
  await page.mouse.move(moved.right, moved.bottom);
  await page.mouse.down();
  await page.mouse.move(moved.right + 20, moved.bottom + 10, { steps: 4 });
  await page.mouse.up();
  await wait(200);
  const resized = await page.$eval('[data-testid="box"]', (box) => box.getBoundingClientRect().toJSON());

  expect(turning).toEqual([]);
  expect(moved.x - before.x).toBeCloseTo(40, 0);
  expect(moved.y - before.y).toBeCloseTo(-30, 0);
  expect(resized.width - moved.width).toBeCloseTo(20, 0);
  expect(resized.height - moved.height).toBeCloseTo(10, 0);
  await page.keyboard.down("Control");
  await page.keyboard.press("z");
  await page.keyboard.up("Control");
  await wait(200);
  const back = await page.$eval('[data-testid="box"]', (box) => box.getBoundingClientRect().toJSON());
  expect(back.x).toBeCloseTo(before.x, 0);
});

test("everything goes by keyboard alone: draw, move, resize, name, remove, nothing here, skip, undo, pause", async () => {
  const count = (await boxNames()).length;
  await page.keyboard.press("d");
  for (let times = 0; times < 5; times++) await page.keyboard.press("ArrowRight");
  await page.keyboard.down("Shift");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.up("Shift");
  await page.keyboard.press("2");
  await page.keyboard.press("Enter");
  expect((await boxNames()).at(-1)).toBe("bottle");
  expect(labels()).toEqual([]);
  await page.keyboard.press("Delete");
  await until(async () => (await boxNames()).length === count, "the box is gone");

  const frame = await frameNow();
  await page.keyboard.press("n");
  await until(async () => (await frameNow()) !== frame, "the next frame comes");
  await page.keyboard.press("s");
  await until(() => mock.run.commands.at(-1)?.type === "skip", "the frame is skipped");
  await until(() => text("label-25"), "the label is listed");
  await page.keyboard.press("u");
  await until(() => mock.run.commands.at(-1)?.type === "undo", "the label is taken back");
  await page.keyboard.press("p");
  await until(async () => (await text("banner"))?.includes("paused"), "learning is paused");

  expect(labels()[0]).toMatchObject({ objects: [], complete: true });
  expect(mock.run.commands.find(({ type }) => type === "undo")).toMatchObject({ label: 25 });
});

test("Tab leads through the boxes and then out of the picture", async () => {
  const stops: (string | null)[] = [];
  for (let times = 0; times < 4; times++) {
    await page.keyboard.press("Tab");
    stops.push(await page.evaluate(() => document.activeElement?.id ?? document.activeElement?.tagName ?? null));
  }

  expect(stops.slice(0, 2)).toEqual(["surface", "surface"]);
  expect(stops[3]).not.toBe("surface");
});

test("a label whose answer was lost is sent again with the same key, and taken once", async () => {
  mock.isMute = true;
  await page.keyboard.press("Enter");
  await until(() => labels().length === 1, "the label arrives");
  expect(await text("label-sending")).toContain("sending");

  mock.isMute = false;
  mock.dropConnections();

  await until(() => labels().length === 2, "the label arrives again");
  await until(async () => (await text("notices"))?.includes("Label 25 is taken"), "it is acknowledged");
  expect(labels()[1]).toEqual(labels()[0]);
});

test("a draft survives a reload", async () => {
  await drag([0.6, 0.1], [0.8, 0.3]);
  await page.keyboard.press("e");
  await page.keyboard.type("spoon");
  await page.keyboard.press("Enter");
  await until(async () => (await boxNames()).includes("spoon"), "the box has its name");
  const frame = await frameNow();

  await page.reload();
  await page.waitForSelector('[data-testid="box"]');

  expect(await frameNow()).toBe(frame);
  expect(await boxNames()).toContain("spoon");
});

test("a frame that is labelled in one window goes away in the other, which says so if it had a draft", async () => {
  const other = await openPage();
  const frame = await frameNow(other);
  await page.bringToFront();
  await page.keyboard.press("Delete");
  await page.keyboard.press("c");

  await other.bringToFront();
  await other.keyboard.press("Enter");

  await until(async () => (await frameNow()) !== frame, "the frame goes away");
  await until(async () => (await text("notices"))?.includes("another window"), "the page says why");
});

test("a refused label comes back with the server's sentence", async () => {
  const frame = await frameNow();
  await page.keyboard.press("Tab");
  await page.keyboard.press("e");
  await page.keyboard.type("refuse me");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");

  await until(async () => (await text("notice-error"))?.includes("is refused"), "the refusal is shown");
  expect(await frameNow()).toBe(frame);
});

test("the live picture goes on", async () => {
  const picture = () =>
    page.$eval('[data-testid="live-picture"]', (one) => Number((one as HTMLElement).dataset.picture));
  await until(async () => (await picture()) > 2, "the third picture is shown");
  const seen = await picture();

  await until(async () => (await picture()) > seen + 2, "more pictures come");
  expect(await text("live-objects")).toContain("mug");
});

test("classes are renamed and merged, frames pinned and deleted, the detector exported", async () => {
  const click = (id: string) => page.click(`[data-testid="${id}"]`);
  await click("tab-classes");
  await click("rename");
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  await page.type('[data-testid="rename-to"]', "beaker");
  await click("confirm");
  await until(async () => (await text("classes"))?.includes("beaker"), "the class has its new name");
  await click("merge");
  await click("confirm");
  await until(() => mock.run.commands.at(-1)?.type === "merge", "the classes are merged");
  await click("tab-memory");
  await click("pin-1049");
  await until(() => mock.run.commands.at(-1)?.type === "pin", "the frame is pinned");
  await click("forget-1049");
  await click("confirm");
  await until(async () => (await page.$('[data-testid="memory-1049"]')) === null, "the frame is gone");
  await until(
    async () => (await text("notices"))?.includes("next checkpoint"),
    "the page says when it leaves the disk",
  );
  await click("export");
  await click("export-onnx");
  await until(async () => (await text("exports"))?.includes(".onnx"), "the file is there");
  await page.keyboard.press("Escape");
  await until(async () => (await page.$("dialog")) === null, "the dialog is closed");
  expect(await page.evaluate(() => (document.activeElement as HTMLElement).dataset.testid)).toBe("export");
});

test("without its token the page says what to do", async () => {
  mock.wantsToken = true;
  mock.dropConnections();

  await until(async () => (await text("banner"))?.includes("needs its token"), "the page asks for the token");
});

test.each([
  ["desk", 1280, 800],
  ["tablet", 820, 1180],
  ["tablet on its side", 1180, 820],
])("nothing is cut off or scrolls sideways: %s", async (_name, width, height) => {
  await page.setViewport({ width, height });
  for (const key of ["l", "k", "m", "a", "g"] as const) {
    await page.keyboard.press(key);
    await wait(200);
    const overflow = await page.evaluate(() => ({
      right: document.documentElement.scrollWidth - window.innerWidth,
      below: document.documentElement.scrollHeight - window.innerHeight,
      outside: [...document.querySelectorAll("button, input, select")]
        .filter((one) => one.checkVisibility() && !one.closest(".chips, .queue-list, .scroll, .label-list"))
        .filter((one) => {
          const { left, right, top, bottom } = one.getBoundingClientRect();
          return left < 0 || top < 0 || right > window.innerWidth || bottom > window.innerHeight;
        })
        .map((one) => one.outerHTML),
    }));
    const overlaps = await page.evaluate(() => {
      const cards = [...document.querySelectorAll(".top-bar, .counters, .card")];
      const areas = cards.map((card) => ({ name: card.className, ...card.getBoundingClientRect().toJSON() }));
      return areas.flatMap((one, place) =>
        areas
          .slice(place + 1)
          .filter((other) => one.left < other.right && other.left < one.right)
          .filter((other) => one.top < other.bottom && other.top < one.bottom)
          .map((other) => `${one.name} / ${other.name}`),
      );
    });
    expect(overflow).toEqual({ right: 0, below: 0, outside: [] });
    expect(overlaps).toEqual([]);
  }
});

test("the very first box of a run is drawn, named and sent without the mouse leaving the picture", async () => {
  await mock.stop();
  mock = await startMock({ scenario: "first" });
  await page.goto(mock.url);
  await page.waitForSelector("#surface");
  await drag([0.3, 0.3], [0.5, 0.6]);
  await until(async () => (await boxNames()).includes(""), "the box is there");

  await page.keyboard.type("Becher ☕");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");

  await until(() => labels().length === 1, "the label arrives");
  expect(labels()[0]?.objects.map(({ name }) => name)).toEqual(["Becher ☕"]);
});
