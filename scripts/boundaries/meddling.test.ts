import { expect, test } from "vitest";
import { checkMeddling } from "./meddling.ts";
import { sampleWorkspace } from "./sample.ts";

const rulesFor = (path: string, text: string): readonly string[] =>
  checkMeddling(sampleWorkspace({ [path]: text })).map(({ file, line, rule }) => `${file}:${line} ${rule}`);

const WRITE = "export const late =\n  `update\n   state.heads set status = $1`;";

test.each(["tests/turns/late.test.ts", "tests/turns/late.sql.ts", "packages/engine/src/turns/late.test.ts"])(
  "[REPO-1-17] %s may not write a table of the engine",
  (path) => {
    expect(rulesFor(path, WRITE)).toEqual([`${path}:2 meddling`]);
  },
);

test.each([
  "packages/testkit/src/engine/meddle-turns.sql.ts",
  "packages/engine/src/sql/roles.test.ts",
  "bench/scene.sql.ts",
])("[REPO-1-17] %s may", (path) => {
  expect(rulesFor(path, WRITE)).toEqual([]);
});

test("[REPO-1-17] a test may read tables, and write its own", () => {
  const text =
    'export const a = "select status from state.heads for update";\nexport const b = "insert into mine values (1)";';
  expect(rulesFor("tests/turns/look.test.ts", text)).toEqual([]);
});
