// Checks a profile when it is registered, so that a forbidden address and a bad script are reported then and not at the first turn. What
// the name of an endpoint resolves to is checked at every request.

import { type AllowedOrigin, planTarget } from "@toolplane/egress/policy";
import { isToolplaneError, ToolplaneError } from "@toolplane/protocol";
import type { Profile } from "@toolplane/protocol/registry";
import { createModelPolicy } from "./ai/model-policy.ts";
import { inlineScriptOf, thinksWithModel } from "./brain-source.ts";
import { parseScript } from "./script/script.ts";

const ENDPOINT = "llm_config.api_base";
const SCRIPT = "llm_config.script";

const at = (place: string, check: () => void): void => {
  try {
    check();
  } catch (error) {
    if (!isToolplaneError(error)) throw error;
    throw new ToolplaneError("bad_request", `${place}: ${error.message}`, { detail: { path: place }, cause: error });
  }
};

export const createProfileCheck = (allow: readonly AllowedOrigin[]): ((profile: Profile) => void) => {
  const policy = createModelPolicy(allow);
  return (profile) => {
    const { api_base: apiBase } = profile.llm_config;
    if (apiBase !== undefined && thinksWithModel(profile)) at(ENDPOINT, () => void planTarget(apiBase, policy));
    const script = inlineScriptOf(profile);
    if (script !== undefined) at(SCRIPT, () => void parseScript(script, `of profile ${profile.name}`));
  };
};
