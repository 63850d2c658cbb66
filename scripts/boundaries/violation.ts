// One broken boundary, and the one line it is reported as.

export type Severity = "error" | "warning";

export interface Violation {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
  /** What to do about it, in the imperative. */
  readonly advice: string;
  readonly severity: Severity;
}

export const broken = (rule: string, file: string, line: number, advice: string): Violation => ({
  file,
  line,
  rule,
  advice,
  severity: "error",
});

export const doubtful = (rule: string, file: string, line: number, advice: string): Violation => ({
  ...broken(rule, file, line, advice),
  severity: "warning",
});

export const formatViolation = ({ file, line, rule, advice, severity }: Violation): string =>
  `${file}:${line} ${rule}${severity === "warning" ? " (warning)" : ""}: ${advice}`;
