/** Accuracy over time, measured on labels of the person that are kept aside. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { drawChart, nearestPoint, type Point } from "../chart";
import type { Accuracy } from "../contract";
import { plural, pointsText } from "../words";
import { ApBar, Empty, Name } from "./controls";
import { useModel } from "./session";

export function AccuracyView() {
  const { state } = useModel();
  const [across, setAcross] = useState<"labels" | "step">("labels");
  const values = state?.accuracy ?? [];
  const last = values.at(-1);
  return (
    <section class="card filling" aria-labelledby="accuracy-title">
      <header class="card-header">
        <h2 id="accuracy-title">Accuracy</h2>
        <span class="muted">on {plural(state?.kept_aside ?? 0, "frame")} that are kept aside</span>
        <div class="filters">
          <select
            class="field"
            data-testid="accuracy-across"
            aria-label="Count time in"
            value={across}
            onChange={(event) => setAcross(event.currentTarget.value === "step" ? "step" : "labels")}
          >
            <option value="labels">by labels</option>
            <option value="step">by steps</option>
          </select>
        </div>
      </header>
      {last ? (
        <div class="scroll accuracy">
          <p class="big-number" data-testid="accuracy-now">
            <span class="numbers">{pointsText(last.ap)}</span>
            <span class="muted">AP50 now, in points of 100 {describeChange(values)}</span>
          </p>
          <LineChart values={values} across={across} />
          <ClassBars />
          <p class="card-note">
            Some of your labels are kept aside and never learnt, so that this figure is honest. With few of them it
            jumps; it becomes steady as you label more.
          </p>
        </div>
      ) : (
        <Empty icon="info" title="No measurement yet">
          Some of your labels are kept aside. As soon as there are some, accuracy is measured on them.
        </Empty>
      )}
    </section>
  );
}

function describeChange(values: readonly Accuracy[]): string {
  const first = values[0];
  const last = values.at(-1);
  if (!first || !last || first === last) return "";
  const change = last.ap - first.ap;
  return `(${change >= 0 ? "+" : "−"}${Math.abs(change).toFixed(1)} since the first measurement)`;
}

/** Room for the numbers at the axes. */
const LEFT = 38;
const BOTTOM = 40;

export function LineChart({ values, across }: { values: readonly Accuracy[]; across: "labels" | "step" }) {
  const host = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(640);
  const [near, setNear] = useState<Point | null>(null);
  useLayoutEffect(() => {
    if (!host.current) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.max(240, entry?.contentRect.width ?? 640)));
    observer.observe(host.current);
    return () => observer.disconnect();
  }, []);
  const height = 300;
  const frame = { left: LEFT, right: width - 14, top: 12, bottom: height - BOTTOM };
  const chart = drawChart(values, across, frame);
  const end = near ?? chart.points.at(-1);
  const move = (event: PointerEvent) => {
    const bounds = host.current?.getBoundingClientRect();
    if (bounds) setNear(nearestPoint(chart.points, event.clientX - bounds.left));
  };
  return (
    <div class="chart" ref={host} onPointerMove={move} onPointerLeave={() => setNear(null)}>
      <svg width={width} height={height} role="img" aria-label={describeChart(values)} data-testid="chart">
        {chart.y.map(({ at, text }) => (
          <g key={text}>
            <line class="grid" x1={frame.left} x2={frame.right} y1={at} y2={at} />
            <text class="axis" x={frame.left - 8} y={at + 4} text-anchor="end">
              {text}
            </text>
          </g>
        ))}
        {chart.x.map(({ at, text }) => (
          <text class="axis" key={text} x={at} y={frame.bottom + 18} text-anchor="middle">
            {text}
          </text>
        ))}
        <text class="axis" x={(frame.left + frame.right) / 2} y={height - 4} text-anchor="middle">
          {across === "labels" ? "labels given" : "steps"}
        </text>
        <path class="chart-area" d={chart.area} />
        <path class="chart-line" d={chart.line} />
        {end && <circle class="chart-dot" cx={end.x} cy={end.y} r={5} />}
        {near && <Reading point={near} right={frame.right} />}
      </svg>
    </div>
  );
}

function Reading({ point, right }: { point: Point; right: number }) {
  const text = `${pointsText(point.value.ap)} at ${plural(point.value.labels, "label")}, step ${point.value.step}`;
  const isAtRight = point.x > right - 180;
  return (
    <text
      class="reading"
      x={point.x + (isAtRight ? -10 : 10)}
      y={Math.max(16, point.y - 12)}
      text-anchor={isAtRight ? "end" : "start"}
    >
      {text}
    </text>
  );
}

function describeChart(values: readonly Accuracy[]): string {
  const first = values[0];
  const last = values.at(-1);
  if (!first || !last) return "No measurement";
  return `AP50 from ${pointsText(first.ap)} at ${plural(first.labels, "label")} to ${pointsText(last.ap)} at ${plural(last.labels, "label")}`;
}

function ClassBars() {
  const { state } = useModel();
  const measured = (state?.classes ?? []).filter((one) => one.ap !== null);
  if (measured.length === 0) return null;
  return (
    <ul class="class-bars" aria-label="AP50 of each class">
      {measured.map((one) => (
        <li key={one.name}>
          <Name name={one.name} />
          <ApBar name={one.name} ap={one.ap} />
          <span class="numbers">{pointsText(one.ap)}</span>
        </li>
      ))}
    </ul>
  );
}
