// Why a service could not start, in one sentence that says what to do.

import { type ErrorCode, ToolplaneError, UsageError, understandError } from "@toolplane/protocol";
import type { Scrubber } from "../secrets/scrubber.ts";
import type { ServiceSettings } from "./settings.ts";

type Sentences = Partial<Record<ErrorCode, (settings: ServiceSettings, error: ToolplaneError) => string>>;

const noProject = ({ projectId, url }: ServiceSettings): string =>
  `there is no project ${projectId} at ${url}: create it, or set TOOLPLANE_PROJECT`;

const OVER_HTTP: Sentences = {
  upstream_unavailable: ({ url }) =>
    `no Toolplane server answers at ${url}: start one with "toolplane up", or set TOOLPLANE_URL`,
  unauthorized: ({ url, token, projectId, target }) =>
    token === undefined
      ? `the server at ${url} wants a token: set TOOLPLANE_TOKEN (toolplane token create --role tool --project ${projectId} --targets ${target})`
      : `the server at ${url} does not know this token: set TOOLPLANE_TOKEN to one that was not revoked`,
  auth_failed: ({ projectId, target }) =>
    `the token may not serve target ${target} in project ${projectId}: use one made for that target (toolplane token create --role tool --project ${projectId} --targets ${target})`,
  not_found: noProject,
};

/** Another program may listen there that is not Toolplane. */
const noPlane = ({ url }: ServiceSettings, { detail, message }: ToolplaneError): string =>
  detail?.reason === "nobody_listens" || detail?.reason === "timeout"
    ? `NATS answers at ${url}, but no Toolplane server: start one with "toolplane up --nats-url ${url}"`
    : `no NATS server can be used at ${url} (${message}): start one, or set TOOLPLANE_URL`;

const OVER_NATS: Sentences = {
  upstream_unavailable: noPlane,
  unauthorized: (_settings, { message }) =>
    `${message}: give user and password in TOOLPLANE_URL, or a file in TOOLPLANE_NATS_CREDENTIALS`,
  auth_failed: ({ projectId, target }, { message }) =>
    `${message}: the NATS user must be one that may serve target ${target} in project ${projectId}, and TOOLPLANE_NATS_INBOX its inbox if it has one of its own`,
  not_found: noProject,
};

/** Keeps the code, with the original error as the cause; a mistake in the settings needs no explanation. */
export const explainStart = (thrown: unknown, settings: ServiceSettings, scrubber?: Scrubber): Error => {
  if (thrown instanceof UsageError) return thrown;
  const error = understandError(thrown);
  const sentences = settings.nats === undefined ? OVER_HTTP : OVER_NATS;
  const message = sentences[error.code]?.(settings, error) ?? error.message;
  return new ToolplaneError(error.code, scrubber?.text(message) ?? message, { detail: error.detail, cause: error });
};
