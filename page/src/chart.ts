/** The line of accuracy over time as numbers to draw. */

import type { Accuracy } from "./contract";

export type Frame = { left: number; right: number; top: number; bottom: number };
export type Point = { x: number; y: number; value: Accuracy };
export type Tick = { at: number; text: string };
export type Chart = { points: Point[]; line: string; area: string; x: Tick[]; y: Tick[] };

/** `across` says what time is counted in: labels that were given, or steps. */
export function drawChart(values: readonly Accuracy[], across: "labels" | "step", frame: Frame): Chart {
  const first = values[0]?.[across] ?? 0;
  const last = Math.max(values.at(-1)?.[across] ?? 0, first + 1);
  const toX = (value: number) => frame.left + ((value - first) / (last - first)) * (frame.right - frame.left);
  const toY = (value: number) => frame.bottom - (value / 100) * (frame.bottom - frame.top);
  const points = values.map((value) => ({ x: toX(value[across]), y: toY(value.ap), value }));
  const line = points.map(({ x, y }, index) => `${index === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  const start = points[0];
  const end = points.at(-1);
  const area = start && end ? `${line}L${end.x.toFixed(1)} ${frame.bottom}L${start.x.toFixed(1)} ${frame.bottom}Z` : "";
  return {
    points,
    line,
    area,
    x: niceTicks(first, last, 6).map((value) => ({ at: toX(value), text: String(value) })),
    y: [0, 25, 50, 75, 100].map((value) => ({ at: toY(value), text: String(value) })),
  };
}

/** Whole numbers at even, round distances. */
export function niceTicks(low: number, high: number, most: number): number[] {
  const rough = Math.max(1, (high - low) / most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough) ?? rough;
  const ticks: number[] = [];
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) ticks.push(value);
  return ticks;
}

/** The point nearest to the pointer. */
export function nearestPoint(points: readonly Point[], x: number): Point | null {
  return points.reduce<Point | null>(
    (best, point) => (best === null || Math.abs(point.x - x) < Math.abs(best.x - x) ? point : best),
    null,
  );
}
