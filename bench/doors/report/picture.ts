// The report as a picture: one panel per level, one bar per contestant, ours in a colour of their own.

import type { BenchRun } from "../run-bench.ts";
import { figuresAt } from "./summary.ts";

const WIDTH = 920;
const LABELS = 260;
const BAR = 16;
const STEP = 22;
const TITLE = 34;
const COLOURS = { ours: "#1f6feb", baseline: "#9ec1f7", peer: "#8b949e" } as const;

const escapeText = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const renderPanel = (run: BenchRun, level: number, top: number): string => {
  const bars = run.measured
    .filter(({ contestant }) => contestant.shape !== "turn")
    .flatMap((one) => {
      const figures = figuresAt(one, level);
      return figures === undefined ? [] : [{ ...one.contestant, rate: figures.perSecond }];
    })
    .sort((a, b) => b.rate - a.rate);
  const most = Math.max(1, ...bars.map(({ rate }) => rate));
  const room = WIDTH - LABELS - 90;
  const lines = bars.map(({ name, kind, mayLose, rate }, index) => {
    const y = top + TITLE + index * STEP;
    const width = Math.max(1, (rate / most) * room);
    const label = escapeText(mayLose === undefined ? name : `${name} *`);
    return [
      `<text x="${LABELS - 8}" y="${y + 12}" text-anchor="end">${label}</text>`,
      `<rect x="${LABELS}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" fill="${COLOURS[kind]}"/>`,
      `<text x="${(LABELS + width + 6).toFixed(1)}" y="${y + 12}">${rate.toFixed(0)}</text>`,
    ].join("");
  });
  return `<text x="8" y="${top + 22}" font-weight="bold">${level} in flight, calls per second</text>${lines.join("")}`;
};

export const renderPicture = (run: BenchRun): string => {
  const { levels } = run.options;
  const panel = TITLE + STEP * run.measured.filter(({ contestant }) => contestant.shape !== "turn").length + 14;
  const height = panel * levels.length + 30;
  const note = "blue: Toolplane, grey: others. * a power cut may take what was acknowledged";
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13">`,
    "<title>Calls per second of every contestant, by calls in flight</title>",
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    ...levels.map((level, index) => renderPanel(run, level, index * panel)),
    `<text x="8" y="${height - 10}" fill="#57606a">${note}</text>`,
    "</svg>\n",
  ].join("\n");
};
