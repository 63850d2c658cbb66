// Checks a profile's endpoint when the profile is registered, so that a forbidden address is reported then and not at the first
// turn. What its name resolves to is checked at every request.

import { type AllowedOrigin, planTarget } from "@toolplane/egress/policy";
import { isToolplaneError, ToolplaneError } from "@toolplane/protocol";
import type { Profile } from "@toolplane/protocol/registry";
import { createModelPolicy } from "./ai/model-policy.ts";
import { thinksWithModel } from "./brain-source.ts";

const AT = "llm_config.api_base";

export const createEndpointCheck = (allow: readonly AllowedOrigin[]): ((profile: Profile) => void) => {
  const policy = createModelPolicy(allow);
  return (profile) => {
    const { api_base: apiBase } = profile.llm_config;
    if (apiBase === undefined || !thinksWithModel(profile)) return;
    try {
      planTarget(apiBase, policy);
    } catch (error) {
      if (!isToolplaneError(error)) throw error;
      throw new ToolplaneError("bad_request", `${AT}: ${error.message}`, { detail: { path: AT }, cause: error });
    }
  };
};
