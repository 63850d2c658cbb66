// The control namespace of a result: keys that begin with `__cg_` at the top level of `result`. They are read only there, so
// they are removed only there; deeper they are ordinary data.
// I11. A tool service's own result keeps them. A body relayed from elsewhere (http, mcp, host) loses them unless the definition
// allows control; otherwise any web page could end an agent's turn.

import { isRecord, type JsonObject, type JsonValue } from "../json/json-value.ts";
import { type AfterExecution, isAfterExecution } from "./value-sets.ts";

export const CONTROL_PREFIX = "__cg_";
const CONTROL_KEY = "__cg_control";

export interface StrippedBody {
  readonly value: JsonValue;
  /** The keys that were removed, sorted; for the audit entry. Empty when nothing was touched. */
  readonly stripped: readonly string[];
}

export const stripControl = (body: JsonValue): StrippedBody => {
  if (!isRecord(body)) return { value: body, stripped: [] };
  const stripped = Object.keys(body).filter((key) => key.startsWith(CONTROL_PREFIX));
  if (stripped.length === 0) return { value: body as JsonObject, stripped };
  const kept = Object.entries(body).filter(([key]) => !key.startsWith(CONTROL_PREFIX));
  return { value: Object.fromEntries(kept) as JsonObject, stripped: stripped.sort() };
};

/** The override a result carries, if it carries a valid one. */
export const readOverride = (result: unknown): AfterExecution | undefined => {
  if (!isRecord(result) || !Object.hasOwn(result, CONTROL_KEY)) return undefined;
  const control = result[CONTROL_KEY];
  if (!isRecord(control) || !Object.hasOwn(control, "after_execution")) return undefined;
  const wish = typeof control.after_execution === "string" ? control.after_execution.trim() : undefined;
  return isAfterExecution(wish) ? wish : undefined;
};

/** Writes an override; a result that is not an object is wrapped so that there is a place for it. */
export const writeOverride = (result: JsonValue, afterExecution: AfterExecution): JsonObject => {
  if (!isRecord(result)) return { value: result, [CONTROL_KEY]: { after_execution: afterExecution } };
  const before = (result as JsonObject)[CONTROL_KEY];
  const control = isRecord(before) ? (before as JsonObject) : {};
  return { ...(result as JsonObject), [CONTROL_KEY]: { ...control, after_execution: afterExecution } };
};
