// A chosen model as the `ai` SDK's object. Every provider gets its address and key from here and nothing from this process's
// environment; warnings of a provider package about unsupported settings go to the log instead of the console.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { type LanguageModel, type LanguageModelMiddleware, wrapLanguageModel } from "ai";
import type { ModelChoice } from "./choose-model.ts";

/** The name under which each provider reads its `providerOptions`. */
export const OPTIONS_NAME: Readonly<Record<ModelChoice["provider"], string>> = {
  openai: "openai",
  anthropic: "anthropic",
  google: "google",
  compatible: "compatible",
};

/** An empty key would make a provider package look for one in the environment. */
const NO_KEY = "none";

type WrappedModel = Parameters<typeof wrapLanguageModel>[0]["model"];

const providerModel = (
  { provider, model, apiBase }: ModelChoice,
  { key, fetch, includeUsage }: OpenModelOptions,
): WrappedModel => {
  const apiKey = key ?? NO_KEY;
  switch (provider) {
    case "openai":
      return createOpenAI({ baseURL: apiBase, apiKey, fetch }).chat(model);
    case "anthropic":
      return createAnthropic({ baseURL: apiBase, apiKey, fetch })(model);
    case "google":
      return createGoogle({ baseURL: apiBase, apiKey, fetch })(model);
    case "compatible": {
      const settings = { name: OPTIONS_NAME.compatible, baseURL: apiBase, fetch, includeUsage };
      return createOpenAICompatible(key === undefined ? settings : { ...settings, apiKey: key }).chatModel(model);
    }
  }
};

type StreamOf = Awaited<ReturnType<NonNullable<LanguageModelMiddleware["wrapStream"]>>>["stream"];
type StreamPart = StreamOf extends ReadableStream<infer Part> ? Part : never;

export type OnWarning = (what: string) => void;

const nameOf = (warning: object): string => {
  const { feature, setting, type } = warning as { feature?: unknown; setting?: unknown; type?: unknown };
  return String(feature ?? setting ?? type ?? "unknown").slice(0, 100);
};

const quiet = (onWarning: OnWarning): LanguageModelMiddleware => ({
  specificationVersion: "v4",
  async wrapGenerate({ doGenerate }) {
    const result = await doGenerate();
    for (const warning of result.warnings) onWarning(nameOf(warning));
    return { ...result, warnings: [] };
  },
  async wrapStream({ doStream }) {
    const result = await doStream();
    const transform = (part: StreamPart, controller: TransformStreamDefaultController<StreamPart>): void => {
      if (part.type === "stream-start") for (const warning of part.warnings) onWarning(nameOf(warning));
      controller.enqueue(part.type === "stream-start" ? { ...part, warnings: [] } : part);
    };
    return { ...result, stream: result.stream.pipeThrough(new TransformStream<StreamPart, StreamPart>({ transform })) };
  },
});

export interface OpenModelOptions {
  readonly key?: string | undefined;
  readonly fetch: typeof globalThis.fetch;
  /** Ask for token counts at the end of a stream. */
  readonly includeUsage: boolean;
  readonly onWarning: OnWarning;
}

export const openModel = (choice: ModelChoice, options: OpenModelOptions): LanguageModel =>
  wrapLanguageModel({ model: providerModel(choice, options), middleware: quiet(options.onWarning) });
