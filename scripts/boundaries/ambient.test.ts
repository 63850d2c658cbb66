import { describe, expect, test } from "vitest";
import { checkAmbient } from "./ambient.ts";
import { sampleWorkspace } from "./sample.ts";

const rulesFor = (path: string, text: string): readonly string[] =>
  checkAmbient(sampleWorkspace({ [path]: text })).map(({ file, line, rule }) => `${file}:${line} ${rule}`);

describe("[REPO-1-8] time, ids and randomness are passed in", () => {
  test.each([
    "Date.now();",
    "const clock = Date.now;",
    "new Date();",
    "new Date;",
    "Date();",
    "Math.random();",
    'Math["random"]();',
    "new globalThis.Date();",
    "const { now } = Date;",
    "const Clock = globalThis.Date;",
    "setTimeout(f, 1);",
    "globalThis.setInterval(f, 1);",
    "performance.now();",
    "crypto.randomUUID();",
    "crypto.getRandomValues(bytes);",
    'import { randomUUID } from "node:crypto";',
  ])("%s", (text) => {
    for (const path of ["packages/protocol/src/x.ts", "packages/engine/src/calls/x.ts"]) {
      expect(rulesFor(path, `\n${text}`)).toEqual([`${path}:2 ambient-input`]);
    }
  });

  test.each([
    "new Date(0);",
    "Date.parse(text);",
    "Math.max(1, 2);",
    "clock.now();",
    "const Dates = 1;",
    "clock.setTimeout();",
  ])("fine: %s", (text) => {
    expect(rulesFor("packages/protocol/src/x.ts", text)).toEqual([]);
  });

  test.each(["packages/engine/src/ports/system-clock.ts", "packages/engine/src/x.test.ts", "packages/bus/src/x.ts"])(
    "%s may",
    (path) => {
      expect(rulesFor(path, "Date.now();")).toEqual([]);
    },
  );

  test("a ports folder elsewhere is not an excuse", () => {
    expect(rulesFor("packages/protocol/src/ports/clock.ts", "Date.now();")).toHaveLength(1);
  });
});
