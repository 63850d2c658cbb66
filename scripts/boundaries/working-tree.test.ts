import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readWorkingTree } from "./working-tree.ts";

test("reads text, leaves out what .gitignore names, binaries and links", () => {
  const root = mkdtempSync(join(tmpdir(), "tree-"));
  onTestFinished(() => {
    rmSync(root, { recursive: true });
  });
  const write = (path: string, data: string | Buffer): void => {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), data);
  };
  write(".gitignore", "# comment\nnode_modules/\n*.log\nscratch\n");
  write("a.ts", "a");
  write("packages/b/src/b.ts", "b");
  write("packages/b/node_modules/c/index.ts", "c");
  write("packages/b/x.log", "log");
  write("scratch", "s");
  write(".git/config", "g");
  write("nul.ts", "a\0");
  write("picture.png", Buffer.from([1, 0, 2]));
  symlinkSync(join(root, "a.ts"), join(root, "link.ts"));

  expect([...readWorkingTree(root)]).toEqual([
    [".gitignore", "# comment\nnode_modules/\n*.log\nscratch\n"],
    ["a.ts", "a"],
    ["nul.ts", "a\0"],
    ["packages/b/src/b.ts", "b"],
  ]);
});
