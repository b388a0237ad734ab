import { expect, test } from "vitest";
import { drawChart, nearestPoint, niceTicks } from "../src/chart";

const FRAME = { left: 0, right: 100, top: 0, bottom: 100 };
const VALUES = [
  { step: 10, labels: 2, ap: 0 },
  { step: 20, labels: 4, ap: 50 },
  { step: 50, labels: 6, ap: 100 },
];

test("time goes to the right, accuracy up", () => {
  const { points, line } = drawChart(VALUES, "labels", FRAME);

  expect(points.map(({ x, y }) => [x, y])).toEqual([
    [0, 100],
    [50, 50],
    [100, 0],
  ]);
  expect(line).toBe("M0.0 100.0L50.0 50.0L100.0 0.0");
});

test("time may be counted in steps", () => {
  expect(drawChart(VALUES, "step", FRAME).points.map(({ x }) => x)).toEqual([0, 25, 100]);
});

test("one measurement, or none, is drawn without trouble", () => {
  expect(drawChart(VALUES.slice(0, 1), "labels", FRAME).line).toBe("M0.0 100.0");
  expect(drawChart([], "labels", FRAME)).toMatchObject({ points: [], line: "", area: "" });
});

test("ticks are round numbers", () => {
  expect(niceTicks(2, 23, 6)).toEqual([5, 10, 15, 20]);
  expect(niceTicks(0, 1, 6)).toEqual([0, 1]);
  expect(niceTicks(0, 1200, 6)).toEqual([0, 200, 400, 600, 800, 1000, 1200]);
});

test("the pointer finds the nearest measurement", () => {
  const { points } = drawChart(VALUES, "labels", FRAME);

  expect(nearestPoint(points, 60)?.value.step).toBe(20);
  expect(nearestPoint([], 60)).toBeNull();
});
