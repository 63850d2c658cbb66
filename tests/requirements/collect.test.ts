import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { collectRules } from "./collect.ts";

test("[REPO-2-5] every list of rules below the folder is collected, and nothing else is", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rules-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const rule = (id: string) => ({ id, source: "a page", part: "a part", text: "it is so." });
  const write = (file: string, id: string): void => {
    writeFileSync(join(folder, file), `export const rules = [${JSON.stringify(rule(id))}];\n`);
  };
  mkdirSync(join(folder, "later"));
  write("one.ts", "AB-1");
  write("later/two.ts", "AB-2");
  write("one.test.ts", "AB-3");
  writeFileSync(join(folder, "shape.ts"), "export const shape = 1;\n");

  expect(await collectRules(folder)).toEqual([
    { file: "later/two.ts", rules: [rule("AB-2")] },
    { file: "one.ts", rules: [rule("AB-1")] },
  ]);
});
