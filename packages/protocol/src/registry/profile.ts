// Profiles: what an agent is told, which tools it may use, whom it may delegate to.
// PG1. A profile lists the tools it may use; no list means none. Only a stored card may hold null for "all".
// PG2. No secret is written into a profile, because a profile becomes a card: an API key is named as `env:NAME` (I8).
// PG3. Names that differ only in case are the same name (W-30).

import { z } from "zod";
import { nearest } from "../errors/nearest.ts";
import { parseWith } from "../errors/parse-with.ts";
import { jsonObject, texts } from "../json/json-schemas.ts";
import type { JsonObject } from "../json/json-value.ts";
import { isEnvName, isOwnEnvName } from "../tools/env-name.ts";
import { foldName } from "../tools/fold-name.ts";
import { SUBMIT_RESULT } from "../tools/tool-name.ts";
import { copyUpload, freezeDeep, refusal } from "../tools/upload.ts";
import { displayName, REGISTRY_CAPS, subjectToken, tagsUpload } from "./field-shapes.ts";
import { turnBudgetSchema } from "./turn-budget.ts";

const WHAT = "profile";

const ENV_PREFIX = "env:";

const isEnvReference = (text: string): boolean => {
  const name = text.slice(ENV_PREFIX.length);
  return text.startsWith(ENV_PREFIX) && isEnvName(name) && !isOwnEnvName(name);
};

/** More than any model can choose from. */
const MAX_NAMES = 1000;
const names = z.array(z.string().trim().min(1)).max(MAX_NAMES).readonly();

export const llmConfigSchema = z
  .looseObject({
    model: z.string().min(1).default("gpt-3.5-turbo"),
    temperature: z.number().min(0).default(1),
    stream: z.boolean().default(true),
    save_reasoning_content: z.boolean().default(true),
    api_key: z
      .string()
      .refine(isEnvReference, "name a variable as env:NAME; a key itself must not be stored")
      .optional(),
    api_base: z.string().optional(),
    max_tokens: z.int().positive().optional(),
    top_p: z.number().optional(),
    reasoning_effort: z.string().optional(),
    stop: z.union([z.string(), texts]).optional(),
    stream_options: jsonObject.optional(),
    tool_choice: z.union([z.string(), jsonObject]).optional(),
    provider_options: jsonObject.optional(),
  })
  .readonly();

const delegationPolicySchema = z
  .strictObject({ target_tags: names.default([]), target_profiles: names.nullable().default(null) })
  .readonly();

export type DelegationPolicy = z.infer<typeof delegationPolicySchema>;

const profileShape = {
  name: displayName,
  worker_target: subjectToken,
  tags: tagsUpload.default([]),
  description: z.string().optional(),
  system_prompt_template: z.string().default(""),
  delegation_policy: delegationPolicySchema.optional(),
  allowed_internal_tools: names.default([]),
  must_end_with: names.default([]),
  llm_config: llmConfigSchema.prefault({}),
};

/** Further keys are kept: a project's own brain may have settings of its own. */
export const profileUploadSchema = z
  .looseObject({ ...profileShape, allowed_tools: names.default([]), budget: turnBudgetSchema.optional() })
  .readonly();
/** A card of an earlier version may hold anything under `budget`: it was a further key then. */
const cardSchema = z
  .looseObject({
    ...profileShape,
    allowed_tools: names.nullable().default([]),
    budget: turnBudgetSchema.optional().catch(undefined),
  })
  .readonly();

export type Profile = z.infer<typeof cardSchema>;

/** `system_prompt` is another spelling. An empty key in YAML means "not given", except where null has a meaning. */
const foldAliases = (input: JsonObject): JsonObject => {
  const { system_prompt: alias, ...rest } = input;
  if (alias !== undefined && alias !== null) {
    const template = rest.system_prompt_template ?? undefined;
    if (template !== undefined && template !== alias) {
      throw refusal(WHAT, ["system_prompt"], "is another spelling of system_prompt_template and must equal it");
    }
    return foldAliases({ ...rest, system_prompt_template: alias });
  }
  return Object.fromEntries(Object.entries(rest).filter(([key, value]) => value !== null || key === "allowed_tools"));
};

const KEYS: readonly string[] = [...Object.keys(profileShape), "allowed_tools", "budget", "system_prompt"];
/** Shorter keys of a project's own brain may be near one of ours by chance. */
const LONG_KEY = 6;

/** A further key is kept, but not one that is a known key with a mistake in it: what it says would be ignored. */
const refuseMistakes = (upload: JsonObject): void => {
  for (const key of Object.keys(upload)) {
    if (key.length < LONG_KEY || KEYS.includes(key)) continue;
    const meant = nearest(key, KEYS);
    if (meant !== undefined) throw refusal(WHAT, [key], `is not a key of a profile; did you mean ${meant}?`);
  }
};

/** An uploaded profile, normalised: the content of its `sys.profile` card. */
export const parseProfile = (input: unknown): Profile => {
  const upload = foldAliases(copyUpload(input, WHAT, REGISTRY_CAPS));
  if (upload.allowed_tools === null) {
    throw refusal(WHAT, ["allowed_tools"], "is empty; list the tools, or say [] for none");
  }
  if (upload.max_steps !== undefined)
    throw refusal(WHAT, ["max_steps"], "is not a key of a profile; write budget: { steps: N }");
  refuseMistakes(upload);
  return freezeDeep(parseWith(profileUploadSchema, upload, WHAT));
};

/** The content of a stored `sys.profile` card; here null stands for every tool of the project. */
export const parseProfileCard = (data: unknown): Profile =>
  freezeDeep(parseWith(cardSchema, foldAliases(copyUpload(data, WHAT, REGISTRY_CAPS)), WHAT));

/** The key a profile is stored and found under. */
export const profileKey = (name: string): string => foldName(name);

/** The dispatcher checks this before a call; the prompt alone is not trusted (W-20). */
export const mayUseTool = (
  profile: Pick<Profile, "allowed_tools" | "allowed_internal_tools">,
  tool: string,
): boolean => {
  if (tool === SUBMIT_RESULT) return profile.allowed_internal_tools.includes(tool);
  return profile.allowed_tools === null || profile.allowed_tools.includes(tool);
};
