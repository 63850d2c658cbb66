// A brain that follows a script: for demos, tests and work without a network. Keeps no state (SCR1).

import { isToolplaneError, type JsonObject, type JsonValue, ToolplaneError } from "@toolplane/protocol";
import { SUBMIT_RESULT } from "@toolplane/protocol/registry";
import { characterEdge } from "../../transcript/slice-text.ts";
import type { Brain, BrainAnswer, BrainPiece, BrainRequest, BrainToolCall } from "../brain.ts";
import { canceled, unlessAborted } from "../unless-aborted.ts";
import type { Computed, Script, ScriptCall, ScriptStep } from "./script.ts";
import { renderScriptText, renderScriptValue, type TemplateScope } from "./script-template.ts";
import { type ScriptView, scopeOf } from "./script-view.ts";
import { callsOf, findPosition, type ScriptPosition } from "./script-walk.ts";

/** Pieces of this size, so that a stream can be seen streaming. */
const PIECE_CHARS = 24;

const emit = (kind: BrainPiece["kind"], text: string, onPiece: BrainRequest["onPiece"]): void => {
  for (let at = 0; at < text.length; ) {
    const end = characterEdge(text, at + PIECE_CHARS);
    onPiece({ kind, text: text.slice(at, end) });
    at = end;
  }
};

const valueFor = <T extends JsonValue>(value: Computed<T>, view: ScriptView, scope: TemplateScope): JsonValue =>
  typeof value === "function" ? value(view) : renderScriptValue(value, scope);

const textFor = (value: Computed<string> | undefined, view: ScriptView, scope: TemplateScope): string => {
  if (value === undefined) return "";
  return typeof value === "function" ? value(view) : renderScriptText(value, scope);
};

const toolCall = (call: ScriptCall, view: ScriptView, scope: TemplateScope): BrainToolCall => {
  const { arguments: args = {}, id, tool } = call;
  const given = typeof args === "function" ? args(view) : args;
  // A text stays as it is: it stands for malformed arguments of a model.
  const filled = typeof given === "string" ? given : (renderScriptValue(given, scope) as JsonObject);
  return id === undefined ? { name: tool, arguments: filled } : { id, name: tool, arguments: filled };
};

const toolCallsOf = (step: ScriptStep, view: ScriptView, scope: TemplateScope): readonly BrainToolCall[] => {
  if (step.submit !== undefined) {
    return [{ name: SUBMIT_RESULT, arguments: { result: valueFor(step.submit, view, scope) } }];
  }
  return callsOf(step, view).map((call) => toolCall(call, view, scope));
};

const failure = ({ code, message }: NonNullable<ScriptStep["fail"]>): ToolplaneError =>
  new ToolplaneError(code, message ?? "the script says that thinking fails here");

const answer = ({ step, view }: ScriptPosition, model: string): BrainAnswer => {
  const scope = scopeOf(view);
  return {
    text: textFor(step.finish ?? step.say, view, scope),
    toolCalls: toolCallsOf(step, view, scope),
    model,
    ...(step.reasoning === undefined ? {} : { reasoning: renderScriptText(step.reasoning, scope) }),
    ...(step.usage === undefined ? {} : { usage: step.usage }),
    ...(step.cost === undefined ? {} : { cost: step.cost }),
  };
};

const placed = (error: unknown, place: string): ToolplaneError => {
  const message = isToolplaneError(error) ? error.message : "its function failed";
  return new ToolplaneError(isToolplaneError(error) ? error.code : "bad_request", `${place}: ${message}`, {
    cause: error,
  });
};

const answerAt = (position: ScriptPosition, model: string): BrainAnswer => {
  try {
    return answer(position, model);
  } catch (error) {
    throw placed(error, position.place);
  }
};

export const createScriptBrain = (script: Script): Brain => ({
  async think(request) {
    if (request.signal.aborted) throw canceled();
    const position = findPosition(script, request);
    if (position.step.hang === true) return unlessAborted(new Promise<never>(() => {}), request.signal);
    if (position.step.fail !== undefined) throw failure(position.step.fail);
    const given = answerAt(position, `script/${script.name}`);
    emit("reasoning", given.reasoning ?? "", request.onPiece);
    emit("content", given.text, request.onPiece);
    for (const call of given.toolCalls) request.onPiece({ kind: "tool_call", text: call.name });
    return given;
  },
});
