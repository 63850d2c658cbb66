// Errors of ajv, in words that a person or a model can act on. Texts come from the schema and from the names of members; the
// checked values themselves are never quoted (I8).

import { formatJsonPath } from "@toolplane/protocol";
import type { SchemaIssue } from "@toolplane/protocol/registry";
import type { ErrorObject } from "ajv";

/** Enough to repair a call in one go; the branches of a wide anyOf would otherwise fill a page. */
const MAX_ISSUES = 8;
/** A longer list of allowed words does not help. */
const MAX_SHOWN_WORDS = 200;

const isDigits = (text: string): boolean => {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 48 || unit > 57) return false;
  }
  return text !== "";
};

/** RFC 6901 to `$.a[0]`: all-digit members read as places in a list, which is what they nearly always are. */
const segmentsOf = (pointer: string): (string | number)[] =>
  pointer
    .split("/")
    .slice(1)
    .map((piece) => piece.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((piece) => (isDigits(piece) && piece.length < 16 ? Number(piece) : piece));

const shown = (words: unknown): string => {
  const text = JSON.stringify(words) ?? "";
  return text.length <= MAX_SHOWN_WORDS ? `: ${text}` : "";
};

const describe = (error: ErrorObject): SchemaIssue => {
  const segments = segmentsOf(error.instancePath);
  const params = error.params as Readonly<Record<string, unknown>>;
  const extra = params.additionalProperty ?? params.unevaluatedProperty;
  if (typeof extra === "string")
    return { path: formatJsonPath([...segments, extra]), message: "is not a known member" };
  const path = formatJsonPath(segments);
  const message = error.message ?? `breaks ${error.keyword}`;
  if (error.keyword === "enum") return { path, message: `${message}${shown(params.allowedValues)}` };
  if (error.keyword === "const") return { path, message: `${message}${shown(params.allowedValue)}` };
  if (error.keyword === "false schema") return { path, message: "is not allowed here" };
  return { path, message };
};

export const valueIssues = (errors: readonly ErrorObject[]): readonly SchemaIssue[] =>
  errors.slice(0, MAX_ISSUES).map(describe);

/** Why a document is not a schema of its dialect: the deepest error is about the actual mistake. */
export const schemaFault = (errors: readonly ErrorObject[]): string => {
  const first = errors[0];
  if (first === undefined) return "not a valid schema";
  const deepest = errors.reduce(
    (best, error) => (error.instancePath.length > best.instancePath.length ? error : best),
    first,
  );
  const { path, message } = describe(deepest);
  return `${path}: ${message}`;
};
