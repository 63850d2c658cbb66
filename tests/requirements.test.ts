// Every rule of a built part is claimed by a test; what is not built yet is said out loud.

import { beforeAll, describe, expect, test } from "vitest";
import { type Clause, type ClauseRow, planClauses } from "./clauses/clause-table.ts";
import { readProofs } from "./clauses/read-proofs.ts";
import { type Coverage, formatCoverage, planCoverage } from "./requirements/coverage.ts";
import { BUILT_PARTS, LATER_PARTS, REQUIREMENTS } from "./requirements/index.ts";

/** The specifications have far more than this; fewer means that a list was lost. */
const LEAST_RULES = 150;

describe("the requirements", () => {
  let coverage: Coverage;
  let clauses: readonly Clause[];
  let rows: readonly ClauseRow[];

  beforeAll(() => {
    const claims = readProofs();
    clauses = planClauses(REQUIREMENTS, claims);
    rows = clauses.flatMap((clause) => clause.rows);
    coverage = planCoverage(REQUIREMENTS, claims, BUILT_PARTS);
    process.stderr.write(`\n${formatCoverage(coverage, BUILT_PARTS)}\n\n`);
  });

  test("of built parts are proven, listed once, and claimed only when listed", () => {
    expect(coverage.faults).toEqual([]);
  });

  test("[REPO-clauses] that name the doors at which they can be broken are tried at each", () => {
    expect(rows.filter(({ rule }) => rule.doors !== undefined).length).toBeGreaterThan(10);
    expect(rows.flatMap(({ rule, untried }) => untried.map((door) => `${rule.id}: ${door}`))).toEqual([]);
  });

  test("[REPO-clauses] of each clause are tried at every door at which the clause can be broken", () => {
    const built = clauses.filter((clause) => clause.rows.some(({ rule }) => BUILT_PARTS.has(rule.part)));
    expect(built.flatMap(({ section, gaps }) => gaps.map((door) => `${section}: ${door}`))).toEqual([]);
  });

  test("are as many as the specifications have", () => {
    expect(REQUIREMENTS.length).toBeGreaterThan(LEAST_RULES);
  });

  test("belong to a part that is built or is known to come", () => {
    const strange = REQUIREMENTS.filter(({ part }) => BUILT_PARTS.has(part) === LATER_PARTS.has(part));
    expect(strange).toEqual([]);
  });

  test("have a text that says something, and an id of the agreed form", () => {
    for (const { id, text, source } of REQUIREMENTS) {
      expect.soft(id).toMatch(/^[A-Z]{2,}-[A-Za-z0-9.-]+$/);
      expect.soft(text.length, id).toBeGreaterThan(10);
      expect.soft(source, id).not.toBe("");
    }
  });
});
