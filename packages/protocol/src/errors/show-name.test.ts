import { expect, test } from "vitest";
import { showName } from "./show-name.ts";

test.each([
  ["call_1-a", "call_1-a"],
  ["", '""'],
  ["a b", '"a b"'],
  ['say "hi"\u001b[2J\n', '"say \\"hi\\"\\u001b[2J\\n"'],
  ["\ud800", '"\ufffd"'],
  ["x".repeat(128), "x".repeat(128)],
  ["x".repeat(100_000), `"${"x".repeat(128)}…"`],
])("showName(%j)", (name, expected) => {
  expect(showName(name)).toBe(expected);
});
