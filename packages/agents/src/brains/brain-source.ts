// Which brain a profile has. `llm_config` decides: `provider: script|function`, or a model named `script/NAME` or
// `function/NAME`, or else a model of the `ai` SDK. A missing setting is reported in one sentence when the profile is used.

import type { AllowedOrigin } from "@toolplane/egress/policy";
import { isFilled, ToolplaneError } from "@toolplane/protocol";
import type { Profile } from "@toolplane/protocol/registry";
import type { AiBrainOptions } from "./ai/ai-brain.ts";
import { loadAi } from "./ai/load-ai.ts";
import { createModelPolicy } from "./ai/model-policy.ts";
import type { Brain, BrainSource } from "./brain.ts";
import { type BrainFunction, createFunctionBrain } from "./function-brain.ts";
import { parseScript, type Script } from "./script/script.ts";
import { createScriptBrain } from "./script/script-brain.ts";

export interface BrainSourceOptions extends Omit<AiBrainOptions, "fetch"> {
  /** Addresses that the operator of the plane allows beyond public https, such as a model on this machine; none without it. */
  readonly allowOrigins?: readonly AllowedOrigin[] | undefined;
  /** Another way out, in place of the egress guard. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Scripts by name, for `script/NAME`. */
  readonly scripts?: ReadonlyMap<string, Script> | undefined;
  /** The program's own functions by name, for `function/NAME`. */
  readonly functions?: ReadonlyMap<string, BrainFunction> | undefined;
}

const SCRIPT = "script";
const FUNCTION = "function";

/** The name behind `kind/`, or the key of that kind, or the plain model name when the provider says the kind. */
const nameOf = (profile: Profile, kind: string): string | undefined => {
  const { model, provider, [kind]: named } = profile.llm_config;
  if (model.startsWith(`${kind}/`)) return model.slice(kind.length + 1);
  if (provider !== kind) return undefined;
  return isFilled(named) ? named : model;
};

/** A script may stand in the profile itself: `llm_config: {provider: script, script: {steps: [...]}}`. */
export const inlineScriptOf = ({ llm_config: { provider, script } }: Profile): object | undefined =>
  provider === SCRIPT && typeof script === "object" && script !== null ? script : undefined;

/** False for scripts and functions, which use no network. */
export const thinksWithModel = (profile: Profile): boolean =>
  inlineScriptOf(profile) === undefined &&
  nameOf(profile, SCRIPT) === undefined &&
  nameOf(profile, FUNCTION) === undefined;

const missing = (what: string, name: string, known: Iterable<string>): ToolplaneError => {
  const names = [...known].sort().slice(0, 10);
  const hint = names.length === 0 ? `no ${what} is registered` : `known: ${names.join(", ")}`;
  return new ToolplaneError(
    "not_found",
    `the profile names the ${what} "${name.slice(0, 100)}", which is not there (${hint})`,
  );
};

/** A profile is read for every step, but its script is checked once. No installation has more profiles with scripts than this. */
const MAX_CHECKED = 256;

const createInlineScripts = (): ((profile: Profile) => Script | undefined) => {
  const checked = new Map<string, Script>();
  return (profile) => {
    const { name } = profile;
    const script = inlineScriptOf(profile);
    if (script === undefined) return undefined;
    const text = JSON.stringify([name, script]);
    const known = checked.get(text);
    if (known !== undefined) return known;
    const parsed = parseScript(script, `of profile ${name}`);
    if (checked.size >= MAX_CHECKED) checked.clear();
    checked.set(text, parsed);
    return parsed;
  };
};

/** One for all models, so that connections are used again; made when the first model is asked. */
const createWayOut = ({ fetch, allowOrigins = [] }: BrainSourceOptions): (() => Promise<typeof globalThis.fetch>) => {
  let way = fetch;
  return async () => {
    if (way !== undefined) return way;
    const { createEgress } = await import("@toolplane/egress");
    way ??= createEgress(createModelPolicy(allowOrigins)).fetch;
    return way;
  };
};

export const createBrainSource = (options: BrainSourceOptions): BrainSource => {
  const { scripts = new Map<string, Script>(), functions = new Map<string, BrainFunction>() } = options;
  const inlineScript = createInlineScripts();
  const wayOut = createWayOut(options);
  const choose = async (profile: Profile): Promise<Brain> => {
    const inline = inlineScript(profile);
    if (inline !== undefined) return createScriptBrain(inline);
    const scriptName = nameOf(profile, SCRIPT);
    if (scriptName !== undefined) {
      const script = scripts.get(scriptName);
      if (script === undefined) throw missing("script", scriptName, scripts.keys());
      return createScriptBrain(script);
    }
    const functionName = nameOf(profile, FUNCTION);
    if (functionName === undefined) {
      const { createAiBrain } = await loadAi();
      return createAiBrain(profile.llm_config, { ...options, fetch: await wayOut() });
    }
    const run = functions.get(functionName);
    if (run === undefined) throw missing("function", functionName, functions.keys());
    return createFunctionBrain(run, functionName);
  };
  return choose;
};
