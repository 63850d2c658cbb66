import { describe, expect, test } from "vitest";
import type { Rule } from "../requirements/rule.ts";
import { clausesPage, planClauses } from "./clause-table.ts";
import { clauseDoors, doorsOf, sectionsOf } from "./door.ts";

const rule = (id: string, source: string, more: Partial<Rule> = {}): Rule => ({
  id,
  source,
  part: "p",
  text: "it is so.",
  ...more,
});

describe("the table of clauses", () => {
  test("a test tries the door of its folder, or those its header names", () => {
    expect(doorsOf("tests/http/x.test.ts", "")).toEqual(["HTTP"]);
    expect(doorsOf("tests/conform/nats-corpus.test.ts", "")).toEqual(["NATS"]);
    expect(doorsOf("tests/hosts/x.test.ts", "")).toEqual(["host"]);
    expect(doorsOf("packages/engine/src/x.test.ts", "")).toEqual(["in process"]);
    expect(doorsOf("tests/pmo/x.test.ts", "// It does.\n// Doors: in process, HTTP\n")).toEqual(["HTTP", "in process"]);
  });

  test("a clause has the doors of its section", () => {
    expect(["utp 2.3", "utp 7.5 row 2", "utp 17 D-28", "utp 15, W-18", "utp D-01"].map(sectionsOf)).toEqual([
      ["2.3"],
      ["7.5"],
      ["17 D-28"],
      ["15 W-18"],
      ["17 D-01"],
    ]);
    expect(sectionsOf("utp 2.3, 2.7; security 2.2")).toEqual(["2.3", "2.7"]);
    expect(sectionsOf("utp 8.3.3, D-05")).toEqual(["8.3.3", "17 D-05"]);
    expect(clauseDoors("8.10")).toEqual(["HTTP", "in process"]);
    expect(clauseDoors("8.1")).toEqual(["in process"]);
  });

  test("a rule that keeps several clauses stands under each of them", () => {
    const claims = [{ id: "AB-1", file: "tests/http/x.test.ts", doors: ["HTTP"] as const }];
    const clauses = planClauses([rule("AB-1", "utp 2.3, 6.5")], claims);
    expect(clauses.map(({ section, gaps }) => [section, gaps])).toEqual([
      ["2.3", ["NATS", "in process"]],
      ["6.5", ["NATS", "in process"]],
    ]);
  });

  test("a door of a clause that no test tries is a gap, and one that a rule names is a fault", () => {
    const claims = [{ id: "AB-1", file: "tests/http/x.test.ts", doors: ["HTTP"] as const }];
    const [clause] = planClauses([rule("AB-1", "utp 2.7", { doors: ["HTTP", "NATS"] })], claims);
    expect(clause?.gaps).toEqual(["NATS", "in process"]);
    expect(clause?.rows[0]?.untried).toEqual(["NATS"]);
    expect(clausesPage(clause === undefined ? [] : [clause], new Set(["p"]))).toContain(
      "- 2.7: no test through NATS, in process",
    );
  });
});
