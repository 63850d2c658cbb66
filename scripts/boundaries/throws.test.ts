import { describe, expect, test } from "vitest";
import { sampleWorkspace } from "./sample.ts";
import { checkThrows } from "./throws.ts";

const PATH = "packages/engine/src/x.ts";

const rulesFor = (path: string, text: string): readonly string[] =>
  checkThrows(sampleWorkspace({ [path]: text })).map(({ file, line, rule }) => `${file}:${line} ${rule}`);

describe("[REPO-1-6] shipped code throws no error without a code", () => {
  test.each([
    'throw new Error("x");',
    'throw Error("x");',
    'throw new TypeError("x");',
    'throw "x";',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is a program
    "throw `x ${1}`;",
    'throw new globalThis.Error("x");',
    'throw new Error("x") as unknown;',
    'throw (late ? new TypeError("x") : error);',
    'throw error ?? new Error("x");',
    'const e = new Error("x"); throw e;',
    'Promise.reject(new Error("x"));',
    'new Promise((_, reject) => reject(new RangeError("x")));',
  ])("%s", (text) => {
    expect(rulesFor(PATH, `// why\n${text}`)).toEqual([`${PATH}:2 bare-error`]);
  });

  test.each([
    'throw new ToolplaneError("not_found", "x");',
    'throw new UsageError("x");',
    "throw error;",
    "Promise.reject(error);",
    'const cause = new Error("x");',
    'const text = "x"; throw new UsageError(text);',
    "throw known ?? error;",
  ])("fine: %s", (text) => {
    expect(rulesFor(PATH, text)).toEqual([]);
  });

  test.each(["packages/engine/src/x.test.ts", "packages/testkit/src/bus.contract.ts", "scripts/x.ts"])(
    "%s may",
    (path) => {
      expect(rulesFor(path, 'throw new Error("x");')).toEqual([]);
    },
  );
});
