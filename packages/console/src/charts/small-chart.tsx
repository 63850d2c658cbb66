// A small live chart. Its numbers stand beside it as text: the drawing is for the eye only.

import { type ReactNode, useEffect, useRef } from "react";
import uPlot from "uplot";

export interface Line {
  readonly label: string;
  /** A colour of the design language: the name of a custom property. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
  readonly isFilled?: boolean;
  /** Values with gaps between them are drawn as dots too. */
  readonly isSparse?: boolean;
}

interface SmallChartProps {
  readonly title: string;
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  /** What the newest value means, in words. */
  readonly now: string;
  /** Changes when the colours do. */
  readonly theme: string;
}

const HEIGHT = 56;

const colourOf = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim() || "gray";

/** A colour variable cannot be given a transparency as text, but a canvas understands color-mix. */
const faded = (colour: string): string => `color-mix(in srgb, ${colour} 18%, transparent)`;

export const SmallChart = ({ title, times, lines, now, theme }: SmallChartProps): ReactNode => {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(undefined);
  const shape = lines.map(({ label, colour }) => `${label}:${colour}`).join();

  // biome-ignore lint/correctness/useExhaustiveDependencies: made again only for other lines or colours, not for other values
  useEffect(() => {
    const place = box.current;
    if (place === null) return;
    const series = lines.map(({ label, colour, isFilled, isSparse }) => ({
      label,
      stroke: colourOf(colour),
      width: 1.5,
      points: { show: isSparse === true, size: 4, fill: colourOf(colour) },
      spanGaps: true,
      ...(isFilled === true ? { fill: faded(colourOf(colour)) } : {}),
    }));
    const made = new uPlot(
      {
        width: Math.max(place.clientWidth, 80),
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        axes: [{ show: false }, { show: false }],
        scales: { y: { range: (_plot, _low, high) => [0, Math.max(1, (high ?? 0) * 1.15)] } },
        padding: [2, 0, 0, 0],
        series: [{}, ...series],
      },
      [[], ...lines.map(() => [])],
      place,
    );
    chart.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: Math.max(place.clientWidth, 80), height: HEIGHT }));
    watch.observe(place);
    return () => {
      watch.disconnect();
      made.destroy();
      chart.current = undefined;
    };
  }, [shape, theme]);

  useEffect(() => {
    chart.current?.setData([[...times], ...lines.map(({ values }) => [...values])]);
  });

  return (
    <figure className="chart">
      <figcaption>
        <span className="chart-title">{title}</span>
        <span className="chart-now">{now}</span>
      </figcaption>
      <div ref={box} className="chart-box" aria-hidden="true" />
    </figure>
  );
};
