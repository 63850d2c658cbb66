// The verdicts as people and programs read them.

import { oneLine } from "../cli/plain-text.ts";
import type { Evidence } from "./evidence.ts";
import type { JudgedClause } from "./judges/index.ts";
import type { Outcome } from "./verdict.ts";

const WORDS: Readonly<Record<Outcome, string>> = { pass: "pass", fail: "fail", "not-applicable": "n/a" };

export const countOutcomes = (judged: readonly JudgedClause[]): Readonly<Record<Outcome, number>> => {
  const count = (outcome: Outcome): number => judged.filter(({ verdict }) => verdict.outcome === outcome).length;
  return { pass: count("pass"), fail: count("fail"), "not-applicable": count("not-applicable") };
};

/** `pass  UTP-C07  Inline args, arguments and result are refused  (UTP 4.1)`, and the reason unless it passed. */
export const formatClauses = (judged: readonly JudgedClause[]): readonly string[] => {
  const widest = (text: (item: JudgedClause) => string): number => Math.max(...judged.map((item) => text(item).length));
  const titles = widest(({ clause }) => clause.title);
  const sections = widest(({ clause }) => clause.section) + 2;
  return judged.map(({ clause, verdict }) => {
    const start = `${WORDS[verdict.outcome].padEnd(4)}  ${clause.id}  ${clause.title.padEnd(titles)}  ${`(${clause.section})`.padEnd(sections)}`;
    return (verdict.outcome === "pass" ? start : `${start}  ${oneLine(verdict.reason)}`).trimEnd();
  });
};

export const formatSummary = (judged: readonly JudgedClause[], { target, toolName }: Evidence): string => {
  const counts = countOutcomes(judged);
  const numbers = `${counts.pass} pass, ${counts.fail} fail, ${counts["not-applicable"]} not applicable`;
  return `${target}/${toolName}: ${numbers}`;
};

/** The two steps are those of the protocol: a card, then a report. */
const stepsOf = ({ calls }: Evidence): "one" | "two" =>
  calls.some(({ trace }) => trace.offers.some(({ form }) => form === "report")) ? "two" : "one";

export const reportBody = (judged: readonly JudgedClause[], evidence: Evidence) => {
  const counts = countOutcomes(judged);
  return {
    target: evidence.target,
    tool_name: evidence.toolName,
    transport: evidence.transport,
    steps: stepsOf(evidence),
    clauses: judged.map(({ clause, verdict }) => ({
      id: clause.id,
      title: clause.title,
      section: clause.section,
      verdict: verdict.outcome,
      reason: verdict.reason,
    })),
    summary: { pass: counts.pass, fail: counts.fail, not_applicable: counts["not-applicable"] },
  };
};
