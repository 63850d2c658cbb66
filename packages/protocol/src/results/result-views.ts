// Further ways to show a result, made by the tool itself: what a model reads instead of the raw value, what people see,
// how the call reads in one line. They stand beside the result, in its card's metadata, so the value stays what it was.
//   V1. Views never change what a result means: status, error and control live in the content alone.
//   V2. Of a model's view only the explicit provider-native envelope stays structured; any other object becomes text.
//   V3. A value that is not a view is left out; a result is never refused because of its views.

import { type FormattedResult, readFormattedResult } from "../host/host-values.ts";
import { copyJson } from "../json/json-copy.ts";
import { isRecord, type JsonObject, type JsonValue } from "../json/json-value.ts";

export interface ResultViews {
  /** A text, or a provider-native envelope. */
  readonly model?: JsonValue | undefined;
  readonly display?: JsonObject | undefined;
  /** The call in one line, such as `search "cats"`. */
  readonly preview?: string | undefined;
}

/** The metadata key of a tool.result card. */
export const VIEWS_KEY = "views";
/** A view is for reading; the data is in the result. */
export const MAX_VIEWS_BYTES = 256 * 1024;

const isModelView = (model: unknown): boolean =>
  typeof model === "string" || (isRecord(model) && readFormattedResult(model as JsonObject).kind === "native");

/** The views of a result as they are stored; undefined when there is nothing to store. */
export const tryParseViews = (given: unknown): JsonObject | undefined => {
  if (!isRecord(given)) return undefined;
  const { model, display, preview } = given;
  const views = {
    ...(isModelView(model) ? { model } : {}),
    ...(isRecord(display) ? { display } : {}),
    ...(typeof preview === "string" && preview !== "" ? { preview } : {}),
  };
  if (Object.keys(views).length === 0) return undefined;
  try {
    return copyJson(views, { maxBytes: MAX_VIEWS_BYTES }) as JsonObject;
  } catch {
    return undefined;
  }
};

/** The text that a model reads instead of the result; undefined when the tool gave none. */
export const readModelView = (metadata: JsonObject): FormattedResult | undefined => {
  const views = metadata[VIEWS_KEY];
  const model = isRecord(views) ? views.model : undefined;
  return isModelView(model) ? readFormattedResult(model as JsonValue) : undefined;
};
