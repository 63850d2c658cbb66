// The key of a model endpoint. Its name is in the profile, its value only here and in the request (I8).

import { ToolplaneError } from "@toolplane/protocol";
import { isEnvName, isOwnEnvName } from "@toolplane/protocol/registry";

/** The value of a variable that the operator allows; undefined when it is not allowed or not set. */
export type BrainSecret = (name: string) => string | undefined | Promise<string | undefined>;

export const readKey = async (name: string | undefined, secret: BrainSecret): Promise<string | undefined> => {
  if (name === undefined) return undefined;
  if (!isEnvName(name) || isOwnEnvName(name)) {
    throw new ToolplaneError("auth_failed", "llm_config.api_key names a variable that is never given to a model");
  }
  const value = (await secret(name))?.trim();
  if (value === undefined || value === "") {
    throw new ToolplaneError(
      "auth_failed",
      `the model needs a key: set the variable ${name} and list it in secrets.allow_env, or name another as llm_config.api_key: env:NAME`,
      { detail: { variable: name } },
    );
  }
  return value;
};
