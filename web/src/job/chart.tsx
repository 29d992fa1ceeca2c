// SPDX-License-Identifier: Apache-2.0
// Numbers that a job tells, over its steps: one series at a time.
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { Card } from "../parts/basics";
import { theme } from "../theme";
import { order, type Series, type SeriesTable } from "./series";

const HEIGHT = 190;
const FEWEST_POINTS = 2;

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function Chart({ series, version }: { series: Series; version: number }) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const look = theme.value;
  useEffect(() => {
    const place = box.current!;
    const axis: uPlot.Axis = {
      stroke: colour("--muted"),
      grid: { stroke: colour("--line"), width: 1 },
      ticks: { show: false },
      font: "12px system-ui, sans-serif",
    };
    const made = new uPlot(
      {
        width: place.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false, points: { size: 7 } },
        scales: { x: { time: false } },
        axes: [
          { ...axis, size: 30 },
          { ...axis, size: 62, values: (_, values) => values.map((value) => shortNumber(value)) },
        ],
        series: [
          {},
          {
            stroke: colour("--accent"),
            width: 2,
            fill: colour("--accent-tint"),
            points: { show: series.xs.length < 40, size: 5 },
          },
        ],
      },
      [series.xs, series.ys],
      place,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: place.clientWidth, height: HEIGHT }));
    observer.observe(place);
    return () => (observer.disconnect(), made.destroy());
  }, [series, look]);
  useEffect(() => {
    plot.current?.setData([series.xs, series.ys]);
  }, [series, version]);
  const last = series.ys.at(-1) ?? 0;
  return (
    <div
      ref={box}
      class="chart"
      role="img"
      aria-label={`${series.name}: ${series.ys.length} values, the last is ${last}`}
    />
  );
}

export function shortNumber(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e9) return `${+(value / 1e9).toPrecision(3)} G`;
  if (size >= 1e6) return `${+(value / 1e6).toPrecision(3)} M`;
  if (size >= 1e4) return `${+(value / 1e3).toPrecision(3)} k`;
  return String(+value.toPrecision(4));
}

export function Throughput({ table }: { table: SeriesTable }) {
  const version = table.version.value;
  const [chosen, setChosen] = useState("");
  const all = [...table.all.values()].filter((series) => series.xs.length >= FEWEST_POINTS).sort(order);
  if (all.length === 0) return null;
  const series = all.find((each) => each.name === chosen) ?? all[0]!;
  return (
    <Card
      title="Throughput"
      extra={
        <span class="muted">
          {shortNumber(series.ys.at(-1)!)} {series.name}, from the {series.from}
        </span>
      }
    >
      {all.length > 1 && (
        <div class="segments" role="group" aria-label="What to show">
          {all.map((each) => (
            <button key={each.name} type="button" aria-pressed={each === series} onClick={() => setChosen(each.name)}>
              {each.name}
            </button>
          ))}
        </div>
      )}
      <Chart key={series.name} series={series} version={version} />
    </Card>
  );
}
