// What a command prints. Results go to stdout, remarks to stderr; with --json stdout is JSON and nothing else.

import type { CliIo, CliStream } from "./io.ts";
import { jsonText, oneLine, plainText } from "./plain-text.ts";
import { createPaint, type Paint, type Tone } from "./tone.ts";

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number | null | undefined;
  /** The colour of the cell. */
  readonly tone?: (row: Row) => Tone | undefined;
}

/** A name, its value, and the colour of the value. */
export type Field = readonly [name: string, value: unknown, tone?: Tone | undefined];

export interface Output {
  readonly json: boolean;
  /** A value for programs: one line of JSON. */
  data(value: unknown): void;
  /** A value for people: JSON over several lines. */
  value(value: unknown): void;
  line(text: string): void;
  /** A foreign text, such as a stack, with its own line breaks. */
  foreign(text: string): void;
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], empty: string): void;
  /** Names and values below each other; what is null is left out. */
  fields(entries: readonly Field[]): void;
  /** A part of a line in colour, where colours may be shown. */
  readonly paint: Paint;
  /** A remark on stderr. */
  note(text: string): void;
  /** A line that is overwritten again and again while a person watches; empty text removes it. */
  progress(text: string): void;
}

const CLEAR_LINE = "\r\u001b[K";
/** Between columns. */
const GAP = "  ";

export const mayColour = (stream: CliStream, env: CliIo["env"]): boolean => {
  const refused = env.NO_COLOR !== undefined && env.NO_COLOR !== "";
  return stream.isTTY === true && !refused && env.TERM !== "dumb";
};

const cellText = (value: unknown): string => {
  if (value === null || value === undefined || value === "") return "-";
  return oneLine(typeof value === "string" ? value : typeof value === "object" ? jsonText(value) : String(value));
};

/** The last column has no blanks behind it. */
const padded = (cells: readonly string[], widths: readonly number[]): readonly string[] => {
  const last = cells.length - 1;
  return cells.map((cell, index) => (index === last ? cell : cell.padEnd(widths[index] ?? 0)));
};

export const createOutput = (io: CliIo, json: boolean): Output => {
  const { stdout, stderr } = io;
  const paint = createPaint(!json && mayColour(stdout, io.env));
  let showing = false;
  const clear = (): void => {
    if (showing) stderr.write(CLEAR_LINE);
    showing = false;
  };
  const line = (text: string): void => {
    clear();
    stdout.write(`${text}\n`);
  };

  return {
    json,
    paint,
    line,
    foreign(text) {
      for (const each of text.split("\n")) line(`  ${plainText(each).trimEnd()}`);
    },
    data: (value) => line(jsonText(value)),
    value: (value) => line(jsonText(value, 2)),
    table(rows, columns, empty) {
      if (rows.length === 0) {
        line(empty);
        return;
      }
      const titles = columns.map(({ title }) => title);
      const cells = rows.map((row) => columns.map(({ value }) => cellText(value(row))));
      const widths = titles.map((title, index) =>
        cells.reduce((width, row) => Math.max(width, row[index]?.length ?? 0), title.length),
      );
      line(paint("strong", padded(titles, widths).join(GAP).trimEnd()));
      for (const [at, row] of rows.entries()) {
        const shown = padded(cells[at] ?? [], widths).map((cell, index) => paint(columns[index]?.tone?.(row), cell));
        line(shown.join(GAP).trimEnd());
      }
    },
    fields(entries) {
      const shown = entries.filter(([, value]) => value !== null && value !== undefined);
      const width = shown.reduce((most, [name]) => Math.max(most, name.length), 0);
      for (const [name, value, tone] of shown)
        line(`${paint("strong", name.padEnd(width))}${GAP}${paint(tone, cellText(value))}`);
    },
    note(text) {
      clear();
      stderr.write(`${oneLine(text)}\n`);
    },
    progress(text) {
      if (stderr.isTTY !== true || io.env.TERM === "dumb") return;
      clear();
      if (text === "") return;
      stderr.write(`${CLEAR_LINE}${oneLine(text)}`);
      showing = true;
    },
  };
};
