// What a long run has to show: one line per run, counted from the tables and the journal.

import type { CrashRun, Findings, Tables } from "@toolplane/testkit";

export interface LongRun {
  readonly name: string;
  readonly kills: number;
  readonly seconds: number;
}

const countBy = <Row>(rows: readonly Row[], nameOf: (row: Row) => string): string =>
  [...Map.groupBy(rows, nameOf)]
    .map(([name, found]) => `${found.length} ${name}`)
    .sort()
    .join(", ");

const COLUMNS = [
  "run",
  "calls",
  "accepted",
  "effects",
  "kills",
  "lost",
  "doubled",
  "stuck",
  "other faults",
  "seconds",
  "ended as",
];

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |\n`;

export const printHeader = (): void => {
  process.stdout.write(`\n${row(COLUMNS)}${row(COLUMNS.map(() => "---"))}`);
};

export const printRun = (run: CrashRun, tables: Tables, findings: Findings, long: LongRun): void => {
  const lines = run.lines();
  const count = (what: string): number => lines.filter((line) => line.what === what).length;
  const others =
    findings.orphaned.length + findings.broken.length + findings.unsent.length + findings.surprising.length;
  const accepted = new Set(lines.flatMap((line) => (line.what === "accepted" ? [line.call] : [])));
  process.stdout.write(
    row([
      long.name,
      tables.calls.length,
      accepted.size,
      count("effect"),
      long.kills,
      findings.lost.length,
      findings.doubled.length,
      findings.stuck.length,
      others,
      long.seconds.toFixed(0),
      countBy(tables.calls, ({ status, error_code }) => error_code ?? status),
    ]),
  );
};
