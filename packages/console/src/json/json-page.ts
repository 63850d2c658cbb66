// Which part of a large value is drawn. A page draws a bounded number of nodes at once; a person asks for more. Pure.

import { isRecord } from "../api/problem.ts";

export const CHILDREN_PER_PAGE = 100;
export const CHARS_PER_PAGE = 4_000;
/** Deeper levels, and levels with more children, are closed at first. */
const OPEN_DEPTH = 2;
const OPEN_CHILDREN = 50;

export type JsonKind = "object" | "array" | "string" | "number" | "boolean" | "null";

export const kindOfJson = (value: unknown): JsonKind => {
  if (Array.isArray(value)) return "array";
  if (isRecord(value)) return "object";
  if (typeof value === "string") return "string";
  if (typeof value === "number") return "number";
  return typeof value === "boolean" ? "boolean" : "null";
};

export const countOf = (value: unknown): number => {
  if (Array.isArray(value)) return value.length;
  return isRecord(value) ? Object.keys(value).length : 0;
};

export const isOpenAtFirst = (value: unknown, depth: number): boolean =>
  depth < OPEN_DEPTH && countOf(value) <= OPEN_CHILDREN;

/** The first children of an object or an array, and how many are left. */
export const pageOf = (
  value: unknown,
  shown: number,
): { readonly entries: readonly (readonly [string, unknown])[]; readonly left: number } => {
  const count = countOf(value);
  const size = Math.min(shown, count);
  if (Array.isArray(value))
    return { entries: value.slice(0, size).map((item, at) => [String(at), item]), left: count - size };
  if (!isRecord(value)) return { entries: [], left: 0 };
  const entries = Object.keys(value)
    .slice(0, size)
    .map((key) => [key, value[key]] as const);
  return { entries, left: count - size };
};

/** What a closed node shows of itself. */
export const summaryOf = (value: unknown): string => {
  const count = countOf(value);
  if (Array.isArray(value)) return count === 1 ? "[ 1 item ]" : `[ ${count} items ]`;
  return count === 1 ? "{ 1 key }" : `{ ${count} keys }`;
};

/** The text of a value for copying and for the plain view; a text stays as it is. */
export const plainJson = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "null");
