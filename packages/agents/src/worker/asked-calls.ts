// The calls of a brain's answer as the worker goes on with them: every one has a name, an alias that is its own within
// the step, and arguments that are an object - or the reason why they are none.
//   The alias is what the model knows the call by. Models leave ids out and repeat them (W-03), so it is never a key.

import { type JsonObject, parseRawArguments, ToolplaneError } from "@toolplane/protocol";
import { MAX_TOOL_NAME_LENGTH } from "@toolplane/protocol/registry";
import type { BrainToolCall } from "../brains/brain.ts";
import { planToolCalls, thoughtToolCalls } from "../transcript/tool-calls.ts";
import { storableText } from "./storable-text.ts";

export interface AskedCall {
  readonly alias: string;
  readonly name: string;
  /** `{_raw}` when it is no object; `fault` says why. */
  readonly arguments: JsonObject;
  readonly fault?: ToolplaneError | undefined;
  /** The entry of the thought card. */
  readonly shown: JsonObject;
}

/** What is kept of arguments that are no JSON. */
const MAX_RAW_CHARS = 4000;
/** Beyond this a model repeats itself; what it says there is nobody's wish. */
const MAX_KEPT_CALLS = 256;

const cut = (text: string, length: number): string => storableText(text.slice(0, length));

const readArguments = (raw: unknown): Pick<AskedCall, "arguments" | "fault"> => {
  try {
    return { arguments: parseRawArguments(raw) };
  } catch (error) {
    const fault =
      error instanceof ToolplaneError
        ? error
        : new ToolplaneError("bad_request", "arguments: they cannot be read; send one JSON object");
    return { arguments: { _raw: typeof raw === "string" ? cut(raw, MAX_RAW_CHARS) : "" }, fault };
  }
};

const shownOf = (id: string, name: string, args: unknown): JsonObject =>
  thoughtToolCalls([{ id, name, arguments: args }])[0] ?? {};

/** Entries that are no objects, or have no name, are dropped. */
export const readAskedCalls = (calls: readonly BrainToolCall[], stepNumber: number): readonly AskedCall[] =>
  planToolCalls(calls.slice(0, MAX_KEPT_CALLS), stepNumber).map((call) => {
    const alias = storableText(call.id);
    const name = cut(call.name, MAX_TOOL_NAME_LENGTH);
    const read = readArguments(call.arguments);
    const raw = read.fault === undefined ? read.arguments : (read.arguments._raw ?? "");
    return { alias, name, ...read, shown: shownOf(alias, name, raw) };
  });
