import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { tryFindProgram } from "./find-program.ts";

const root = mkdtempSync(join(tmpdir(), "toolplane-find-"));
afterAll(() => rmSync(root, { recursive: true }));
mkdirSync(join(root, "a", "directory"), { recursive: true });
mkdirSync(join(root, "b"));
for (const name of ["a/plain", "b/tool", "a/tool"]) writeFileSync(join(root, name), "#!/bin/sh\n");
for (const name of ["b/tool", "a/tool"]) chmodSync(join(root, name), 0o755);
const path = `${join(root, "a")}:${join(root, "b")}`;

test.each<[string, string, string | undefined, string | undefined]>([
  ["the first on PATH", "tool", path, join(root, "a", "tool")],
  ["a file that is not executable", "plain", path, undefined],
  ["a directory", "directory", path, undefined],
  ["an absolute path", join(root, "b", "tool"), undefined, join(root, "b", "tool")],
  ["a path from the working directory", "./b/tool", undefined, join(root, "b", "tool")],
  ["nothing of the name", "no-such-program", path, undefined],
  ["an empty name", "", path, undefined],
  ["no PATH at all", "no-such-program", undefined, undefined],
])("%s", (_what, name, searched, expected) => {
  expect(tryFindProgram(name, searched, root)).toBe(expected);
});
