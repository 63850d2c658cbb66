// The verdicts as people and programs read them.

import type { Clause, ClauseEntry } from "./clauses.ts";
import type { Evidence } from "./evidence.ts";
import type { JudgedClause } from "./judges/index.ts";
import { countVerdicts, formatCounts, formatVerdicts } from "./verdict-lines.ts";

const utpOf = (clause: ClauseEntry): string | undefined => clause.utp;

/** Where the rule is written: `UTP 4.1`, or `UTP 4.1; utp 8.3.3, D-05` where clauses of utp.md say it too. */
const placeOf = (clause: Clause): string => {
  const utp = utpOf(clause);
  return `(${clause.section}${utp === undefined ? "" : `; utp ${utp}`})`;
};

export const formatClauses = (judged: readonly JudgedClause[]): readonly string[] =>
  formatVerdicts(judged, [({ title }) => title, placeOf]);

export const formatSummary = (judged: readonly JudgedClause[], { target, toolName }: Evidence): string =>
  `${target}/${toolName}: ${formatCounts(judged)}`;

/** The two steps are those of the protocol: a card, then a report. */
const stepsOf = ({ calls }: Evidence): "one" | "two" =>
  calls.some(({ trace }) => trace.offers.some(({ form }) => form === "report")) ? "two" : "one";

export const reportBody = (judged: readonly JudgedClause[], evidence: Evidence) => ({
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
  summary: countVerdicts(judged),
});
