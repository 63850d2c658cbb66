// The settings of `llm_config` as the `ai` SDK's. A setting that was not given is not sent, so the provider's default holds.

import { isRecord, type JsonObject } from "@toolplane/protocol";
import type { ModelToolSpec } from "@toolplane/protocol/agents";
import { jsonSchema, type ToolChoice, type ToolSet, tool } from "ai";
import type { LlmConfig, ModelChoice } from "./choose-model.ts";
import { OPTIONS_NAME } from "./open-model.ts";

type Reasoning = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
const EFFORTS: readonly string[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** Keys of provider_options that are for us and not for the provider. */
const OWN_OPTIONS: ReadonlySet<string> = new Set(["price", "timeout_seconds"]);

/** The default of every provider; some models refuse a request that sets it. */
const DEFAULT_TEMPERATURE = 1;

const toolChoiceOf = (
  choice: LlmConfig["tool_choice"],
  tools: readonly ModelToolSpec[],
): ToolChoice<ToolSet> | undefined => {
  if (choice === "auto" || choice === "none" || choice === "required") return choice;
  const named = isRecord(choice) ? (isRecord(choice.function) ? choice.function.name : choice.name) : choice;
  // A tool that is not offered in this step cannot be required in it.
  return typeof named === "string" && tools.some((spec) => spec.function.name === named)
    ? { type: "tool", toolName: named }
    : undefined;
};

const toolSet = (tools: readonly ModelToolSpec[]): ToolSet =>
  Object.fromEntries(
    tools.map(({ function: { name, description, parameters } }) => [
      name,
      // Without `execute`: the plane runs calls, never the SDK. The schema is checked at dispatch (W-20).
      tool({ description, inputSchema: jsonSchema(parameters as Parameters<typeof jsonSchema>[0]) }),
    ]),
  );

const providerOptionsOf = (
  config: LlmConfig,
  name: string,
): Record<string, Record<string, JsonObject[string]>> | undefined => {
  const entries = Object.entries(config.provider_options ?? {}).filter(([key]) => !OWN_OPTIONS.has(key));
  if (entries.length === 0) return undefined;
  const nested = entries.find(([key, value]) => key === name && isRecord(value))?.[1] as JsonObject | undefined;
  const flat = Object.fromEntries(entries.filter(([key]) => key !== name || nested === undefined));
  return { [name]: { ...flat, ...nested } };
};

const reasoningOf = ({ reasoning_effort: effort }: LlmConfig, { provider }: ModelChoice): Reasoning | undefined => {
  // Anthropic wants its thinking back, signed, with the next request; a transcript of cards does not keep signatures.
  if (effort === undefined || provider === "anthropic") return undefined;
  return EFFORTS.includes(effort) ? (effort as Reasoning) : undefined;
};

const defined = <T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };

export const callSettings = (config: LlmConfig, choice: ModelChoice, tools: readonly ModelToolSpec[]) =>
  defined({
    temperature: config.temperature === DEFAULT_TEMPERATURE ? undefined : config.temperature,
    topP: config.top_p,
    maxOutputTokens: config.max_tokens,
    stopSequences: config.stop === undefined ? undefined : ([config.stop].flat() as string[]),
    reasoning: reasoningOf(config, choice),
    providerOptions: providerOptionsOf(config, OPTIONS_NAME[choice.provider]),
    tools: tools.length === 0 ? undefined : toolSet(tools),
    toolChoice: tools.length === 0 ? undefined : toolChoiceOf(config.tool_choice, tools),
  });
