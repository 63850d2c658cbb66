import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPattern, matchesPattern, parsePattern } from "./pattern.ts";
import { parseSubject } from "./subject.ts";

const refused = expect.objectContaining({ code: "protocol_violation" });
const COMMAND = "cg.v1r4.demo.public.cmd.tool.text.run";

describe("patterns", () => {
  test("what is left out is a wildcard", () => {
    expect(createPattern().text).toBe("cg.v1r4.*.*.*.*.*.>");
    expect(createPattern({ projectId: "demo", category: "evt", suffix: "task" }).text).toBe(
      "cg.v1r4.demo.*.evt.*.*.task",
    );
  });

  test.each(["cg.>", "cg.v1r4.>", "cg.v1r4.*.*.cmd.*.*.>", "cg.*.*.*.*.*.*.*", COMMAND])("%s is a pattern", (text) => {
    expect(parsePattern(text).text).toBe(text);
  });

  const bad: readonly unknown[] = [
    "",
    ">",
    "*",
    "*.v1r4.>",
    "cg",
    "cg.v1r4.*.*.cmd.*.*",
    "cg.>.x",
    "cg.v1r4.demo.>.cmd.tool.text.run",
    "cg.v1r4.a*.>",
    "cg.v1r4.>x",
    "cg.v1r4..>",
    "cg.v1r4.a b.>",
    "cg.v1r4.é.>",
    `cg.${"a".repeat(2000)}.>`,
    null,
  ];
  test.each(bad)("%j is not a pattern", (text) => {
    expect(() => parsePattern(text)).toThrow(refused);
  });

  test("[SEC-1-1] a part of a pattern cannot bring in further tokens", () => {
    expect(() => createPattern({ projectId: "a.b" })).toThrow(refused);
    expect(() => createPattern({ target: ">" })).toThrow(refused);
    expect(() => createPattern({ suffix: "a b" })).toThrow(refused);
  });
});

describe("matching", () => {
  const cases = [
    [COMMAND, COMMAND, true],
    ["cg.v1r4.demo.public.cmd.tool.text.*", COMMAND, true],
    ["cg.v1r4.demo.public.cmd.tool.text.>", COMMAND, true],
    ["cg.>", COMMAND, true],
    ["cg.v1r4.*.*.cmd.tool.text.*", `${COMMAND}.fast`, false],
    ["cg.v1r4.*.*.cmd.tool.text.>", `${COMMAND}.fast`, true],
    ["cg.v1r4.*.*.cmd.tool.text.run.>", COMMAND, false],
    ["cg.v1r4.*.*.evt.*.*.>", COMMAND, false],
    ["cg.v1r3.*.*.cmd.*.*.>", COMMAND, false],
    ["cg.v1r4.other.*.cmd.*.*.>", COMMAND, false],
    ["cg.v1r4.*.*.cmd.tool.tex.>", COMMAND, false],
  ] as const;
  test.each(cases)("%s on %s: %s", (pattern, subject, expected) => {
    expect(matchesPattern(parsePattern(pattern), subject)).toBe(expected);
    expect(matchesPattern(parsePattern(pattern), parseSubject(subject))).toBe(expected);
  });

  test("a pattern made from a subject by hiding tokens matches it; changing a shown token ends the match", () => {
    const tokens = COMMAND.split(".");
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { minLength: 7, maxLength: 7 }),
        fc.integer({ min: 1, max: 7 }),
        (hidden, at) => {
          const shown = tokens.map((token, index) => (index > 0 && hidden[index - 1] === true ? "*" : token));
          const other = tokens.map((token, index) => (index === at ? `${token}x` : token)).join(".");
          const pattern = parsePattern(shown.join("."));
          expect(matchesPattern(pattern, COMMAND)).toBe(true);
          expect(matchesPattern(pattern, other)).toBe(shown[at] === "*");
        },
      ),
    );
  });
});
