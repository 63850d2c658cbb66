// What a schema found wrong, in our words: what was expected, and what came. The path is said beside it (parse-with.ts).
// No text that came is quoted, because a text in the wrong place may be a secret (I8): its length or its type is said.

import { shortText } from "../json/json-path.ts";

/** A complaint quotes what it found, for example an unknown key, which may be a megabyte long. */
const MAX_ISSUE_LENGTH = 300;

/** What zod, and libraries that follow its shape, put into an error. The further fields depend on the code. */
export interface SchemaIssue {
  readonly path?: readonly PropertyKey[] | undefined;
  readonly message: string;
  readonly code?: string | undefined;
  readonly origin?: unknown;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly inclusive?: unknown;
  readonly divisor?: unknown;
  readonly values?: unknown;
  readonly keys?: unknown;
  readonly format?: unknown;
}

/** The value that was checked, where it is known. */
export interface Checked {
  readonly input: unknown;
}

const EXPECTED = "Invalid input: expected ";
const OPTION = "Invalid option: ";
/** The beginnings of zod's own words; a schema with words of its own keeps them. */
const DEFAULT_WORDS = /^(Invalid |Too (small|big): |Unrecognized keys?: )/;

const valueAt = (input: unknown, path: readonly PropertyKey[]): unknown => {
  let value = input;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
};

const typeText = (value: unknown): string => {
  if (Array.isArray(value)) return "array";
  return value === null ? "null" : typeof value;
};

const UNITS: Readonly<Record<string, string>> = { string: "characters", array: "items", map: "entries", set: "items" };

const sizeText = (value: unknown): string => {
  const size = typeof value === "string" || Array.isArray(value) ? value.length : undefined;
  return size === undefined ? typeText(value) : String(size);
};

/** A number that no JSON reader can tell from infinity is read as the largest one (parse-json.ts). */
const isBeyond = (value: unknown): value is number => typeof value === "number" && Math.abs(value) >= Number.MAX_VALUE;

const came = (value: unknown): string => {
  if (isBeyond(value)) return `a number that is too ${value > 0 ? "large" : "small"}`;
  return typeof value === "number" || typeof value === "bigint" || typeof value === "boolean"
    ? String(value)
    : typeText(value);
};

const NUMBERS: ReadonlySet<string> = new Set(["number", "int", "bigint"]);

/** A number of a query is written as text: it is the number that is out of bounds. */
const asNumber = (value: unknown): unknown => {
  if (typeof value !== "string" || value.trim() === "") return value;
  const number = Number(value);
  return Number.isNaN(number) ? value : number;
};

const boundText = (issue: SchemaIssue, checked: Checked | undefined, isLeast: boolean): string => {
  const bound = String(isLeast ? issue.minimum : issue.maximum);
  const unit = UNITS[String(issue.origin)];
  const strict = issue.inclusive === false;
  const how = isLeast ? (strict ? "more than" : "at least") : strict ? "less than" : "at most";
  const found = checked && valueAt(checked.input, issue.path ?? []);
  const value = NUMBERS.has(String(issue.origin)) ? asNumber(found) : found;
  const got = checked === undefined ? "" : `, got ${unit === undefined ? came(value) : sizeText(value)}`;
  return `expected ${how} ${bound}${unit === undefined ? "" : ` ${unit}`}${got}`;
};

const WANTED: Readonly<Record<string, string>> = { int: "a whole number" };

const typeIssueText = (issue: SchemaIssue, checked: Checked | undefined): string => {
  const [expected = "", received = ""] = issue.message.slice(EXPECTED.length).split(", received ");
  const wanted = WANTED[expected] ?? expected;
  if (received === "undefined") return expected === "nonoptional" ? "missing" : `missing, expected ${wanted}`;
  if (received === "") return `expected ${wanted}`;
  if (received === "NaN") return `expected ${wanted}, got a text that is not a number`;
  if (expected !== "int" || checked === undefined) return `expected ${wanted}, got ${received}`;
  return `expected ${wanted}, got ${came(asNumber(valueAt(checked.input, issue.path ?? [])))}`;
};

const optionText = (issue: SchemaIssue, checked: Checked | undefined): string => {
  const expected = issue.message.startsWith(OPTION)
    ? issue.message.slice(OPTION.length)
    : issue.message.replace(/^Invalid input: /, "");
  if (checked === undefined) return expected;
  const value = valueAt(checked.input, issue.path ?? []);
  if (value === undefined) return `missing, ${expected}`;
  return `${expected}, got ${typeof value === "string" ? "another text" : came(value)}`;
};

const FORMATS: Readonly<Record<string, string>> = {
  datetime: "a time as 2026-01-31T12:00:00Z",
  uuid: "a UUID",
  url: "a URL",
  email: "an e-mail address",
  safeint: "a whole number",
};

const keysText = (keys: unknown): string => {
  const names = (Array.isArray(keys) ? keys : []).map((key) => JSON.stringify(String(key)));
  return `unknown ${names.length === 1 ? "key" : "keys"} ${names.join(", ")}`;
};

const ownWords = (issue: SchemaIssue, checked: Checked | undefined): string => {
  switch (issue.code) {
    case "invalid_type":
      return typeIssueText(issue, checked);
    case "too_small":
      return boundText(issue, checked, true);
    case "too_big":
      return boundText(issue, checked, false);
    case "invalid_value":
      return optionText(issue, checked);
    case "unrecognized_keys":
      return keysText(issue.keys);
    case "invalid_format":
      return FORMATS[String(issue.format)] === undefined
        ? "does not have the expected form"
        : `expected ${FORMATS[String(issue.format)]}`;
    case "not_multiple_of":
      return `expected a multiple of ${String(issue.divisor)}`;
    case "invalid_union":
      return "has none of the forms that are allowed here";
    case "invalid_key":
      return "has a key that is not allowed";
    case "invalid_element":
      return "has a value that is not allowed";
    default:
      return issue.message.startsWith(EXPECTED) ? typeIssueText(issue, checked) : issue.message;
  }
};

const samePath = (a: SchemaIssue, b: SchemaIssue): boolean =>
  a.path?.length === b.path?.length && (a.path ?? []).every((segment, index) => segment === b.path?.[index]);

const isSafeIntBound = ({ code, minimum, maximum }: SchemaIssue): boolean =>
  (code === "too_big" && maximum === Number.MAX_SAFE_INTEGER) ||
  (code === "too_small" && minimum === Number.MIN_SAFE_INTEGER);

/** Leaves out the bounds of the type of whole numbers, where a field has a bound of its own: only that one helps the reader. */
export const withoutTypeBounds = <Issue extends SchemaIssue>(issues: readonly Issue[]): readonly Issue[] =>
  issues.filter(
    (issue) =>
      !isSafeIntBound(issue) ||
      !issues.some((other) => other !== issue && other.code === issue.code && samePath(issue, other)),
  );

export const describeSchemaIssue = (issue: SchemaIssue, checked?: Checked): string =>
  shortText(DEFAULT_WORDS.test(issue.message) ? ownWords(issue, checked) : issue.message, MAX_ISSUE_LENGTH);
