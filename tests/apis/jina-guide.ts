// The Jina example of the guide, and definitions around such options.

import type { JsonObject } from "@toolplane/protocol";

/** The guide's own example, unchanged. */
export const GUIDE = {
  args: { defaults: { session_id: "{agent_turn_id}" }, fixed: { project_id: "{project_id}" } },
  envs: { api_key: "SEARCH_API_KEY" },
  jina: {
    mode: "search",
    base_url: "https://s.jina.ai",
    path: "/search",
    method: "GET",
    auth_env: "JINA_API_KEY",
  },
};

export const defineJina = (
  tool_name: string,
  options: object,
  target = "openapi",
  parameters: JsonObject = { type: "object" },
): JsonObject => ({
  tool_name,
  parameters,
  target_subject: `cg.v1r4.{project_id}.{channel_id}.cmd.tool.${target}.${tool_name}`,
  after_execution: "suspend",
  options: options as JsonObject,
});
