// Reads vitest's JSON report and names the tests worth a person's look: those that failed, and those that passed only in
// their second try, which are bugs as well.

import { relative } from "node:path";

interface TestResult {
  readonly status?: unknown;
  readonly fullName?: unknown;
  readonly failureMessages?: unknown;
}

interface TestFile {
  readonly name?: unknown;
  readonly status?: unknown;
  readonly message?: unknown;
  readonly assertionResults?: readonly TestResult[];
}

const filesOf = (text: string | undefined): readonly TestFile[] => {
  try {
    const { testResults } = JSON.parse(text ?? "") as { readonly testResults?: unknown };
    return Array.isArray(testResults) ? (testResults as readonly TestFile[]) : [];
  } catch {
    return [];
  }
};

const firstLine = (messages: unknown): string =>
  Array.isArray(messages) ? (String(messages[0] ?? "").split("\n")[0] ?? "") : "";

/** A test that passed and has a failure to tell of was tried again. */
const describe = (path: string, { status, fullName, failureMessages }: TestResult): readonly string[] => {
  const reason = firstLine(failureMessages);
  if (status === "passed" && reason === "") return [];
  const what = status === "passed" ? "needed a second try" : String(status);
  return [`${what}: ${path} > ${String(fullName)}${reason === "" ? "" : `: ${reason}`}`];
};

/** One line for each, with paths from `root`; a file that could not be loaded has a line too. */
export const listNotable = (text: string | undefined, root: string): readonly string[] =>
  filesOf(text).flatMap(({ name, status, message, assertionResults = [] }) => {
    const path = relative(root, String(name));
    const lines = assertionResults.flatMap((test) => describe(path, test));
    const isWhole = status === "passed" || assertionResults.some((test) => test.status !== "passed");
    return isWhole ? lines : [...lines, `failed: ${path}: ${firstLine([message])}`];
  });
