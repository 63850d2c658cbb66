// `npm run size`: lines of shipped code without comments and blanks, files, and public names, per package. With a commit
// as argument (`npm run size -- HEAD~20`), the same of that commit, beside the working tree.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { readWorkingTree } from "./boundaries/working-tree.ts";
import { createWorkspace, type FileMap, isShipped, isTest } from "./boundaries/workspace.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

interface Size {
  readonly lines: number;
  readonly files: number;
  readonly names: number;
}

/** Lines on which something other than a comment begins, ends or continues. */
const countLines = (path: string, text: string): number => {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false);
  const lines = new Set<number>();
  const lineAt = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
  const walk = (node: ts.Node): void => {
    if (node.getChildCount(source) > 0) node.getChildren(source).forEach(walk);
    else if (node.getWidth(source) > 0) {
      for (let line = lineAt(node.getStart(source)); line <= lineAt(node.end); line += 1) lines.add(line);
    }
  };
  walk(source);
  return lines.size;
};

const measure = (files: FileMap): ReadonlyMap<string, Size> => {
  const sizes = new Map<string, Size>();
  const add = (name: string, size: Partial<Size>): void => {
    const before = sizes.get(name) ?? { lines: 0, files: 0, names: 0 };
    sizes.set(name, {
      lines: before.lines + (size.lines ?? 0),
      files: before.files + (size.files ?? 0),
      names: before.names + (size.names ?? 0),
    });
  };
  const workspace = createWorkspace(files);
  for (const [path, text] of files) {
    const name = path.split("/")[1] ?? "";
    if (isShipped(path) && /\.tsx?$/.test(path)) add(name, { lines: countLines(path, text), files: 1 });
    else if (isTest(path)) add("(tests)", { lines: countLines(path, text), files: 1 });
  }
  for (const { directory, entries } of workspace.manifests.values()) {
    for (const door of entries.values()) {
      const source = workspace.sources.get(door);
      const exported = [...(source?.statements ?? [])].filter(ts.isExportDeclaration);
      const listed = exported.map(({ exportClause }) =>
        exportClause !== undefined && ts.isNamedExports(exportClause) ? exportClause.elements.length : 0,
      );
      add(directory.split("/")[1] ?? "", { names: listed.reduce((sum, count) => sum + count, 0) });
    }
  }
  return sizes;
};

const git = (args: readonly string[], input = ""): Buffer =>
  execFileSync("git", args, { cwd: ROOT, input, maxBuffer: 1 << 28 });

/** One process for all files: `cat-file --batch` answers `<id> blob <bytes>`, the text, and a line break, for each. */
const readCommit = (commit: string): FileMap => {
  const paths = git(["ls-tree", "-r", "--name-only", commit])
    .toString()
    .split("\n")
    .filter((path) => /\.tsx?$/.test(path) || path.endsWith("package.json"));
  const answer = git(["cat-file", "--batch"], paths.map((path) => `${commit}:${path}\n`).join(""));
  const files = new Map<string, string>();
  let at = 0;
  for (const path of paths) {
    const text = answer.indexOf("\n", at) + 1;
    const end = text + Number(answer.toString("utf8", at, text).split(" ")[2]);
    files.set(path, answer.toString("utf8", text, end));
    at = end + 1;
  }
  return files;
};

const [commit] = process.argv.slice(2);
const now = measure(readWorkingTree(ROOT));
const before = commit === undefined ? undefined : measure(readCommit(commit));
const cell = (size: Size | undefined): string =>
  [size?.lines ?? 0, size?.files ?? 0, size?.names ?? 0].map((count) => String(count).padStart(7)).join("");
const row = (name: string, then: Size | undefined, size: Size | undefined): string =>
  `${name.padEnd(12)}${before === undefined ? "" : `${cell(then)} |`}${cell(size)}`;

const totalOf = (sizes: ReadonlyMap<string, Size>): Size =>
  [...sizes]
    .filter(([name]) => !name.startsWith("("))
    .reduce(
      (sum, [, one]) => ({ lines: sum.lines + one.lines, files: sum.files + one.files, names: sum.names + one.names }),
      {
        lines: 0,
        files: 0,
        names: 0,
      },
    );

const heading = "  lines  files  names";
console.log(`${"package".padEnd(12)}${before === undefined ? "" : `${heading} |`}${heading}`);
for (const name of [...now.keys()].sort()) console.log(row(name, before?.get(name), now.get(name)));
console.log(row("all shipped", before && totalOf(before), totalOf(now)));
