import { expect, test } from "vitest";
import { checkFileNames } from "./file-names.ts";
import { sampleWorkspace } from "./sample.ts";

const rulesFor = (path: string): readonly string[] =>
  checkFileNames(sampleWorkspace({ [path]: "export const x = 1;" })).map(({ file, rule }) => `${file} ${rule}`);

test.each([
  "packages/engine/src/utils.ts",
  "packages/engine/src/string-utils.ts",
  "packages/engine/src/helpers/x.ts",
  "packages/engine/src/common.ts",
  "packages/engine/src/call-manager.ts",
  "packages/engine/src/context-impl.ts",
  "packages/engine/src/types.ts",
  "packages/engine/src/types.test.ts",
  "tests/helper.ts",
  "packages/engine/src/callStore.ts",
  "packages/engine/src/call_store.ts",
  "packages/engine/src/Calls/x.ts",
])("[REPO-1-9] %s is refused", (path) => {
  expect(rulesFor(path)).toEqual([`${path} banned-name`]);
});

test.each([
  "packages/engine/src/card-types.ts",
  "packages/engine/src/calls/settle.sql.ts",
  "packages/engine/src/community.ts",
  "tests/requirements.test.ts",
  "bench/protocol.ts",
])("fine: %s", (path) => {
  expect(rulesFor(path)).toEqual([]);
});
