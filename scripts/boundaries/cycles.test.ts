import { expect, test } from "vitest";
import { checkCycles } from "./cycles.ts";
import { sampleWorkspace } from "./sample.ts";

const ringOf = (files: Record<string, string>): readonly string[] =>
  checkCycles(sampleWorkspace(files)).map(({ advice }) => advice.slice(advice.indexOf(": ") + 2));

test("[REPO-1-4] files that import each other are refused, and the ring is named", () => {
  expect(
    ringOf({
      "packages/engine/src/a.ts": 'import { b } from "./b.ts";\nexport const a = b;',
      "packages/engine/src/b.ts": 'import { c } from "./deep/c.ts";\nexport const b = c;',
      "packages/engine/src/deep/c.ts": 'import { a } from "../a.ts";\nexport const c = a;',
    }),
  ).toEqual([
    "packages/engine/src/a.ts -> packages/engine/src/b.ts -> packages/engine/src/deep/c.ts -> packages/engine/src/a.ts",
  ]);
});

test("a ring of types is a ring, and so is a file that imports itself", () => {
  expect(
    ringOf({
      "tests/a.ts": 'import type { B } from "./b.ts";\nexport type A = B;',
      "tests/b.ts": 'import type { A } from "./a.ts";\nexport type B = A;',
      "tests/c.ts": 'export { c } from "./c.ts";',
    }),
  ).toEqual(["tests/a.ts -> tests/b.ts -> tests/a.ts", "tests/c.ts -> tests/c.ts"]);
});

test("two ways to the same file are not a ring", () => {
  expect(
    ringOf({
      "tests/top.ts": 'import "./left.ts";\nimport "./right.ts";',
      "tests/left.ts": 'import "./base.ts";',
      "tests/right.ts": 'import "./base.ts";',
      "tests/base.ts": "export const base = 1;",
    }),
  ).toEqual([]);
});
