// The demo project: something to run a minute after the first start, without a key or a network. Its agents follow scripts; they
// call real tools, and their calls are handled like all others.

import type { Engine, Log } from "@toolplane/engine";
import { isToolplaneError, type JsonObject } from "@toolplane/protocol";
import { ensureProject } from "../config/apply-config.ts";

const DEMO_PROJECT = "demo";
const WORKER_TARGET = "worker_generic";

/** Counts the words of a part and reports them: one of the agents that the helper may ask. */
const READER: JsonObject = {
  name: "reader",
  description: "Counts the words of what it is given (follows a script)",
  worker_target: WORKER_TARGET,
  tags: ["demo"],
  system_prompt: "You count words.",
  allowed_tools: ["word_count"],
  llm_config: {
    provider: "script",
    script: {
      steps: [
        { call: { tool: "word_count", arguments: { text: "{{instruction}}", top_k: 1 } } },
        { finish: "{{results.word_count.total}} words" },
      ],
    },
  },
};

const task = (instruction: string): JsonObject => ({ target_strategy: "new", target_ref: "reader", instruction });

/** Two tools at once; or, asked for a team, two agents at once. */
const HELPER: JsonObject = {
  name: "helper",
  description: "Uses tools and other agents (follows a script; give a profile of your own a model)",
  worker_target: WORKER_TARGET,
  tags: ["demo"],
  system_prompt: "You are a helpful agent of the demo project.",
  allowed_tools: ["echo", "word_count", "fork_join"],
  delegation_policy: { target_profiles: ["reader"] },
  llm_config: {
    provider: "script",
    script: {
      cases: [
        {
          match: ["team", "together"],
          steps: [
            {
              say: "Two readers will look at it.",
              call: {
                tool: "fork_join",
                arguments: { tasks: [task("{{instruction}}"), task("and once more: {{instruction}}")] },
              },
            },
            {
              when: { ok: "fork_join" },
              finish:
                "Two readers say: {{results.fork_join.results.0.summary}}, and {{results.fork_join.results.1.summary}}.",
            },
            { finish: "The readers could not finish." },
          ],
        },
        {
          steps: [
            {
              say: "Let me look at that.",
              call: [
                { tool: "word_count", arguments: { text: "{{instruction}}", top_k: 3 } },
                { tool: "echo", arguments: { heard: "{{instruction}}" } },
              ],
            },
            {
              when: { ok: "word_count" },
              finish:
                "You wrote {{results.word_count.total}} words, {{results.word_count.distinct}} of them different.",
            },
            { finish: "Counting the words failed." },
          ],
        },
      ],
    },
  },
};

/** Only what is missing is made; what people changed stays. */
const seedAgents = async ({ profiles, agents }: Engine): Promise<void> => {
  for (const upload of [READER, HELPER]) {
    if ((await profiles.getProfile(DEMO_PROJECT, String(upload.name))) === undefined)
      await profiles.upsertProfile(DEMO_PROJECT, upload);
  }
  if ((await agents.getAgent(DEMO_PROJECT, "helper")) === undefined)
    await agents.upsertAgent(DEMO_PROJECT, { agent_id: "helper", profile_name: "helper" });
};

export const seedDemo = async (engine: Engine, log: Log): Promise<void> => {
  const made = await ensureProject(engine.projects, DEMO_PROJECT, "Demo");
  await seedAgents(engine).catch((error: unknown) => {
    // Another process on the same database was faster, or a person archived the project: nothing to do here.
    if (!isToolplaneError(error) || error.code !== "conflict") throw error;
  });
  if (made === "created") log.info("the demo project was made", { project: DEMO_PROJECT, agent: "helper" });
};
