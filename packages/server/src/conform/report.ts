// The verdicts as people and programs read them.

import { oneLine } from "../cli/plain-text.ts";
import type { ClauseEntry } from "./clauses.ts";
import type { Evidence } from "./evidence.ts";
import type { JudgedClause } from "./judges/index.ts";
import type { Outcome } from "./verdict.ts";

const WORDS: Readonly<Record<Outcome, string>> = { pass: "pass", fail: "fail", "not-applicable": "n/a" };

export const countOutcomes = (judged: readonly JudgedClause[]): Readonly<Record<Outcome, number>> => {
  const count = (outcome: Outcome): number => judged.filter(({ verdict }) => verdict.outcome === outcome).length;
  return { pass: count("pass"), fail: count("fail"), "not-applicable": count("not-applicable") };
};

const utpOf = (clause: ClauseEntry): string | undefined => clause.utp;

/** Where the rule is written: `UTP 4.1`, or `UTP 4.1; utp 8.3.3, D-05` where clauses of utp.md say it too. */
const placeOf = ({ clause }: JudgedClause): string => {
  const utp = utpOf(clause);
  return `(${clause.section}${utp === undefined ? "" : `; utp ${utp}`})`;
};

/** `pass  UTP-C12  Unknown payload fields are ignored  (UTP 4.3)`, and the reason unless it passed. */
export const formatClauses = (judged: readonly JudgedClause[]): readonly string[] => {
  const widest = (text: (item: JudgedClause) => string): number => Math.max(...judged.map((item) => text(item).length));
  const titles = widest(({ clause }) => clause.title);
  const places = widest(placeOf);
  return judged.map((item) => {
    const { clause, verdict } = item;
    const start = `${WORDS[verdict.outcome].padEnd(4)}  ${clause.id}  ${clause.title.padEnd(titles)}  ${placeOf(item).padEnd(places)}`;
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
    clauses: judged.map(({ clause, verdict }) => {
      const utp = utpOf(clause);
      return {
        id: clause.id,
        title: clause.title,
        section: clause.section,
        ...(utp === undefined ? {} : { utp }),
        verdict: verdict.outcome,
        reason: verdict.reason,
      };
    }),
    summary: { pass: counts.pass, fail: counts.fail, not_applicable: counts["not-applicable"] },
  };
};
