// What the caller of a tool sent as arguments, before anything is layered on it. A model sends JSON text, a program an
// object, some send nothing. Anything that is not an object is refused: a silent `_raw` wrapper would reach the tool (W-20).

import { ToolplaneError } from "../errors/toolplane-error.ts";
import { canonicalText } from "../json/canonical-text.ts";
import { copyJson } from "../json/json-copy.ts";
import type { JsonObject, JsonValue } from "../json/json-value.ts";
import { parseJsonStrict } from "../json/parse-json.ts";
import type { HashText } from "./definition-hash.ts";
import { isJsonObject } from "./schema-walk.ts";

/** Arguments become part of a card, which is smaller; without this a batch would have 16 MiB of them copied to find out. */
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
 * What an idempotency key is bound to (I12): the caller's own arguments, before layering, so that redefining the tool
 * neither frees the key nor makes an honest repetition a conflict.
 */
export const rawArgumentsHash = (raw: unknown, sha256: HashText): string =>
  sha256(canonicalText(parseRawArguments(raw)));
