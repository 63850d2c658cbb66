// Reads the repository into a file map. Walks instead of asking git, so it works in an unpacked archive and in a
// checkout that belongs to another user; what .gitignore leaves out is left out here.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type FileMap, isCode } from "./workspace.ts";

export type Ignore = (name: string, isDirectory: boolean) => boolean;

/** Understands the three forms this repository's .gitignore uses: `name/`, `name` and `*.ending`. */
export const parseIgnore = (text: string): Ignore => {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return (name, isDirectory) =>
    name === ".git" ||
    lines.some((line) => {
      if (line.startsWith("*.")) return name.endsWith(line.slice(1));
      return line.endsWith("/") ? isDirectory && name === line.slice(0, -1) : name === line;
    });
};

/** Text has no NUL; what has one is not ours to read, unless it says it is code. */
const isBinary = (path: string, text: string): boolean => text.includes("\0") && !isCode(path);

export const readWorkingTree = (root: string): FileMap => {
  const ignore = parseIgnore(readFileSync(join(root, ".gitignore"), "utf8"));
  const files = new Map<string, string>();
  const read = (directory: string): void => {
    const entries = readdirSync(join(root, directory), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (ignore(entry.name, entry.isDirectory())) continue;
      const path = directory === "" ? entry.name : `${directory}/${entry.name}`;
      if (entry.isDirectory()) read(path);
      if (!entry.isFile()) continue;
      const text = readFileSync(join(root, path), "utf8");
      if (!isBinary(path, text)) files.set(path, text);
    }
  };
  read("");
  return files;
};
