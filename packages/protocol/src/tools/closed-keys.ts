// Where the keys of a tool definition are the author's own, and where they are a closed set. A key named `__proto__` is never kept
// (json-copy.ts, parse-json.ts). Where keys are closed it is refused by name like every other unknown key, because dropping it would hide a mistake.

import { ToolplaneError } from "../errors/toolplane-error.ts";
import { formatJsonPath, type JsonPathSegment } from "../json/json-path.ts";
import type { JsonValue } from "../json/json-value.ts";

/**
 * Whether an object at this place of a definition has names that its author chooses: JSON Schemas, and the values in `args.defaults` and
 * `args.fixed`.
 */
export const hasFreeKeys = ([part, option, ...path]: readonly JsonPathSegment[]): boolean =>
  part === "parameters" ||
  (part === "options" && (option === "output_schema" || (option === "args" && path.length >= 2)));

const refuseAt = (value: unknown, path: readonly JsonPathSegment[], levelsLeft: number): void => {
  // The caps speak of what is deeper.
  if (typeof value !== "object" || value === null || levelsLeft === 0 || hasFreeKeys(path)) return;
  if (Object.hasOwn(value, "__proto__"))
    throw new ToolplaneError(
      "bad_request",
      `tool definition is not valid: unknown key "__proto__" at ${formatJsonPath(path)}`,
    );
  for (const [key, item] of Object.entries(value))
    refuseAt(item, [...path, Array.isArray(value) ? Number(key) : key], levelsLeft - 1);
};

/** For the reader of a JSON text with a definition, before it drops the key. */
export const keepDefinition = (value: JsonValue, maxDepth: number): JsonValue => {
  refuseAt(value, [], maxDepth);
  return value;
};
