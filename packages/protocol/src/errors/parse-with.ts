// Runs a zod schema at a boundary and turns what it finds into one `bad_request` that names the fields.

import type { z } from "zod";
import { formatJsonPath, shortText } from "../json/json-path.ts";
import { ToolplaneError } from "./toolplane-error.ts";

/** Enough to repair a message in one go; a hostile message with a thousand faults does not get a thousand lines. */
const MAX_ISSUES = 8;
/** A complaint quotes what it found, for example an unknown key, which may be a megabyte long. */
const MAX_ISSUE_LENGTH = 300;

/** What zod, and libraries that follow its shape, put into an error. */
export interface SchemaIssue {
  readonly path?: readonly PropertyKey[] | undefined;
  readonly message: string;
}

const EXPECTED = "Invalid input: expected ";
const ABSENT = ", received undefined";

/** An absent value is called missing, because people do not send "undefined". */
export const describeSchemaMessage = (message: string): string => {
  if (!message.startsWith(EXPECTED) || !message.endsWith(ABSENT)) return shortText(message, MAX_ISSUE_LENGTH);
  const expected = message.slice(EXPECTED.length, -ABSENT.length);
  return expected === "nonoptional" ? "missing" : `missing, expected ${expected}`;
};

const describeIssue = (issue: SchemaIssue): { path: string; message: string } => ({
  path: formatJsonPath(issue.path ?? []),
  message: describeSchemaMessage(issue.message),
});

export const fromSchemaIssues = (issues: readonly SchemaIssue[], what: string, cause?: unknown): ToolplaneError => {
  const shown = issues.slice(0, MAX_ISSUES).map(describeIssue);
  const text = shown.map(({ path, message }) => `${path}: ${message}`).join("; ");
  return new ToolplaneError("bad_request", `${what} is not valid: ${text || "no reason given"}`, {
    detail: { issues: shown },
    cause,
  });
};

/**
 * What a schema says about a value. zod reads `length` of any value that has one, before it knows that the value is text. A
 * `length` that cannot be compared with a number makes zod throw; that counts as a fault of the value.
 */
export const checkWith = <S extends z.ZodType>(
  schema: S,
  input: unknown,
): { readonly data: z.output<S> } | { readonly issues: readonly SchemaIssue[]; readonly cause: unknown } => {
  try {
    const parsed = schema.safeParse(input);
    return parsed.success ? { data: parsed.data } : { issues: parsed.error.issues, cause: parsed.error };
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    return { issues: [{ message: "a value in it has the wrong type and cannot be read" }], cause };
  }
};

const OPTION = "Invalid option: ";

const isMissing = (input: unknown, path: readonly PropertyKey[]): boolean => {
  let value = input;
  for (const key of path) {
    if (typeof value !== "object" || value === null) return true;
    value = Object.hasOwn(value, key) ? (value as Record<PropertyKey, unknown>)[key] : undefined;
  }
  return value === undefined;
};

/** For a union zod does not say whether the value was wrong or missing. */
const sayMissing = (input: unknown, issue: SchemaIssue): SchemaIssue =>
  issue.message.startsWith(OPTION) && isMissing(input, issue.path ?? [])
    ? { ...issue, message: `missing, ${issue.message.slice(OPTION.length)}` }
    : issue;

export const parseWith = <S extends z.ZodType>(schema: S, input: unknown, what: string): z.output<S> => {
  const checked = checkWith(schema, input);
  if ("data" in checked) return checked.data;
  const issues = checked.issues.map((issue) => sayMissing(input, issue));
  throw fromSchemaIssues(issues, what, checked.cause);
};
