// Runs a zod schema at a boundary and turns what it finds into one `bad_request` that names the fields.

import type { z } from "zod";
import { formatJsonPath } from "../json/json-path.ts";
import { type Checked, describeSchemaIssue, type SchemaIssue, withoutTypeBounds } from "./schema-issue.ts";
import { ToolplaneError } from "./toolplane-error.ts";

/** Enough to repair a message in one go; a hostile message with a thousand faults does not get a thousand lines. */
const MAX_ISSUES = 8;
export interface IssueSource {
  readonly cause?: unknown;
  readonly checked?: Checked | undefined;
}

export const fromSchemaIssues = (
  issues: readonly SchemaIssue[],
  what: string,
  { cause, checked }: IssueSource = {},
): ToolplaneError => {
  const shown = withoutTypeBounds(issues)
    .slice(0, MAX_ISSUES)
    .map((issue) => ({
      path: formatJsonPath(issue.path ?? []),
      message: describeSchemaIssue(issue, checked),
    }));
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

export const parseWith = <S extends z.ZodType>(schema: S, input: unknown, what: string): z.output<S> => {
  const result = checkWith(schema, input);
  if ("data" in result) return result.data;
  throw fromSchemaIssues(result.issues, what, { cause: result.cause, checked: { input } });
};
