// Why a service could not start, in one sentence that says what to do.

import { type ErrorCode, ToolplaneError, understandError } from "@toolplane/protocol";
import type { ServiceSettings } from "./settings.ts";

const sentences: Partial<Record<ErrorCode, (settings: ServiceSettings, error: ToolplaneError) => string>> = {
  upstream_unavailable: ({ url }) =>
    `no Toolplane server answers at ${url}: start one with "toolplane up", or set TOOLPLANE_URL`,
  unauthorized: ({ url, token, projectId, target }) =>
    token === undefined
      ? `the server at ${url} wants a token: set TOOLPLANE_TOKEN (toolplane token create --role tool --project ${projectId} --targets ${target})`
      : `the server at ${url} does not know this token: set TOOLPLANE_TOKEN to one that was not revoked`,
  auth_failed: ({ projectId, target }) =>
    `the token may not serve target ${target} in project ${projectId}: use one made for that target`,
  not_found: ({ projectId, url }) => `there is no project ${projectId} at ${url}: create it, or set TOOLPLANE_PROJECT`,
};

/** The same code, and the original as the cause. */
export const explainStart = (thrown: unknown, settings: ServiceSettings): ToolplaneError => {
  const error = understandError(thrown);
  const message = sentences[error.code]?.(settings, error) ?? error.message;
  return new ToolplaneError(error.code, message, { detail: error.detail, cause: error });
};
