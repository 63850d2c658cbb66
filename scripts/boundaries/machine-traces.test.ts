import { expect, test } from "vitest";
import { checkMachineTraces } from "./machine-traces.ts";
import { sampleWorkspace } from "./sample.ts";

const rulesFor = (text: string): readonly string[] =>
  checkMachineTraces(sampleWorkspace({ "docs/x.md": text })).map(({ file, line, rule }) => `${file}:${line} ${rule}`);

// Joined here, so that this file carries no trace itself.
const path = (...parts: readonly string[]): string => ["", ...parts].join("/");

test.each([
  path("home", "ann", "toolplane"),
  `see "${path("Users", "ann", "x")}"`,
  `cd ${path("root", "x")}`,
  `(${path("work", "main")})`,
  ["C:", "Users", "ann"].join("\\"),
  ["https:/", "registry.example.org", "x"].join("/"),
  ["registry", "npmjs", "org"].join("."),
  `"resolved": ${'"'}https://example.org/x.tgz"`,
])("[REPO-1-11] %s is refused", (text) => {
  expect(rulesFor(`first line\n${text}`)).toEqual(["docs/x.md:2 machine-trace"]);
});

test.each([
  "https://example.org/home/page",
  "packages/engine/src/registry.test.ts",
  "./work/item",
  "the home directory",
  "/var/lib/toolplane/x",
  "~/work/x",
])("fine: %s", (text) => {
  expect(rulesFor(text)).toEqual([]);
});
