// Reads vitest's JSON report and says how many tests passed and failed. Written to never flatter: a file that could not
// be loaded, a test that was skipped, a broken report, a failing exit and a run without tests are all failures.

export interface TestCount {
  readonly passed: number;
  readonly failed: number;
}

interface TestFile {
  readonly status?: unknown;
  readonly assertionResults?: readonly { readonly status?: unknown }[];
}

const listFiles = (report: unknown): readonly TestFile[] => {
  const files = (report as { testResults?: unknown } | null | undefined)?.testResults;
  return Array.isArray(files) ? files : [];
};

export const countTests = (report: unknown, exitCode: number): TestCount => {
  let passed = 0;
  let failed = 0;
  for (const { status, assertionResults = [] } of listFiles(report)) {
    const good = assertionResults.filter((test) => test.status === "passed").length;
    const bad = assertionResults.length - good;
    passed += good;
    failed += bad === 0 && status !== "passed" ? 1 : bad;
  }
  const silentFailure = failed === 0 && (exitCode !== 0 || passed === 0);
  return { passed, failed: silentFailure ? 1 : failed };
};

/** The report's text, or nothing when the run died before it was written. */
export const countReport = (text: string | undefined, exitCode: number): TestCount => {
  try {
    return countTests(JSON.parse(text ?? ""), exitCode);
  } catch {
    return { passed: 0, failed: 1 };
  }
};

export const formatCount = ({ passed, failed }: TestCount): string => `${passed} passed, ${failed} failed`;
