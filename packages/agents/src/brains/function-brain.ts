// A brain that is the user's own function: it sees the request and gives the answer, or only a text.

import { isRecord, isToolplaneError, type JsonObject, ToolplaneError, understandError } from "@toolplane/protocol";
import type { Brain, BrainAnswer, BrainRequest, BrainToolCall } from "./brain.ts";
import { canceled, unlessAborted } from "./unless-aborted.ts";

export interface FunctionAnswer {
  readonly text?: string | undefined;
  readonly reasoning?: string | undefined;
  readonly toolCalls?: readonly BrainToolCall[] | undefined;
  readonly usage?: JsonObject | undefined;
  readonly cost?: number | undefined;
  readonly model?: string | undefined;
}

export type BrainFunction = (request: BrainRequest) => Promise<FunctionAnswer | string> | FunctionAnswer | string;

const failure = (error: unknown, name: string): ToolplaneError => {
  if (isToolplaneError(error)) return error;
  const known = understandError(error);
  return new ToolplaneError(known.code, `the function ${name} failed: ${known.message}`, { cause: error });
};

const answerOf = (given: unknown, name: string): BrainAnswer => {
  if (typeof given === "string") return { text: given, toolCalls: [], model: `function/${name}` };
  if (!isRecord(given)) {
    throw new ToolplaneError("bad_request", `the function ${name} must return a text or {text, toolCalls}`);
  }
  const { text = "", toolCalls = [], ...rest } = given as FunctionAnswer;
  if (typeof text !== "string" || !Array.isArray(toolCalls)) {
    throw new ToolplaneError("bad_request", `the function ${name} must return a text and a list of toolCalls`);
  }
  return { model: `function/${name}`, ...rest, text, toolCalls: toolCalls as readonly BrainToolCall[] };
};

export const createFunctionBrain = (run: BrainFunction, name = "brain"): Brain => ({
  async think(request) {
    if (request.signal.aborted) throw canceled();
    try {
      const work = (async () => run(request))();
      return answerOf(await unlessAborted(work, request.signal), name);
    } catch (error) {
      throw request.signal.aborted ? canceled() : failure(error, name);
    }
  },
});
