// Scenarios of the protocol's test suite that fail here, each with its reason. The test fails when one of them passes, so that this
// list cannot be out of date. No scenario of tools, tasks, elicitation, streams or headers is in it.

const NO_RESOURCES = "resources are not served: the plane has tools";
const NO_PROMPTS = "prompts are not served: the plane has tools";
const NO_COMPLETION = "completion is for prompts and resources, which are not served";

const NOT_SERVED = {
  "completion-complete": NO_COMPLETION,
  "resources-list": NO_RESOURCES,
  "resources-read-text": NO_RESOURCES,
  "resources-read-binary": NO_RESOURCES,
  "resources-templates-read": NO_RESOURCES,
  "prompts-list": NO_PROMPTS,
  "prompts-get-simple": NO_PROMPTS,
  "prompts-get-with-args": NO_PROMPTS,
  "prompts-get-embedded-resource": NO_PROMPTS,
  "prompts-get-with-image": NO_PROMPTS,
};

export const SERVER_FAILURES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "2025-11-25": {
    ...NOT_SERVED,
    "resources-subscribe": NO_RESOURCES,
    "resources-unsubscribe": NO_RESOURCES,
  },
  "2026-07-28": {
    ...NOT_SERVED,
    caching: "it asks for the lists of prompts and resources, which are not served; tools/list passes",
    "input-required-result-non-tool-request": NO_PROMPTS,
  },
};

const NO_OAUTH = "no token is fetched: the headers of a server come from variables";

/** `auth/*`: every scenario that begins so. */
export const CLIENT_FAILURES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "2025-11-25": { "auth/*": NO_OAUTH },
  "2026-07-28": { "auth/*": NO_OAUTH },
};
