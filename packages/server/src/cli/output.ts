// What a command prints. Results go to stdout, remarks to stderr; with --json stdout is JSON and nothing else.

import type { CliIo, CliStream } from "./io.ts";
import { jsonText, oneLine, plainText } from "./plain-text.ts";

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number | null | undefined;
}

export interface Output {
  readonly json: boolean;
  /** A value for programs: one line of JSON. */
  data(value: unknown): void;
  /** A value for people: JSON over several lines. */
  value(value: unknown): void;
  line(text: string): void;
  /** A text of somebody else, such as a stack, over as many lines as it has. */
  foreign(text: string): void;
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], empty: string): void;
  /** Names and values below each other; what is null is left out. */
  fields(entries: readonly (readonly [string, unknown])[]): void;
  /** A remark on stderr. */
  note(text: string): void;
  /** A line that is overwritten again and again while a person watches; empty text removes it. */
  progress(text: string): void;
}

const BOLD = "\u001b[1m";
const PLAIN = "\u001b[0m";
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

const align = (cells: readonly string[], widths: readonly number[]): string =>
  cells
    .map((cell, index) => cell.padEnd(widths[index] ?? 0))
    .join(GAP)
    .trimEnd();

export const createOutput = (io: CliIo, json: boolean): Output => {
  const { stdout, stderr } = io;
  const bold = mayColour(stdout, io.env) ? (text: string) => `${BOLD}${text}${PLAIN}` : (text: string) => text;
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
      line(bold(align(titles, widths)));
      for (const row of cells) line(align(row, widths));
    },
    fields(entries) {
      const shown = entries.filter(([, value]) => value !== null && value !== undefined);
      const width = shown.reduce((most, [name]) => Math.max(most, name.length), 0);
      for (const [name, value] of shown) line(`${bold(name.padEnd(width))}${GAP}${cellText(value)}`);
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
