import { expect, test } from "vitest";
import { CLAUSES } from "./clauses.ts";
import type { Evidence } from "./evidence.ts";
import type { JudgedClause } from "./judges/index.ts";
import { formatClauses, formatSummary, reportBody } from "./report.ts";
import { fail, notApplicable, pass } from "./verdict.ts";

const evidence: Evidence = {
  transport: "http",
  projectId: "conform",
  target: "text",
  toolName: "count_words",
  requests: [],
  claims: [],
  registrations: [],
  questions: [],
  calls: [],
  strays: [],
  argumentsDiffer: true,
  service: undefined,
};

const judged: readonly JudgedClause[] = [
  { clause: CLAUSES[0], verdict: pass("every request carried it") },
  { clause: CLAUSES[2], verdict: fail("\u001b[31mstop_agent\n: no") },
  { clause: CLAUSES[18], verdict: notApplicable("no result asked for an override") },
];

test("[API-conform-report] lines are aligned, and what a service says cannot act on the terminal", () => {
  expect(formatClauses(judged)).toEqual([
    "pass  UTP-C01  The token travels as a bearer token                       (HTTP)",
    "fail  UTP-C03  Registered definitions keep the rules for external tools  (guide 3.2)  \\u001b[31mstop_agent : no",
    "n/a   UTP-C19  An override is written into result.__cg_control only      (UTP 3.1)    no result asked for an override",
  ]);
  expect(formatSummary(judged, evidence)).toBe("text/count_words: 1 pass, 1 fail, 1 not applicable");
});

test("[API-conform-report] programs get every clause with its verdict and reason", () => {
  expect(reportBody(judged, evidence)).toEqual({
    target: "text",
    tool_name: "count_words",
    transport: "http",
    steps: "one",
    clauses: [
      {
        id: "UTP-C01",
        title: "The token travels as a bearer token",
        section: "HTTP",
        verdict: "pass",
        reason: "every request carried it",
      },
      expect.objectContaining({ id: "UTP-C03", verdict: "fail" }),
      expect.objectContaining({ id: "UTP-C19", verdict: "not-applicable" }),
    ],
    summary: { pass: 1, fail: 1, not_applicable: 1 },
  });
});

test("[API-conform-report] a rule that clauses of utp.md say too names them, in its line and for programs", () => {
  const told: readonly JudgedClause[] = [
    { clause: CLAUSES[6], verdict: pass("each was refused") },
    { clause: CLAUSES[11], verdict: pass("they were") },
  ];
  expect(formatClauses(told)).toEqual([
    "pass  UTP-C07  Inline args, arguments and result are refused  (UTP 4.1; utp 8.3.3, D-05)",
    "pass  UTP-C12  Unknown payload fields are ignored             (UTP 4.3)",
  ]);
  expect(reportBody(told, evidence).clauses.map((clause) => clause.utp)).toEqual(["8.3.3, D-05", undefined]);
});

test("clauses are numbered without gaps, and every one says where it comes from", () => {
  expect(CLAUSES.map(({ id }) => id)).toEqual(CLAUSES.map((_, index) => `UTP-C${String(index + 1).padStart(2, "0")}`));
  for (const { section } of CLAUSES) expect.soft(section).toMatch(/^(guide|UTP) [1-5](\.[1-3])?$|^HTTP$|^NATS$/);
});
