// What a run of the chaos has to show, one line each.

import type { ChaosReport } from "../scenarios/chaos/chaos.ts";

const COLUMNS = [
  "run",
  "calls",
  "turns",
  "effects",
  "kills",
  "lost",
  "doubled",
  "stuck",
  "other faults",
  "commands left on NATS",
  "fell by itself",
  "not quiet in time",
  "ended badly",
  "seconds",
  "ended as",
];

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |\n`;
const sum = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((a, b) => a + b, 0);
const list = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");

/** Processes that did not end with 0 when they were told to stop; `killed` when the supervisor's patience ended. */
const listBadExits = ({ exits }: ChaosReport): string => {
  const bad = Object.entries(exits).filter(([, code]) => code !== 0);
  return bad.length === 0 ? "none" : bad.map(([name, code]) => `${name}: ${code ?? "killed"}`).join(", ");
};

export const printChaosHeader = (): void => {
  process.stdout.write(`\n${row(COLUMNS)}${row(COLUMNS.map(() => "---"))}`);
};

export const printChaos = (name: string, report: ChaosReport): void => {
  const { findings, kills } = report;
  const others =
    findings.orphaned.length + findings.broken.length + findings.unsent.length + findings.surprising.length;
  process.stdout.write(
    row([
      name,
      report.calls,
      report.turns,
      report.effects,
      `${sum(kills)} (${list(kills)})`,
      findings.lost.length,
      findings.doubled.length,
      findings.stuck.length,
      others,
      report.commandsLeft,
      sum(report.falls),
      sum({ ...report.left }),
      listBadExits(report),
      report.seconds.stopped.toFixed(0),
      list(report.ended),
    ]),
  );
};
