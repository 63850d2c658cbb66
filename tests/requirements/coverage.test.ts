import { describe, expect, test } from "vitest";
import { formatCoverage, planCoverage } from "./coverage.ts";
import { listProofs, mayProve } from "./proofs.ts";
import type { Rule } from "./rule.ts";

const rule = (id: string, part: string): Rule => ({ id, part, source: "a page", text: "it is so." });
const BUILT = new Set(["protocol"]);

describe("planCoverage", () => {
  test("[REPO-2-1] a rule of a built part that no test claims is a fault", () => {
    const { faults } = planCoverage([rule("AB-1", "protocol"), rule("AB-2", "protocol")], [{ id: "AB-1", file: "x" }], BUILT);
    expect(faults).toEqual(["AB-2 (protocol) is claimed by no test: it is so."]);
  });

  test("[REPO-2-2] an id that is listed twice is a fault", () => {
    const { faults } = planCoverage([rule("AB-1", "sdk"), rule("AB-1", "sdk")], [], BUILT);
    expect(faults).toEqual(["AB-1 is listed twice (a page)"]);
  });

  test("[REPO-2-3] a claimed id that is listed nowhere is a fault", () => {
    expect(planCoverage([], [{ id: "AB-9", file: "x.test.ts" }], BUILT).faults).toEqual(["AB-9 is claimed in x.test.ts but listed nowhere"]);
  });

  test("[REPO-2-4] rules of parts that are not built are not a fault and are counted by part", () => {
    const coverage = planCoverage(
      [rule("AB-1", "protocol"), rule("AB-2", "sdk"), rule("AB-3", "sdk"), rule("AB-4", "agents")],
      [
        { id: "AB-1", file: "x" },
        { id: "AB-3", file: "y" },
      ],
      BUILT,
    );
    expect(coverage.faults).toEqual([]);
    expect(formatCoverage(coverage, BUILT).split("\n")).toEqual(["requirements: 4 rules", "  built, proven by tests: 1 of 1 (protocol 1)", "  NOT BUILT YET, proven by nothing: 2 of 3", "    agents: 1", "    sdk: 2 (1 claimed already)"]);
  });
});

describe("listProofs", () => {
  // Put together here, so that these samples are not claims themselves.
  const id = (rest: string): string => `[${rest}]`;

  test("finds ids in titles, table rows and templates, once each", () => {
    const text = [`test("${id("UTP-1.1-4")} refused", () => {});`, `const rows = [{ name: '${id("INV-I1")} ${id("INV-I1")}' }];`, `describe(\`${id("HOST-3-1")} \${x} ${id("HOST-3-2")}\`, () => {});`].join("\n");
    expect(listProofs("x.test.ts", text)).toEqual(["UTP-1.1-4", "INV-I1", "HOST-3-1", "HOST-3-2"].map((found) => ({ id: found, file: "x.test.ts" })));
  });

  test("comments, character classes and plain brackets claim nothing", () => {
    const text = [`// ${id("UTP-1.1-4")}`, 'const a = "[A-Z0-9]";', 'const b = "[A-Za-z0-9_-]";', 'const c = "[x]";'].join("\n");
    expect(listProofs("x.test.ts", text)).toEqual([]);
  });

  test.each([
    ["packages/bus/src/x.test.ts", true],
    ["packages/testkit/src/bus.contract.ts", true],
    ["packages/bus/src/x.ts", false],
  ])("%s may claim: %s", (path, may) => {
    expect(mayProve(path)).toBe(may);
  });
});
