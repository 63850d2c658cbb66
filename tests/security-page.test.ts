// docs/security.md names a test for every promise: the file exists, and a test in it carries the rule that the row names.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readWorkingTree } from "../scripts/boundaries/working-tree.ts";
import { mayProve } from "./requirements/proofs.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(new URL("../docs/security.md", import.meta.url), "utf8");

/** Rows that name a test; the heads of tables and the table of roles name none. */
const rows = page.split("\n").filter((line) => line.startsWith("| ") && line.includes(".test.ts`"));
const tests = new Map([...readWorkingTree(ROOT)].filter(([path]) => mayProve(path)));

/** The last column: test files, each followed by the rules that it proves. */
const namedIn = (row: string): readonly { readonly file: string; readonly ids: readonly string[] }[] => {
  const cell = row.split(" | ").at(-1) ?? "";
  return [...cell.matchAll(/`([^`]+\.test\.ts)`([^`]*)/g)].map(([, file = "", after = ""]) => ({
    file,
    ids: [...after.matchAll(/\[([^\]]+)\]/g)].map(([id]) => id),
  }));
};

/** A file is named by its path, or by its name alone. */
const textsOf = (file: string): readonly string[] =>
  [...tests].filter(([path]) => path === file || path.endsWith(`/${file}`)).map(([, text]) => text);

test("[SEC-page] every promise of the security page names a test that exists and carries its rule", () => {
  expect(rows.length).toBeGreaterThan(60);
  const wrong = rows.flatMap((row) =>
    namedIn(row).flatMap(({ file, ids }) => {
      const texts = textsOf(file);
      if (texts.length === 0) return [`${file} does not exist`];
      return ids.filter((id) => !texts.some((text) => text.includes(id))).map((id) => `${file} has no test of ${id}`);
    }),
  );
  expect(wrong).toEqual([]);
  expect(rows.filter((row) => namedIn(row).length === 0)).toEqual([]);
  expect(rows.filter((row, index) => rows.indexOf(row) !== index)).toEqual([]);
});
