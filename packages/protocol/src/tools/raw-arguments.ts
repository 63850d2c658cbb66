// The caller's arguments, before anything is layered on them. A model sends JSON text, a program an object, some send nothing.
// Any other value is refused: a silent `_raw` wrapper would reach the tool (W-20).

import { ToolplaneError } from "../errors/toolplane-error.ts";
import { canonicalText } from "../json/canonical-text.ts";
import { copyJson } from "../json/json-copy.ts";
import type { JsonObject, JsonValue } from "../json/json-value.ts";
import { parseJsonStrict } from "../json/parse-json.ts";
import type { HashText } from "./definition-hash.ts";
import { isJsonObject } from "./schema-walk.ts";

/** Arguments become part of a card, which is smaller; without this limit a batch of 16 MiB would be copied just to measure it. */
const CAPS = { maxBytes: 2 * 1024 * 1024 } as const;

const refuse = (why: string, cause?: unknown): ToolplaneError =>
  new ToolplaneError("bad_request", `arguments: ${why}`, { detail: { path: "$" }, cause });

const read = (raw: unknown): JsonValue => {
  try {
    // The copy drops `__proto__` at every level, sorts keys and refuses what would not survive as JSON.
    return copyJson(typeof raw === "string" ? parseJsonStrict(raw, CAPS) : raw, CAPS);
  } catch (error) {
    if (!(error instanceof ToolplaneError)) throw error;
    if (error.code === "result_too_large" || error.code === "payload_too_large") {
      throw new ToolplaneError("payload_too_large", `arguments: ${error.message}`, { detail: error.detail });
    }
    throw refuse(error.message, error);
  }
};

/** Some models write an empty text when a tool takes nothing. */
const isAbsent = (raw: unknown): boolean =>
  raw === undefined || raw === null || (typeof raw === "string" && raw.trim() === "");

export const parseRawArguments = (raw: unknown): JsonObject => {
  if (isAbsent(raw)) return {};
  const value = read(raw);
  if (isJsonObject(value)) return value;
  throw refuse(`must be an object, not ${Array.isArray(value) ? "an array" : value === null ? "null" : typeof value}`);
};

/**
 * The hash that an idempotency key is bound to (I12): of the caller's own arguments, before layering. So after the tool was
 * redefined, the key still finds its call, and an honest repetition is not a conflict.
 */
export const rawArgumentsHash = (raw: unknown, sha256: HashText): string =>
  sha256(canonicalText(parseRawArguments(raw)));
