import { expect, test } from "vitest";
import { LONGEST_THOUGHT, Stopwatch } from "../src/stopwatch";

function makeStopwatch() {
  const world = { now: 0, visible: true };
  const stopwatch = new Stopwatch(
    () => world.now,
    () => world.visible,
  );
  return { world, stopwatch };
}

test("time is counted for the frame that is looked at", () => {
  const { world, stopwatch } = makeStopwatch();

  stopwatch.watch(1);
  world.now = 2000;
  stopwatch.watch(2);
  world.now = 5000;
  stopwatch.watch(1);
  world.now = 6000;

  expect(stopwatch.take(1)).toBe(3);
  expect(stopwatch.take(2)).toBe(3);
  expect(stopwatch.take(2)).toBe(0);
});

test("who touches nothing for long is not there", () => {
  const { world, stopwatch } = makeStopwatch();

  stopwatch.watch(1);
  world.now = 10 * LONGEST_THOUGHT;
  stopwatch.touch();
  world.now += 1000;

  expect(stopwatch.take(1)).toBe(LONGEST_THOUGHT / 1000 + 1);
});

test("a hidden page costs nobody time", () => {
  const { world, stopwatch } = makeStopwatch();

  stopwatch.watch(1);
  world.visible = false;
  world.now = 5000;
  stopwatch.touch();
  world.visible = true;
  world.now = 6000;

  expect(stopwatch.take(1)).toBe(1);
});
