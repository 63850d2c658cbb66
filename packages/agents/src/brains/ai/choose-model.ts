// Which endpoint a profile's `llm_config` means, and which variable its key is in. Pure.
//   `openai/gpt-...`, `anthropic/claude-...`, `gemini/...` or `google/...` name a provider; with an `api_base` any other name,
//   and `openai/...` too, is a model of an OpenAI-compatible endpoint there.

import { badRequest } from "@toolplane/protocol";
import type { Profile } from "@toolplane/protocol/registry";

export type LlmConfig = Profile["llm_config"];

export interface ModelChoice {
  readonly provider: "openai" | "anthropic" | "google" | "compatible";
  readonly model: string;
  readonly apiBase: string;
  /** The variable that holds the key; undefined: the endpoint wants none. */
  readonly keyName?: string | undefined;
}

type NamedProvider = Exclude<ModelChoice["provider"], "compatible">;

/** Written out, because the provider packages would otherwise read an address from this process's environment. */
const PROVIDERS: Readonly<Record<NamedProvider, { readonly apiBase: string; readonly keyName: string }>> = {
  openai: { apiBase: "https://api.openai.com/v1", keyName: "OPENAI_API_KEY" },
  anthropic: { apiBase: "https://api.anthropic.com/v1", keyName: "ANTHROPIC_API_KEY" },
  google: { apiBase: "https://generativelanguage.googleapis.com/v1beta", keyName: "GEMINI_API_KEY" },
};

const PREFIXES: Readonly<Record<string, NamedProvider>> = {
  openai: "openai",
  anthropic: "anthropic",
  google: "google",
  gemini: "google",
};

/** Well-known model names that people write without a provider. */
const WELL_KNOWN: readonly (readonly [start: string, provider: NamedProvider])[] = [
  ["gpt-", "openai"],
  ["chatgpt-", "openai"],
  ["o1", "openai"],
  ["o3", "openai"],
  ["o4", "openai"],
  ["claude-", "anthropic"],
  ["gemini-", "google"],
];

const readName = (name: string): { readonly provider?: NamedProvider | undefined; readonly model: string } => {
  const slash = name.indexOf("/");
  const prefix = name.slice(0, Math.max(slash, 0));
  const provider = Object.hasOwn(PREFIXES, prefix) ? PREFIXES[prefix] : undefined;
  if (provider !== undefined) return { provider, model: name.slice(slash + 1) };
  return { provider: WELL_KNOWN.find(([start]) => name.startsWith(start))?.[1], model: name };
};

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || host.endsWith(".localhost") || /^127\.\d+\.\d+\.\d+$/.test(host);

/** An address without credentials, query or fragment: those would end up in logs, or send a key to an unexpected place. */
const checkBase = (apiBase: string, hasKey: boolean): string => {
  const url = URL.parse(apiBase);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw badRequest("llm_config.api_base must be an http or https address");
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw badRequest("llm_config.api_base must have no user, query or fragment; name the key in llm_config.api_key");
  }
  if (hasKey && url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw badRequest("llm_config.api_base is plain http to another machine, where a key could be read; use https");
  }
  return apiBase.endsWith("/") ? apiBase.slice(0, -1) : apiBase;
};

const ENV = "env:";

export const chooseModel = (config: LlmConfig): ModelChoice => {
  const given = config.api_key?.slice(ENV.length);
  const { provider, model } = readName(config.model);
  const compatible = config.api_base !== undefined && (provider === undefined || provider === "openai");
  if (compatible && config.api_base !== undefined) {
    // A prefix that names another vendor's model is part of its name there: "meta-llama/llama-3".
    const name = config.model.startsWith("openai/") ? model : config.model;
    const apiBase = checkBase(config.api_base, given !== undefined);
    return { provider: "compatible", model: name, apiBase, ...(given === undefined ? {} : { keyName: given }) };
  }
  if (provider === undefined) {
    throw badRequest(
      `no provider is known for the model "${config.model.slice(0, 100)}"; write openai/, anthropic/ or gemini/ before it, or give llm_config.api_base`,
    );
  }
  const { apiBase, keyName } = PROVIDERS[provider];
  return {
    provider,
    model,
    keyName: given ?? keyName,
    apiBase: config.api_base === undefined ? apiBase : checkBase(config.api_base, true),
  };
};
