import { describe, expect, test } from "vitest";
import { readFixture } from "../../test/fixture.ts";
import { parseProjectCreate, parseProjectPatch } from "./project.ts";

describe.each([
  ["create", parseProjectCreate, "[UTP-5.8-1] [UTP-5.8-3] a new project"],
  ["patch", parseProjectPatch, "[UTP-5.8-2] [UTP-W30-3] a change of a project"],
] as const)("%s", (name, parse, title) => {
  const { valid, invalid } = readFixture(`project/${name}`);

  test.each(valid)(`${title}: $name passes`, ({ input, output }) => {
    expect(parse(input)).toEqual(output);
  });

  test.each(invalid)(`${title}: $name is refused`, ({ input, code, says }) => {
    expect(() => parse(input)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(says ?? "") }));
  });
});

test("a breaker of a project is named as it is written there", () => {
  const breaker = { failure_rate: 0.5, window_seconds: 60, open_seconds: 30 };
  expect(() => parseProjectPatch({ limits: { breaker } })).toThrow(
    '$.limits: unknown key "breaker"; did you mean target_breaker?',
  );
  expect(() => parseProjectPatch({ limits: { frob: 1, breaker } })).toThrow('unknown keys "breaker", "frob"');
});
