// Judged clauses as lines for people and as counts; for `conform` and for `host check`.

import { oneLine } from "../cli/plain-text.ts";
import type { Outcome, Verdict } from "./verdict.ts";

export interface Judged<Clause> {
  readonly clause: Clause;
  readonly verdict: Verdict;
}

const WORDS: Readonly<Record<Outcome, string>> = { pass: "pass", fail: "fail", "not-applicable": "n/a" };

/** The summary of a report for programs. */
export const countVerdicts = (judged: readonly Judged<unknown>[]) => {
  const count = (outcome: Outcome): number => judged.filter(({ verdict }) => verdict.outcome === outcome).length;
  return { pass: count("pass"), fail: count("fail"), not_applicable: count("not-applicable") };
};

export const formatCounts = (judged: readonly Judged<unknown>[]): string => {
  const { pass, fail, not_applicable } = countVerdicts(judged);
  return `${pass} pass, ${fail} fail, ${not_applicable} not applicable`;
};

/** `pass  UTP-C12  Unknown payload fields are ignored  (UTP 4.3)`, and the reason unless it passed. */
export const formatVerdicts = <Clause extends { readonly id: string }>(
  judged: readonly Judged<Clause>[],
  columns: readonly ((clause: Clause) => string)[],
): readonly string[] => {
  const widths = columns.map((column) => Math.max(...judged.map(({ clause }) => column(clause).length)));
  return judged.map(({ clause, verdict: { outcome, reason } }) => {
    const cells = columns.map((column, index) => column(clause).padEnd(widths[index] ?? 0));
    const start = [WORDS[outcome].padEnd(4), clause.id, ...cells].join("  ");
    return (outcome === "pass" ? start : `${start}  ${oneLine(reason)}`).trimEnd();
  });
};
