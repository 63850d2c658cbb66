// Who takes part in the story and what they do. The lead uses three tools at once, hands a note to a scribe, forks five
// readers of whom one fails and one waits for a tool that never answers, asks for something a person must allow, and
// delivers what came of it.

import type { JsonObject } from "@toolplane/protocol";

export const POOL = "story_pool";
export const TARGET = "story";

const tool = (name: string, options: JsonObject = {}, target = TARGET): JsonObject => ({
  tool_name: name,
  description: `${name}, for the story`,
  target_subject: `cg.v1r4.{project_id}.{channel_id}.cmd.tool.${target}.${name}`,
  after_execution: "suspend",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  options: { retry: "safe", ...options },
});

export const TOOLS: readonly JsonObject[] = [
  tool("count"),
  tool("upper"),
  tool("reverse"),
  tool("risky", { approval: "required" }),
  // Nobody works for this target: the call ends by its own deadline.
  tool("silent", { queue_timeout_seconds: 1 }, "nobody"),
];

export type StoryRole = "lead" | "scribe" | "reader" | "failing" | "waiting";

const text = "{{instruction}}";
/** What each of the five has to say, in their order. */
const SUMMARIES = [0, 1, 2, 3, 4].map((at) => `{{results.fork_join.result.results.${at}.summary}}`).join(", ");

const reader = (target_ref: string, instruction: string) => ({ target_strategy: "new", target_ref, instruction });

export const SCRIPTS: Readonly<Record<StoryRole, JsonObject>> = {
  lead: {
    steps: [
      {
        say: "three at once",
        call: [
          { tool: "count", arguments: { text } },
          { tool: "upper", arguments: { text } },
          { tool: "reverse", arguments: { text } },
        ],
      },
      {
        call: {
          tool: "delegate_async",
          arguments: { target_strategy: "new", target_ref: "scribe", instruction: "note: {{results.upper.text}}" },
        },
      },
      {
        call: {
          tool: "fork_join",
          arguments: {
            deadline_seconds: 60,
            tasks: [
              reader("reader", "part one"),
              reader("reader", "part two of it"),
              reader("failing", "the part that fails"),
              reader("waiting", "the part nobody answers"),
              reader("reader", "the last part of them all"),
            ],
          },
        },
      },
      { call: { tool: "risky", arguments: { text: "the red button" } } },
      {
        finish:
          "{{results.count.words}} words, {{results.upper.text}}, {{results.reverse.text}}; " +
          `scribe {{results.delegate_async.status}}; readers {{results.fork_join.result.status}}: ${SUMMARIES}; allowed {{results.risky.text}}`,
      },
    ],
  },
  scribe: { steps: [{ call: { tool: "upper", arguments: { text } } }, { finish: "noted {{results.upper.text}}" }] },
  reader: { steps: [{ call: { tool: "count", arguments: { text } } }, { finish: "{{results.count.words}} words" }] },
  failing: { steps: [{ fail: { code: "bad_request", message: "no idea" } }] },
  waiting: { steps: [{ call: { tool: "silent", arguments: { text } } }, { finish: "nobody answered" }] },
};

/** A script in the profile, or a model behind `api_base` that is asked for by the role's name. */
export const profileOf = (role: StoryRole, apiBase?: string): JsonObject => ({
  name: role,
  worker_target: POOL,
  system_prompt: `You are the ${role}.`,
  allowed_tools: [...TOOLS.map(({ tool_name }) => String(tool_name)), "delegate_async", "fork_join"],
  ...(role === "lead" ? { delegation_policy: { target_profiles: ["scribe", "reader", "failing", "waiting"] } } : {}),
  llm_config:
    apiBase === undefined
      ? { provider: "script", script: SCRIPTS[role] }
      : { model: role, api_base: apiBase, api_key: "env:MODEL_KEY" },
});
