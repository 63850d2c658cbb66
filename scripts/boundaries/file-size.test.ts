import { expect, test } from "vitest";
import { checkFileSize, MAX_LINES, WARN_LINES } from "./file-size.ts";
import { sampleWorkspace } from "./sample.ts";

const severityOf = (path: string, lines: number, line = "f();"): string | undefined =>
  checkFileSize(sampleWorkspace({ [path]: `${line}\n`.repeat(lines) }))[0]?.severity;

test.each([
  [WARN_LINES, undefined],
  [WARN_LINES + 1, "warning"],
  [MAX_LINES, "warning"],
  [MAX_LINES + 1, "error"],
])("[REPO-1-10] a file of %i lines: %s", (lines, severity) => {
  expect(severityOf("packages/engine/src/x.ts", lines)).toBe(severity);
  expect(severityOf("scripts/x.mjs", lines)).toBe(severity);
});

test("a table of requirements may be as long as the spec", () => {
  expect(severityOf("tests/requirements/x.ts", MAX_LINES + 1)).toBeUndefined();
});

test("a public face may be as long as its names, as long as it holds nothing else", () => {
  const face = 'export { a } from "./a.ts";';
  expect(severityOf("packages/engine/src/index.ts", MAX_LINES + 1, face)).toBeUndefined();
  expect(severityOf("packages/engine/src/index.ts", MAX_LINES + 1, `${face} const b = 1;`)).toBe("error");
});
