import { expect, test } from "vitest";
import { checkExports } from "./exports.ts";
import { sampleWorkspace } from "./sample.ts";

const rulesFor = (path: string, text: string): readonly string[] =>
  checkExports(sampleWorkspace({ [path]: text })).map(({ file, line, rule }) => `${file}:${line} ${rule}`);

test.each([
  ["export default 1;", "default-export"],
  ["export default function f() {}", "default-export"],
  ["export default class C {}", "default-export"],
  ["const a = 1;export { a as default };", "default-export"],
  ['export * from "./card.ts";', "export-star"],
  ['export type * from "./card.ts";', "export-star"],
  ['export * as cards from "./card.ts";', "export-star"],
])("[REPO-1-7] %s is refused", (text, rule) => {
  expect(rulesFor("scripts/x.ts", `\n${text}`)).toEqual([`scripts/x.ts:2 ${rule}`]);
});

test.each([
  ["scripts/x.ts", 'export { card } from "./card.ts";'],
  ["scripts/x.ts", "export const x = 1;"],
  ["vitest.config.ts", "export default {};"],
  ["eslint.config.mjs", "export default {};"],
])("fine: %s %s", (path, text) => {
  expect(rulesFor(path, text)).toEqual([]);
});
