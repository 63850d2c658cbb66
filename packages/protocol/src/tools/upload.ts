// An upload as plain JSON that is shared with no other object.

import { fromSchemaIssues } from "../errors/parse-with.ts";
import { ToolplaneError } from "../errors/toolplane-error.ts";
import { type CopyCaps, copyJson } from "../json/json-copy.ts";
import type { JsonPathSegment } from "../json/json-path.ts";
import { isRecord, type JsonObject } from "../json/json-value.ts";

export const refusal = (what: string, path: readonly JsonPathSegment[], message: string): ToolplaneError =>
  fromSchemaIssues([{ path, message }], what);

/** YAML anchors can make cycles and bombs, so a bounded copy comes before anything else looks at an upload. */
export const copyUpload = (input: unknown, what: string, caps: CopyCaps): JsonObject => {
  let copy: unknown;
  try {
    copy = copyJson(input, caps);
  } catch (error) {
    if (!(error instanceof ToolplaneError)) throw error;
    const code = error.code === "result_too_large" ? "payload_too_large" : "bad_request";
    throw new ToolplaneError(code, `${what} is not valid: ${error.message}`, { detail: error.detail });
  }
  if (!isRecord(copy)) throw refusal(what, [], "must be a mapping");
  return copy as JsonObject;
};

/** A definition is shared by every call made under it; a tool that changes its arguments must not change the tool. */
export const freezeDeep = <T>(value: T): T => {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) freezeDeep(member);
  }
  return value;
};
