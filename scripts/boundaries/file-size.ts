// A file fits in a reader's head. Requirement lists are tables, one rule a line, and may be as long as the spec is.

import { broken, doubtful, type Violation } from "./violation.ts";
import type { Workspace } from "./workspace.ts";

/** Where a file should be split by noun. */
export const WARN_LINES = 300;
/** Where it must be. */
export const MAX_LINES = 400;

const isTable = (path: string): boolean => path.startsWith("tests/requirements/");

const countLines = (text: string): number => text.split("\n").length - (text.endsWith("\n") ? 1 : 0);

export const checkFileSize = (workspace: Workspace): readonly Violation[] => {
  const found: Violation[] = [];
  for (const path of workspace.sources.keys()) {
    if (isTable(path)) continue;
    const lines = countLines(workspace.files.get(path) ?? "");
    const advice = `split by noun: ${lines} lines, the limit is ${MAX_LINES}`;
    if (lines > MAX_LINES) found.push(broken("file-size", path, lines, advice));
    else if (lines > WARN_LINES) found.push(doubtful("file-size", path, lines, advice));
  }
  return found;
};
