// A text whose every key means something, such as the settings that a person sends: nothing of it is dropped.

import { ToolplaneError } from "../errors/toolplane-error.ts";
import { formatJsonPath, type JsonPathSegment } from "./json-path.ts";
import type { JsonValue } from "./json-value.ts";

/**
 * Refuses the key `__proto__` and names its place. Replaces a number beyond all range by the largest one there is: the schema of the
 * route then refuses it and names the bound.
 */
const settleExact = (value: unknown, path: readonly JsonPathSegment[], levelsLeft: number): unknown => {
  if (typeof value === "number") return Math.max(Math.min(value, Number.MAX_VALUE), -Number.MAX_VALUE);
  // The caps speak of what is deeper.
  if (typeof value !== "object" || value === null || levelsLeft === 0) return value;
  if (Object.hasOwn(value, "__proto__"))
    throw new ToolplaneError(
      "bad_request",
      `the JSON is not valid: unknown key "__proto__" at ${formatJsonPath(path)}`,
    );
  for (const [key, item] of Object.entries(value)) {
    const place = Array.isArray(value) ? Number(key) : key;
    (value as Record<string, unknown>)[key] = settleExact(item, [...path, place], levelsLeft - 1);
  }
  return value;
};

export const keepAll = (value: JsonValue, maxDepth: number): JsonValue => settleExact(value, [], maxDepth) as JsonValue;
