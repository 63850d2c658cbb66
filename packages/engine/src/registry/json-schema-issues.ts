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

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  null: "null",
};

/** Keywords that bound a count, and what is counted. */
const COUNTED: Readonly<Record<string, readonly [bound: string, thing: string]>> = {
  minLength: ["at least", "character"],
  maxLength: ["at most", "character"],
  minItems: ["at least", "item"],
  maxItems: ["at most", "item"],
  minProperties: ["at least", "member"],
  maxProperties: ["at most", "member"],
};

const BOUNDS: Readonly<Record<string, string>> = {
  minimum: "at least",
  maximum: "at most",
  exclusiveMinimum: "greater than",
  exclusiveMaximum: "less than",
};

const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

const oneOf = (words: unknown): string => {
  const text = listed(words)
    .map((word) => JSON.stringify(word))
    .join(", ");
  return text.length <= MAX_SHOWN_WORDS ? text : "the allowed values";
};

type Params = Readonly<Record<string, unknown>>;

const sentenceOf = (keyword: string, params: Params): string | undefined => {
  const counted = COUNTED[keyword];
  if (counted !== undefined)
    return `must have ${counted[0]} ${params.limit} ${counted[1]}${params.limit === 1 ? "" : "s"}`;
  const bound = BOUNDS[keyword];
  if (bound !== undefined) return `must be ${bound} ${params.limit}`;
  switch (keyword) {
    case "type":
      return `must be ${listed(params.type)
        .map((name) => TYPES[String(name)] ?? String(name))
        .join(" or ")}`;
    case "enum":
      return `must be one of ${oneOf(params.allowedValues)}`;
    case "const":
      return `must be ${oneOf(params.allowedValue)}`;
    case "multipleOf":
      return `must be a multiple of ${params.multipleOf}`;
    case "pattern":
      return `must match the pattern ${JSON.stringify(params.pattern)}`;
    case "uniqueItems":
      return "must not have the same item twice";
    case "false schema":
      return "is not allowed here";
    default:
      return undefined;
  }
};

const describe = (error: ErrorObject): SchemaIssue => {
  const segments = segmentsOf(error.instancePath);
  const params = error.params as Params;
  const extra = params.additionalProperty ?? params.unevaluatedProperty;
  if (typeof extra === "string")
    return { path: formatJsonPath([...segments, extra]), message: "is not a known member" };
  if (error.keyword === "required" && typeof params.missingProperty === "string")
    return { path: formatJsonPath([...segments, params.missingProperty]), message: "is missing" };
  const message = sentenceOf(error.keyword, params) ?? error.message ?? `breaks ${error.keyword}`;
  return { path: formatJsonPath(segments), message };
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
