import { expect, test } from "vitest";
import { checkBoundaries } from "./checks.ts";
import { sampleFiles } from "./sample.ts";
import { formatViolation } from "./violation.ts";

test("[REPO-1-12] every boundary is looked at, and each break is one line: file, line, rule, what to do", () => {
  const broken = sampleFiles({
    "packages/engine/src/utils.ts": [
      'import { Pool } from "pg";',
      'import { x } from "../../protocol/src/card.ts";',
      'export * from "./utils.ts";',
      "export const started = Date.now();",
      'export const find = "select 1";',
      'throw new Error("x");',
      "//\n".repeat(400),
    ].join("\n"),
    "package-lock.json": '{"packages":{"node_modules/a":{"optionalDependencies":{"b":"1"}}}}',
    "docs/x.md": ["", "home", "ann", "x"].join("/"),
  });
  const lines = checkBoundaries(broken).map(formatViolation);
  expect([...new Set(lines.map((line) => line.split(" ")[1]))].sort()).toEqual([
    "ambient-input:",
    "banned-name:",
    "bare-error:",
    "dead-code:",
    "export-star:",
    "file-size:",
    "import-cycle:",
    "leaves-package:",
    "lock-file:",
    "machine-trace:",
    "sql-outside-sql-file:",
    "undeclared-import:",
    "unused-export:",
  ]);
  expect(lines).toContain(
    "packages/engine/src/utils.ts:1 undeclared-import: declare pg in packages/engine/package.json or do not import it",
  );
});
