import { expect, test } from "vitest";
import { checkLockFile } from "./lock-file.ts";
import { sampleWorkspace } from "./sample.ts";
import { formatViolation } from "./violation.ts";

const linesFor = (packages: Record<string, object>): readonly string[] =>
  checkLockFile(sampleWorkspace({ "package-lock.json": JSON.stringify({ packages }, null, 2) })).map(formatViolation);

const tool = { optionalDependencies: { "@tool/linux": "1.0.0", "@tool/mac": "1.0.0" } };

test("[REPO-1-13] a lock file without the build for another platform is refused", () => {
  expect(linesFor({ "node_modules/tool": tool, "node_modules/@tool/linux": {} })).toEqual([
    "package-lock.json:6 lock-file: @tool/mac 1.0.0 is missing: choose a version of tool whose builds can all be found",
  ]);
});

test("a complete one is fine, wherever the builds are put", () => {
  expect(
    linesFor({
      "": {},
      "node_modules/tool": tool,
      "node_modules/@tool/linux": {},
      "node_modules/tool/node_modules/@tool/mac": {},
    }),
  ).toEqual([]);
});
