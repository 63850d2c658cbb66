// Makes the result of a call from what its run ended with: it takes prepared results as they are, removes control keys of foreign bodies (I11) and
// secrets (I8), and keeps the size under the cap. It never fails, because every call must be able to settle (I1).

import {
  copyJson,
  draftFailure,
  draftResult,
  exceedsBytes,
  isRecord,
  isToolplaneError,
  type JsonObject,
  type JsonValue,
  type ResultContext,
  type ResultDraft,
  type ResultOutcome,
  stripControl,
  ToolplaneError,
  type ToolResultContent,
  tryParseViews,
} from "@toolplane/protocol";
import type { Scrubber } from "../secrets/scrubber.ts";
import { PreparedResult } from "../tools/tool-result.ts";
import { previewJson } from "./preview.ts";

/** Enough to see what it was; the tool should return a pointer to the rest. */
const PREVIEW_CHARS = 2_000;
/** One character of a secret as an escape in an escape: `\\u002f`. */
const LONGEST_ESCAPE = 8;
/** What the plane keeps in one card (1 MiB) less the card's own fields. */
export const DEFAULT_MAX_RESULT_BYTES = 896 * 1024;
/** What the result builder sets aside for the card around a result. */
const CARD_ROOM_BYTES = 128 * 1024;

export interface OutcomeInput {
  readonly context: ResultContext;
  readonly scrubber: Scrubber;
  readonly control: "allow" | "strip";
  readonly maxResultBytes: number;
}

export interface ReadyResult extends ResultDraft {
  /** The control keys a foreign body had; they are not in the result. */
  readonly strippedControl?: readonly string[] | undefined;
}

const contextOf = ({ context, maxResultBytes }: OutcomeInput): ResultContext => ({
  ...context,
  caps: { maxBytes: maxResultBytes + CARD_ROOM_BYTES },
});

const withContent = (draft: ResultDraft, content: ToolResultContent): ReadyResult => ({
  ...draft,
  card: () => draft.card(content),
  content,
});

/** A failed result that shows its error in the result too. */
export const buildFailed = (
  input: OutcomeInput,
  error: unknown,
  status: "failed" | "timeout" = "failed",
): ReadyResult => {
  const draft = draftFailure(contextOf(input), error, { status });
  const { content } = draft;
  const { scrubber } = input;
  return withContent(draft, {
    ...content,
    result: scrubber.value(content.result),
    error: scrubber.value(content.error),
  });
};

/**
 * The value as clean JSON. A value that is not JSON is returned as it is: building the result then names the fault. Undefined
 * when the value is too large; measuring it a second time would take as long as the first.
 */
const cleanResult = (
  value: unknown,
  { scrubber, control, maxResultBytes }: OutcomeInput,
): { readonly value: unknown; readonly stripped: readonly string[] } | undefined => {
  let json: JsonValue;
  try {
    json = copyJson(value, { maxBytes: maxResultBytes });
  } catch (error) {
    return isToolplaneError(error) && error.code === "result_too_large" ? undefined : { value, stripped: [] };
  }
  const clean = control === "strip" ? stripControl(json) : { value: json, stripped: [] };
  return { value: scrubber.value(clean.value), stripped: clean.stripped.map((key) => scrubber.text(key)) };
};

const NOTHING = { value: undefined, stripped: [] } as const;

/** A failure that says how large the result was and shows its beginning. */
export const buildTooLarge = (input: OutcomeInput, value: unknown, limit: string): ReadyResult => {
  const { scrubber, maxResultBytes } = input;
  // Secrets are removed before the text is cut, so that no half of a secret is left at the cut.
  const margin = (scrubber.forms[0]?.text.length ?? 0) * LONGEST_ESCAPE;
  const { text, bytes, exact } = previewJson(value, PREVIEW_CHARS + margin);
  const size = exact ? `${bytes} bytes` : `more than ${bytes} bytes`;
  const message = `the result is ${size} of JSON, ${limit}; return a pointer instead`;
  const preview = scrubber.text(text).slice(0, PREVIEW_CHARS).toWellFormed();
  const detail = { bytes, max_bytes: maxResultBytes, preview };
  return buildFailed(input, new ToolplaneError("result_too_large", message, { detail }));
};

const isOverCap = (content: ToolResultContent, maxResultBytes: number): boolean =>
  (isRecord(content.error) && content.error.code === "result_too_large" && content.result === null) ||
  exceedsBytes(JSON.stringify(content.result), maxResultBytes);

export const outcomeOf = (value: unknown): ResultOutcome =>
  value instanceof PreparedResult ? value.fields : { status: "success", result: value };

/** What a tool returned. */
export const buildValue = (input: OutcomeInput, value: unknown): ReadyResult => {
  const outcome = outcomeOf(value);
  const { maxResultBytes } = input;
  const tooLarge = (): ReadyResult => buildTooLarge(input, outcome.result, `the limit is ${maxResultBytes}`);
  const clean = outcome.result === undefined ? NOTHING : cleanResult(outcome.result, input);
  if (clean === undefined) return tooLarge();
  const draft = draftResult(contextOf(input), { ...outcome, result: clean.value });
  const { content } = draft;
  if (isOverCap(content, maxResultBytes)) return tooLarge();
  // Errors made while building may quote what the tool gave, so they are scrubbed too.
  const ready = withContent(draft, { ...content, error: input.scrubber.value(content.error) });
  return clean.stripped.length === 0 ? ready : { ...ready, strippedControl: clean.stripped };
};

/** What a session keeps: the state of a prepared result, and only of one that succeeded. */
export const sessionStateOf = (
  value: unknown,
  content: ToolResultContent,
  scrubber: Scrubber,
): JsonObject | undefined => {
  if (!(value instanceof PreparedResult) || content.status !== "success") return undefined;
  const { sessionState } = value.fields;
  if (sessionState === undefined) return undefined;
  try {
    return scrubber.value(copyJson(sessionState)) as JsonObject;
  } catch {
    // State that is not JSON is dropped; the call keeps its result.
    return undefined;
  }
};

/** The views of a prepared result that succeeded, without secrets (I8). The two-step way has no place for views. */
export const viewsOf = (value: unknown, content: ToolResultContent, scrubber: Scrubber): JsonObject | undefined => {
  if (!(value instanceof PreparedResult) || content.status !== "success") return undefined;
  const views = value.fields.views === undefined ? undefined : tryParseViews(value.fields.views);
  return views === undefined ? undefined : (scrubber.value(views) as JsonObject);
};
