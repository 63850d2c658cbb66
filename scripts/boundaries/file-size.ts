// A file fits in a reader's head. Two kinds may be as long as what they list: requirement lists, one rule a line, and a
// package's public face, which holds nothing but the names it exports.

import ts from "typescript";
import { broken, doubtful, type Violation } from "./violation.ts";
import type { Workspace } from "./workspace.ts";

/** Where a file should be split by noun. */
export const WARN_LINES = 300;
/** Where it must be. */
export const MAX_LINES = 400;

const isTable = (path: string): boolean => path.startsWith("tests/requirements/");

const isFace = (source: ts.SourceFile): boolean =>
  source.statements.every((statement) => ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined);

const countLines = (text: string): number => text.split("\n").length - (text.endsWith("\n") ? 1 : 0);

export const checkFileSize = (workspace: Workspace): readonly Violation[] => {
  const found: Violation[] = [];
  for (const [path, source] of workspace.sources) {
    if (isTable(path) || isFace(source)) continue;
    const lines = countLines(workspace.files.get(path) ?? "");
    const advice = `split by noun: ${lines} lines, the limit is ${MAX_LINES}`;
    if (lines > MAX_LINES) found.push(broken("file-size", path, lines, advice));
    else if (lines > WARN_LINES) found.push(doubtful("file-size", path, lines, advice));
  }
  return found;
};
