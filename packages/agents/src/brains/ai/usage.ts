// What a step used and what it cost. The cost is the provider's own number, or computed from the profile's prices, or absent: a
// guess would be added up and believed.

import { isRecord, type JsonObject } from "@toolplane/protocol";
import type { LanguageModelUsage } from "ai";
import type { LlmConfig } from "./choose-model.ts";

const count = (value: number | undefined): value is number => value !== undefined && Number.isFinite(value);

/** The same names for every provider. */
export const usageOf = (usage: LanguageModelUsage): JsonObject | undefined => {
  const entries: readonly (readonly [string, number | undefined])[] = [
    ["prompt_tokens", usage.inputTokens],
    ["completion_tokens", usage.outputTokens],
    ["total_tokens", usage.totalTokens],
    ["cached_tokens", usage.inputTokenDetails.cacheReadTokens],
    ["reasoning_tokens", usage.outputTokenDetails.reasoningTokens],
  ];
  const known = entries.filter(([, value]) => count(value)) as [string, number][];
  return known.length === 0 ? undefined : Object.fromEntries(known);
};

const PER = 1_000_000;

const priceAt = (price: Record<string, unknown>, name: string): number | undefined => {
  const value = price[name];
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
};

/** `provider_options.price`: what a million tokens cost, `{input, output, cached_input?}`. */
const pricedCost = (usage: LanguageModelUsage, price: unknown): number | undefined => {
  if (!isRecord(price) || !count(usage.inputTokens) || !count(usage.outputTokens)) return undefined;
  const input = priceAt(price, "input");
  const output = priceAt(price, "output");
  if (input === undefined || output === undefined) return undefined;
  const cached = Math.min(usage.inputTokenDetails.cacheReadTokens ?? 0, usage.inputTokens);
  const cachedPrice = priceAt(price, "cached_input") ?? input;
  return ((usage.inputTokens - cached) * input + cached * cachedPrice + usage.outputTokens * output) / PER;
};

export const costOf = (usage: LanguageModelUsage, config: LlmConfig): number | undefined => {
  const told = usage.raw?.cost;
  if (typeof told === "number" && Number.isFinite(told) && told >= 0) return told;
  return pricedCost(usage, config.provider_options?.price);
};
