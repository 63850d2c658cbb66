// The calls of a brain's answer in the form that the worker uses: each has a possible tool name, an alias that is unique within
// the step, and arguments that are an object - or the reason why they are not.
//   AC1. The arguments of one step are bounded together: planning, writing and reading them is work in one piece, and other
//        tenants wait for it. A call beyond the bound is refused; the model is told and asks for it in a later step.
//   The model knows the call by its alias. Models leave ids out and repeat them (W-03), so the alias is never a key.

import { roughBytes } from "@toolplane/engine";
import { type JsonObject, parseRawArguments, storableText, ToolplaneError } from "@toolplane/protocol";
import { isToolName } from "@toolplane/protocol/registry";
import type { BrainToolCall } from "../brains/brain.ts";
import { planToolCalls, shownToolName, thoughtToolCalls } from "../transcript/tool-calls.ts";

export interface AskedCall {
  readonly alias: string;
  /** The model's text, made fit to be shown when it is not a tool name; `fault` says so. */
  readonly name: string;
  /** `{_raw}` when it is not an object; `fault` says why. */
  readonly arguments: JsonObject;
  readonly fault?: ToolplaneError | undefined;
  /** The entry of the thought card. */
  readonly shown: JsonObject;
}

/** What is kept of arguments that are not JSON. */
const MAX_RAW_CHARS = 4000;
/** Beyond this many calls a model is repeating itself, so the rest is dropped. */
const MAX_KEPT_CALLS = 256;

/**
 * What all arguments of a step may have on its thought: with text and reasoning it fits into one card, however it is
 * escaped. Beyond it they are shown shortened; what is called gets all of them.
 */
const MAX_SHOWN_CHARS = 128 * 1024;

/** Some 50 ms of work, and twice the largest arguments of one call. */
export const MAX_STEP_BYTES = 2 * 1024 * 1024;

const cut = (text: string, length: number): string => storableText(text.slice(0, length));

const noSuchName = (): ToolplaneError =>
  new ToolplaneError(
    "not_found",
    "no tool has such a name: names are letters, digits, _ and -; use one that is offered",
  );

const tooMuch = (): ToolplaneError =>
  new ToolplaneError(
    "payload_too_large",
    `the arguments of one step have at most ${MAX_STEP_BYTES} bytes together: this call was not made; ask for it in the next step`,
    { detail: { max_bytes: MAX_STEP_BYTES } },
  );

/** Whether a call's arguments still fit into the step. Those that do not fit take no room. */
const createStepRoom = (): ((raw: unknown) => boolean) => {
  let left = MAX_STEP_BYTES;
  return (raw) => {
    const bytes = roughBytes(raw, left + 1);
    if (bytes > left) return false;
    left -= bytes;
    return true;
  };
};

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

const leftOut = (raw: unknown): Pick<AskedCall, "arguments" | "fault"> => ({
  arguments: { _raw: typeof raw === "string" ? cut(raw, MAX_RAW_CHARS) : "" },
  fault: tooMuch(),
});

const shownOf = (id: string, name: string, args: unknown): JsonObject =>
  thoughtToolCalls([{ id, name, arguments: args }])[0] ?? {};

const argumentsOf = ({ shown }: AskedCall): string =>
  String((shown.function as { readonly arguments?: unknown } | undefined)?.arguments ?? "");

/** A fair share for each when they do not fit together. */
const fitShown = (calls: readonly AskedCall[]): readonly AskedCall[] => {
  const total = calls.reduce((sum, call) => sum + argumentsOf(call).length, 0);
  if (total <= MAX_SHOWN_CHARS) return calls;
  const share = Math.floor(MAX_SHOWN_CHARS / calls.length);
  return calls.map((call) => {
    const text = argumentsOf(call);
    if (text.length <= share) return call;
    return { ...call, shown: shownOf(call.alias, call.name, { _shortened: cut(text, share) }) };
  });
};

/** Entries that are not objects, or have no name, are dropped. */
export const readAskedCalls = (calls: readonly BrainToolCall[], stepNumber: number): readonly AskedCall[] => {
  const hasRoom = createStepRoom();
  return fitShown(
    planToolCalls(calls.slice(0, MAX_KEPT_CALLS), stepNumber).map(({ id, name: written, arguments: given }) => {
      const name = shownToolName(written);
      const read = hasRoom(given) ? readArguments(given) : leftOut(given);
      const fault = isToolName(written) ? read.fault : noSuchName();
      const raw = read.fault === undefined ? read.arguments : (read.arguments._raw ?? "");
      return { alias: id, name, ...read, fault, shown: shownOf(id, name, raw) };
    }),
  );
};
