// Asks the SDK once, in one piece or as a stream, and reads the answer. Tool calls are kept as the model wrote them: arguments
// that are not JSON stay text, and the worker fails that one call.

import { generateText, type LanguageModel, type LanguageModelUsage, streamText } from "ai";
import type { BrainPiece, BrainToolCall } from "../brain.ts";
import type { callSettings } from "./call-settings.ts";
import type { toSdkMessages } from "./model-messages.ts";

export interface ModelAsk {
  readonly model: LanguageModel;
  readonly system: string;
  readonly messages: ReturnType<typeof toSdkMessages>;
  readonly settings: ReturnType<typeof callSettings>;
  readonly signal: AbortSignal;
  readonly onPiece: (piece: BrainPiece) => void;
}

export interface ModelAnswer {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly BrainToolCall[];
  readonly usage: LanguageModelUsage;
  readonly model?: string | undefined;
}

const optionsOf = ({ model, system, messages, settings, signal }: ModelAsk) => ({
  ...settings,
  model,
  messages,
  abortSignal: signal,
  // We count the attempts ourselves, with our clock.
  maxRetries: 0,
  ...(system.trim() === "" ? {} : { instructions: system }),
});

interface SdkToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

const readCall = ({ toolCallId, toolName, input }: SdkToolCall): BrainToolCall => ({
  id: toolCallId,
  name: toolName,
  arguments: input,
});

export const askOnce = async (ask: ModelAsk): Promise<ModelAnswer> => {
  const result = await generateText(optionsOf(ask));
  const reasoning = result.reasoningText ?? "";
  if (reasoning !== "") ask.onPiece({ kind: "reasoning", text: reasoning });
  if (result.text !== "") ask.onPiece({ kind: "content", text: result.text });
  const toolCalls = result.toolCalls.map(readCall);
  for (const { name } of toolCalls) ask.onPiece({ kind: "tool_call", text: name });
  return { text: result.text, reasoning, toolCalls, usage: result.usage, model: result.response.modelId };
};

const NO_USAGE: LanguageModelUsage = {
  inputTokens: undefined,
  outputTokens: undefined,
  totalTokens: undefined,
  inputTokenDetails: { noCacheTokens: undefined, cacheReadTokens: undefined, cacheWriteTokens: undefined },
  outputTokenDetails: { textTokens: undefined, reasoningTokens: undefined },
};

export const askStream = async (ask: ModelAsk): Promise<ModelAnswer> => {
  let failure: { readonly error: unknown } | undefined;
  // Errors are parts of the stream; without a handler the SDK would print them together with the request.
  const { stream } = streamText({ ...optionsOf(ask), onError: () => {} });
  let text = "";
  let reasoning = "";
  const toolCalls: BrainToolCall[] = [];
  let usage = NO_USAGE;
  let model: string | undefined;
  for await (const part of stream) {
    if (part.type === "text-delta") {
      text += part.text;
      ask.onPiece({ kind: "content", text: part.text });
    } else if (part.type === "reasoning-delta") {
      reasoning += part.text;
      ask.onPiece({ kind: "reasoning", text: part.text });
    } else if (part.type === "tool-input-start") {
      ask.onPiece({ kind: "tool_call", text: part.toolName });
    } else if (part.type === "tool-call") {
      toolCalls.push(readCall(part));
    } else if (part.type === "finish-step") {
      usage = part.usage;
      model = part.response.modelId;
    } else if (part.type === "error") {
      failure ??= { error: part.error };
    }
  }
  if (failure !== undefined) throw failure.error;
  ask.signal.throwIfAborted();
  return { text, reasoning, toolCalls, usage, model };
};
