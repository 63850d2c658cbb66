// The key of a model endpoint. The profile has its name; only this code and the request have its value (I8). The operator of the
// plane decides which project may use it at which host, so both are checked.

import { hostOf } from "@toolplane/egress/policy";
import { ToolplaneError } from "@toolplane/protocol";
import { isEnvName, isOwnEnvName } from "@toolplane/protocol/registry";
import type { ModelChoice } from "./choose-model.ts";

export interface KeyUse {
  readonly name: string;
  readonly projectId: string;
  /** Where the request with the key goes. */
  readonly host: string;
}

/** The value of a variable, undefined when it is not set; throws `auth_failed` when it may not be used there. */
export type BrainSecret = (use: KeyUse) => string | undefined | Promise<string | undefined>;

export const readKey = async (
  { keyName: name, apiBase }: Pick<ModelChoice, "keyName" | "apiBase">,
  projectId: string,
  secret: BrainSecret,
): Promise<string | undefined> => {
  if (name === undefined) return undefined;
  if (!isEnvName(name) || isOwnEnvName(name)) {
    throw new ToolplaneError("auth_failed", "llm_config.api_key names a variable that is never given to a model");
  }
  const value = (await secret({ name, projectId, host: hostOf(new URL(apiBase)) }))?.trim();
  if (value === undefined || value === "") {
    throw new ToolplaneError(
      "auth_failed",
      `the model of project ${projectId} needs a key: set the variable ${name} where the worker runs and list it in secrets.allow_env, or name another as llm_config.api_key: env:NAME`,
      { detail: { variable: name } },
    );
  }
  return value;
};
